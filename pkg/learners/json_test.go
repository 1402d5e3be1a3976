package learners

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

// jsonCase writes and reads an outcome of any kind.
func jsonCase[P any](t *testing.T, o Outcome[P], want string) {
	t.Helper()
	raw, err := json.Marshal(o)
	if err != nil || string(raw) != want {
		t.Errorf("%+v is written as %s (%v), want %s", o, raw, err, want)
		return
	}
	var got Outcome[P]
	if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got, o) {
		t.Errorf("%s is read as %+v (%v), want %+v", raw, got, err, o)
	}
	got = o
	if err := json.Unmarshal([]byte(`{"loss":"much","map":[9],"prediction":9}`), &got); err == nil || !reflect.DeepEqual(got, o) {
		t.Errorf("a loss that is a text gives %+v and error %v, want an error and %+v", got, err, o)
	}
}

func TestOutcomeJSON(t *testing.T) {
	jsonCase(t, PairOutcome{Prediction: PairPrediction{4, true}, Loss: 0.5, StepSize: -0.2, Mistake: true}, `{"sqdist":4,"similar":true,"loss":0.5,"mistake":true,"step":-0.2}`)
	jsonCase(t, TripletOutcome{Prediction: TripletPrediction{1, 4}}, `{"sqnear":1,"sqfar":4,"loss":0,"mistake":false,"step":0}`)
	jsonCase(t, MapOutcome{Prediction: []int{0, 1}, Loss: 0.2}, `{"map":[0,1],"loss":0.2}`)
	jsonCase(t, Outcome[int]{Prediction: 3, Loss: 1}, `{"prediction":3,"loss":1,"mistake":false,"step":0}`)
	jsonCase(t, Outcome[struct{}]{Loss: 1}, `{"loss":1,"mistake":false,"step":0}`)
	for _, o := range []any{
		PairOutcome{Loss: math.NaN()},
		PairOutcome{Prediction: PairPrediction{SqDist: math.Inf(1)}},
		MapOutcome{Loss: math.Inf(1)},
	} {
		if raw, err := json.Marshal(o); err == nil {
			t.Errorf("%+v is written as %s, want an error", o, raw)
		}
	}
	got := PairOutcome{Updated: true, Projections: 2}
	if err := json.Unmarshal([]byte(`{"round":7,"sqdist":4,"similar":true}`), &got); err != nil || got != (PairOutcome{Prediction: PairPrediction{4, true}, Updated: true, Projections: 2}) {
		t.Errorf("a line that only predicts is read as %+v (%v)", got, err)
	}
	if err := json.Unmarshal([]byte(`{"sqdist":"far","loss":3}`), &got); err == nil || got.Loss != 0 {
		t.Errorf("a distance that is a text: error %v, loss %v, want an error and 0", err, got.Loss)
	}
}
