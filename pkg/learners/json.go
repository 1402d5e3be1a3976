package learners

import (
	"encoding/json"
	"fmt"
)

// MarshalJSON writes the fields of `metriclab learn`: those of the prediction, then loss,
// mistake and step.
//
//	{"sqdist":4,"similar":false,"loss":4,"mistake":true,"step":0.2}
//	{"sqnear":1,"sqfar":4,"loss":0,"mistake":false,"step":0}
//	{"map":[0,1],"loss":0.2}
//
// A map has no mistake and no step. A prediction that is neither a map nor an object of
// JSON is the field "prediction". Updated and Projections are not written. NaN and
// infinity are errors.
func (o Outcome[P]) MarshalJSON() ([]byte, error) {
	if m, ok := any(o.Prediction).([]int); ok {
		return json.Marshal(mapFields{m, o.Loss})
	}
	prediction, err := json.Marshal(o.Prediction)
	if err != nil {
		return nil, err
	}
	if !isObject(prediction) {
		prediction = fmt.Appendf(nil, `{"prediction":%s}`, prediction)
	}
	round, err := json.Marshal(roundFields{o.Loss, o.Mistake, o.StepSize})
	if err != nil {
		return nil, err
	}
	if len(prediction) == len("{}") {
		return round, nil
	}
	prediction[len(prediction)-1] = ','
	return append(prediction, round[1:]...), nil
}

// UnmarshalJSON reads what MarshalJSON or `metriclab learn` wrote. What it does not find,
// Updated and Projections among it, stays as it is.
func (o *Outcome[P]) UnmarshalJSON(raw []byte) error {
	if m, ok := any(&o.Prediction).(*[]int); ok {
		fields := mapFields{*m, o.Loss}
		if err := json.Unmarshal(raw, &fields); err != nil {
			return err
		}
		*m, o.Loss = fields.Map, fields.Loss
		return nil
	}
	now := *o
	round := roundFields{o.Loss, o.Mistake, o.StepSize}
	if err := json.Unmarshal(raw, &round); err != nil {
		return err
	}
	var err error
	if zero, _ := json.Marshal(*new(P)); isObject(zero) {
		err = json.Unmarshal(raw, &now.Prediction)
	} else {
		err = json.Unmarshal(raw, &struct {
			Prediction *P `json:"prediction"`
		}{&now.Prediction})
	}
	if err != nil {
		return err
	}
	now.Loss, now.Mistake, now.StepSize = round.Loss, round.Mistake, round.StepSize
	*o = now
	return nil
}

// isObject reports whether raw, valid JSON without blanks, is an object.
func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

type roundFields struct {
	Loss     float64 `json:"loss"`
	Mistake  bool    `json:"mistake"`
	StepSize float64 `json:"step"`
}

type mapFields struct {
	Map  []int   `json:"map"`
	Loss float64 `json:"loss"`
}
