// Service learns a metric from labelled pairs, POST /learn {"x":[1,0],"y":[0,0],"label":-1}, and measures others, POST
// /predict. Ctrl-C ends it: only then it saves its learner, with which the next start goes on, so that each has a file.
// Pages of other sites are refused, and so are fields that no pair has.
//
//	go run ./examples/service
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
	"metriclab/pkg/samesite"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "the `address` to listen on; port 0 is a free one")
	state := flag.String("state", "out/service.json", "the `file` that keeps the learner")
	flag.Parse()
	learner, err := persist.ReadFile(*state, pairs.LoadPOLA) // what an earlier run saved
	if errors.Is(err, os.ErrNotExist) {
		learner, err = pairs.NewPOLA(2, pairs.POLAParams{})
	}
	check(err)
	var mu sync.RWMutex // Step must be alone; all else that a learner does may run side by side
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", answer(mu.RLocker(), func(p metric.Pair) (any, error) {
		if err := p.CheckVectors(learner.Dim()); err != nil { // Predict would panic
			return nil, err
		}
		held := learner.Predict(p)
		return held, held.Check()
	}))
	mux.HandleFunc("POST /learn", answer(&mu, func(p metric.Pair) (any, error) { return learner.Step(p) }))
	listener, err := net.Listen("tcp", *addr)
	check(err)
	host, _, _ := net.SplitHostPort(*addr)
	fmt.Printf("listening on http://%v\n", listener.Addr())
	server := http.Server{Handler: samesite.Only(mux, host), ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() { log.Print(server.Serve(listener)) }()
	<-ctx.Done() // then Shutdown lets requests under way end
	check(errors.Join(server.Shutdown(context.Background()), persist.WriteFile(*state, learner)))
}

// answer answers a pair with what f says of it under the lock; an error is about the request.
func answer(lock sync.Locker, f func(metric.Pair) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		p, held := metric.Pair{}, any(nil)
		err := json.UnmarshalRead(http.MaxBytesReader(w, r.Body, 1<<20), &p, json.RejectUnknownMembers(true))
		if err == nil {
			lock.Lock()
			held, err = f(p)
			lock.Unlock()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		json.MarshalWrite(w, held)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
