package model_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"metriclab/internal/heappeak"
	"metriclab/pkg/model"
)

// Parameters of a learner, by its name or an alias, count in the comparison as they do in evaluate, and in its journal.
func TestCompareParams(t *testing.T) {
	d := blobs(6, 36, 3, 3)
	names := []string{"pca", "logdet"}
	p := quick
	p.Params = map[string]map[string]string{"pca": {"dim": "1"}, "logdet": {"gamma": "0.5"}}
	var kept []byte
	p.Record = func(r model.Trial) error {
		kept = append(kept, model.NewJournal(d, model.Recipe{}, p).Line(r)...)
		return nil
	}
	c, err := model.Compare(context.Background(), model.ByClasses(d), model.Recipe{}, names, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c.Ranked {
		params := p.Params[map[string]string{"pca": "pca", "itml": "logdet"}[e.Recipe.Learner]]
		one, err := model.Evaluate(context.Background(), d, model.Recipe{Learner: e.Recipe.Learner, Params: params}, p.Plan)
		if err != nil {
			t.Fatal(err)
		}
		for s, got := range e.Score.Errors {
			if got != one.Learner.Errors[s] {
				t.Errorf("%s %v: split %d: %v, evaluate says %v", e.Recipe.Learner, e.Recipe.Params, s, got, one.Learner.Errors[s])
			}
		}
	}
	j := model.NewJournal(d, model.Recipe{}, p)
	whole := string(j.Head()) + string(kept)
	if trials, _, _, err := readJournal(j, whole); err != nil || len(trials) == 0 {
		t.Errorf("%d trials, error %v", len(trials), err)
	}
	byName := p
	byName.Params = map[string]map[string]string{"pca": {"dim": "1"}, "itml": {"gamma": "0.5"}}
	if _, _, _, err := readJournal(model.NewJournal(d, model.Recipe{}, byName), whole); err != nil {
		t.Errorf("an alias is another learner: %v", err)
	}
	for _, params := range []map[string]map[string]string{nil, {"pca": {"dim": "2"}, "itml": {"gamma": "0.5"}}} {
		other := p
		other.Params = params
		if _, _, _, err := readJournal(model.NewJournal(d, model.Recipe{}, other), whole); err == nil || !strings.Contains(err.Error(), "with parameters map[") {
			t.Errorf("%v: error %v", params, err)
		}
	}
	for want, params := range map[string]map[string]map[string]string{
		"none of the learners that are compared": {"fda": {"ridge": "1"}},
		"unknown learner":                        {"nothing": {"k": "1"}},
		"learner itml is given twice":            {"itml": {"gamma": "1"}, "logdet": {"gamma": "2"}},
		"dims":                                   {"pca": {"dims": "1"}},
	} {
		other := quick
		other.Params = params
		if _, err := model.Compare(context.Background(), model.ByClasses(d), model.Recipe{}, names, other); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", params, err, want)
		}
	}
}

// The peak of a learner that holds a matrix of rows × rows is more than that of one that holds features × features, and at least the matrix.
func TestComparePeak(t *testing.T) {
	const n = 500
	d := blobs(6, n, 3, 3)
	p := model.Comparing{Plan: model.Plan{Ks: []int{1}, Folds: 2, Repeats: 1}, Heap: heappeak.Bytes}
	var trials []model.Trial
	p.Record = func(r model.Trial) error { trials = append(trials, r); return nil }
	c, err := model.Compare(context.Background(), model.ByClasses(d), model.Recipe{}, []string{"euclidean", "kernel-pca"}, p)
	if err != nil {
		t.Fatal(err)
	}
	peaks := map[string]int64{}
	for _, e := range c.Ranked {
		peaks[e.Recipe.Learner] = e.Peak
	}
	// The Gram matrix of half of the rows, which a fit holds while it goes on.
	if least := int64(8 * n / 2 * n / 2); peaks["kernel-pca"] < least || peaks["kernel-pca"] < peaks["euclidean"] || peaks["euclidean"] <= 0 {
		t.Errorf("%v, want at least %d of kernel-pca", peaks, least)
	}
	again, _ := runComparison(t, d, []string{"euclidean", "kernel-pca"}, model.Comparing{Plan: p.Plan, Done: trials})
	for _, e := range again.Ranked {
		if e.Peak != peaks[e.Recipe.Learner] {
			t.Errorf("%s: %d from trials that were done, want %d", e.Recipe.Learner, e.Peak, peaks[e.Recipe.Learner])
		}
	}
}

// Progress begins with none of the splits, and Inside tells of the fits of these.
func TestCompareInside(t *testing.T) {
	d := blobs(6, 36, 3, 3)
	p := quick
	var mu sync.Mutex
	begun, inside := 0, map[int]bool{}
	p.Progress = func(done, _ int) {
		mu.Lock()
		defer mu.Unlock()
		if done == 0 {
			begun++
		}
	}
	p.Inside = func(split, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		inside[split] = true
		if begun == 0 || done < 1 || total < done {
			t.Errorf("split %d: %d of %d, after %d stages", split, done, total, begun)
		}
	}
	c, _ := runComparison(t, d, []string{"euclidean", "mcml"}, p)
	p.Progress, p.Inside = nil, nil
	silent, _ := runComparison(t, d, []string{"euclidean", "mcml"}, p)
	if splits := c.Plan.Folds * c.Plan.Repeats; begun != 3 || len(inside) != splits {
		t.Errorf("%d stages, and tells of %d splits of %d", begun, len(inside), splits)
	}
	if fmt.Sprint(c.Ranked) != fmt.Sprint(silent.Ranked) {
		t.Error("whoever is told gets another result")
	}
}
