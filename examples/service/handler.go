package main

import (
	"encoding/json"
	"net/http"
	"sync"

	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/metric"
)

// service shares one learner. Its Step must be alone; everything else that a learner
// does may run side by side.
type service struct {
	mu      sync.RWMutex
	learner *pairs.POLA
}

// request is a pair as JSON; similar is of no account for /predict.
type request struct {
	X       []float64 `json:"x"`
	Y       []float64 `json:"y"`
	Similar *bool     `json:"similar"`
}

// reply is what the learner holds of a pair, before it learns from it.
type reply struct {
	SqDist  float64 `json:"sqdist"`
	Similar bool    `json:"similar"`
}

func (s *service) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /predict", answer(s.predict))
	mux.HandleFunc("POST /learn", answer(s.learn))
	return mux
}

func (s *service) predict(q request) (reply, error) {
	p := metric.Pair{X: q.X, Y: q.Y}
	if err := p.CheckVectors(s.learner.Dim()); err != nil { // Predict would panic
		return reply{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	held := s.learner.Predict(p)
	return reply{held.SqDist, held.Similar}, held.Check()
}

func (s *service) learn(q request) (reply, error) {
	p := metric.Pair{X: q.X, Y: q.Y} // Step refuses it without a label
	if q.Similar != nil {
		p.Label = metric.SameClass(*q.Similar)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out, err := s.learner.Step(p)
	return reply{out.Prediction.SqDist, out.Prediction.Similar}, err
}

// answer turns what f says of a request into a reply; an error is about the request.
func answer(f func(request) (reply, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q request
		held, err := reply{}, json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q)
		if err == nil {
			held, err = f(q)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(held)
	}
}
