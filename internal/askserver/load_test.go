package askserver

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"metriclab/pkg/ask"
)

// BenchmarkCrowd lets 200 people answer 50 questions a second about 500 pictures, in one process with the server, while questions are chosen
// and reports are made. Its metrics are the times from an answer to its acknowledgement with the next question. A run of
// -benchtime 3000x takes a minute.
func BenchmarkCrowd(b *testing.B) {
	for _, choose := range []ask.Choice{ask.ChoiceRandom, ask.ChoiceCKL, ask.ChoiceERKLE, ask.ChoiceCKLGain, ask.ChoiceERKLEGain} {
		b.Run("choose="+choose.String(), func(b *testing.B) {
			const people, perSecond, items = 200, 50, 500
			session, err := ask.New(rand.NewPCG(1, 2), items, ask.Params{Choose: choose, Random: .2, Repeat: .05})
			if err != nil {
				b.Fatal(err)
			}
			s := serve(b, pictures(b, items), Config{Session: session})
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			go s.work(ctx)
			crowd := make([]*client, people)
			open := make([]asked, people)
			for i := range crowd {
				crowd[i] = s.client()
				crowd[i].join(b, fmt.Sprint("person ", i))
				open[i] = crowd[i].question(b)
			}
			var mu sync.Mutex
			var took []time.Duration
			var wg sync.WaitGroup
			tick := time.NewTicker(time.Second / perSecond)
			defer tick.Stop()
			b.ResetTimer()
			for i := range b.N {
				<-tick.C
				wg.Go(func() {
					p := i % people
					begin := time.Now()
					status, body := crowd[p].do(b, "POST", "/answer", said(open[p].ID, 1+rand.IntN(2)))
					d := time.Since(begin)
					if err := json.Unmarshal([]byte(body), &open[p]); status != 200 || err != nil {
						b.Errorf("%d %s", status, body)
					}
					mu.Lock()
					took = append(took, d)
					mu.Unlock()
				})
			}
			wg.Wait()
			slices.Sort(took)
			ms := func(share float64) float64 {
				return float64(took[min(len(took)-1, int(share*float64(len(took))))].Microseconds()) / 1000
			}
			b.ReportMetric(ms(.5), "p50-ms")
			b.ReportMetric(ms(.99), "p99-ms")
			b.ReportMetric(ms(1), "max-ms")
			chosen := 0
			for _, a := range s.Session.Answers() {
				if a.Why == ask.ReasonChosen {
					chosen++
				}
			}
			b.ReportMetric(100*float64(chosen)/float64(s.Session.Count()), "%chosen")
			if got := s.written(b); got != b.N {
				b.Errorf("%d answers are written, want %d", got, b.N)
			}
		})
	}
}
