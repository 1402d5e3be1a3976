package model

import (
	"bytes"
	"fmt"
	"io"

	"metriclab/pkg/kernels"
	"metriclab/pkg/learners/iplr"
	"metriclab/pkg/learners/labels"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/learners/nearest"
	"metriclab/pkg/learners/pairs"
	"metriclab/pkg/learners/similarity"
	"metriclab/pkg/learners/triplets"
	"metriclab/pkg/metric"
	"metriclab/pkg/persist"
)

// loaders read the files of each kind of docs/format.md.
var loaders = map[string]func(io.Reader) (persist.Saver, error){
	Kind:                    loads(Load),
	VectorsKind:             loads(LoadVectors),
	ComparedKind:            loads(LoadTriplets),
	GramKind:                loads(LoadGram),
	metric.Kind:             loads(metric.Load),
	metric.LowRankKind:      loads(metric.LoadLowRank),
	kernels.MetricKind:      loads(kernels.LoadMetric),
	kernels.TransformedKind: loads(kernels.LoadTransformed),
	labels.PCAKind:          loads(labels.LoadPCA),
	labels.LSAKind:          loads(labels.LoadLSA),
	labels.FDAKind:          loads(labels.LoadFDA),
	pairs.POLAKind:          loads(pairs.LoadPOLA),
	pairs.PAKind:            loads(pairs.LoadPA),
	pairs.LEGOKind:          loads(pairs.LoadLEGO),
	pairs.KernelPOLAKind:    loads(pairs.LoadKernelPOLA),
	triplets.ERKLEKind:      loads(triplets.LoadERKLE),
	similarity.OASISKind:    loads(similarity.LoadOASIS),
	mapping.RMPKind:         loads(mapping.LoadRMP),
	mapping.FTLKind:         loads(mapping.LoadFTL),
	iplr.KernelKind:         loads(iplr.LoadKernelMetric),
	nearest.OnlineNNKind:    loads(nearest.LoadOnlineNN),
	linear.PerceptronKind:   loads(linear.LoadPerceptron),
	linear.PAUMKind:         loads(linear.LoadPAUM),
	linear.RidgeKind:        loads(linear.LoadRidge),
	linear.SVMKind:          loads(linear.LoadSVM),
	linear.KernelSVMKind:    loads(linear.LoadKernelSVM),
}

func loads[T persist.Saver](load func(io.Reader) (T, error)) func(io.Reader) (persist.Saver, error) {
	return func(r io.Reader) (persist.Saver, error) {
		v, err := load(r)
		if err != nil {
			return nil, err // not a nil T in an interface
		}
		return v, nil
	}
}

// Open reads a file of any kind that Save of a type of this module wrote, and returns a value of that type: a *Model, a *metric.Mahalanobis, a
// *linear.SVM, and so on. The envelope says what kind it is. Its errors wrap those of package persist, ErrKind among them for a kind that none of these types has.
func Open(r io.Reader) (persist.Envelope, persist.Saver, error) {
	raw, err := persist.ReadAll(r)
	if err != nil {
		return persist.Envelope{}, nil, fmt.Errorf("persist: %w", err)
	}
	env, err := persist.Read(bytes.NewReader(raw))
	if err != nil {
		return persist.Envelope{}, nil, err
	}
	load := loaders[env.Kind]
	if load == nil {
		return env, nil, fmt.Errorf("file is %w: it holds %q, which no type of metriclab saves", persist.ErrKind, env.Kind)
	}
	v, err := load(bytes.NewReader(raw))
	return env, v, err
}
