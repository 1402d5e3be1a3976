// Service learns a metric from labelled pairs over HTTP, and says which others are
// similar. Ctrl-C ends it: it saves its learner, with which the next start goes on.
//
//	go run ./examples/service
//	curl localhost:8080/learn -d '{"x":[1,0],"y":[0,0],"similar":false}'
//	curl localhost:8080/predict -d '{"x":[0,1],"y":[0,0]}'
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
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	addr := flag.String("addr", "localhost:8080", "the `address` to listen on; port 0 is a free one")
	state := flag.String("state", filepath.Join("out", "service.json"), "the `file` that keeps the learner")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *addr, *state); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx is done, then lets requests under way end, and saves.
func run(ctx context.Context, addr, state string) error {
	s, err := load(state)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("listening on http://%v\n", listener.Addr())
	server := &http.Server{Handler: s.handler(), ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = server.Shutdown(context.Background()) // not ctx, which is done; the timeouts end it
	}
	return errors.Join(err, s.save(state))
}
