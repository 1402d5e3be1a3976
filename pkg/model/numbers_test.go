package model_test

import (
	"context"
	"strings"
	"testing"

	"metriclab/pkg/model"
	"metriclab/pkg/persist/persisttest"
)

// No number of a file, that of its metric included, makes the loader or the model
// panic, or take more memory than its file warrants.
func TestNumbersOfFiles(t *testing.T) {
	d := blobs(4, 8, 2, 2)
	for _, learner := range []string{"pola", "kernel-pola", "kernel-itml"} {
		file := persisttest.Saved(fit(t, d, model.Recipe{Learner: learner, Pairs: 4}))
		persisttest.Numbers(t, file, model.Load, func(m *model.Model) {
			r, err := m.Read(strings.NewReader("f0,f1,class\n1,2,a\n2,1,b\n1,1,a\n3,1,b\n"), "x.csv")
			if err != nil {
				return
			}
			_, _ = m.Embed(r.X)
			if m.Recipe().Pairs <= 1000 {
				_, _ = model.Evaluate(context.Background(), r, m.Recipe(), model.Plan{Folds: 2, Repeats: 1, Ks: []int{1}})
			}
		})
	}
}
