package clusters

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/learners/cluster"
	"metriclab/pkg/learners/mapping"
	"metriclab/pkg/metric"
	"metriclab/pkg/papers/rmp2007/protocol"
)

// Rivals of Fig. 1, beside those of rmp2007.go.
const (
	rmpShort    = "RMP printed; short walk"
	rmpHeatBath = "RMP printed; heat-bath walk"
	emSpherical = "EM spherical"
	emDiagonal  = "EM diagonal"
	emFull      = "EM full"
	emSphereRow = "EM spherical; rows"
	emDiagRow   = "EM diagonal; rows"
	emFullRow   = "EM full; rows"
	kMeansName  = "k-means"
	bestMap     = "best map"
	groupsKnown = "groups known"
)

var (
	fig1RMP = []string{protocol.RMPPrinted, protocol.RMPCorrected, protocol.RMPAnytime, protocol.RMPTen, protocol.RMPHundred, rmpShort, rmpHeatBath}
	fig1EM  = []string{emSpherical, emDiagonal, emFull}
	// sparseEM leaves out full covariance matrices, for which components of about 100 points in 100
	// coordinates, most of them 0, are too few.
	sparseEM = []string{emSpherical, emDiagonal}
	// EM from k-means++ has the name of the form alone; EM from rows starts at random points.
	fig1EMRows   = []string{emSphereRow, emDiagRow, emFullRow}
	sparseEMRows = []string{emSphereRow, emDiagRow}
	emForms      = map[string]cluster.Covariance{
		emSpherical: cluster.CovarianceSpherical, emDiagonal: cluster.CovarianceDiagonal, emFull: cluster.CovarianceFull,
		emSphereRow: cluster.CovarianceSpherical, emDiagRow: cluster.CovarianceDiagonal, emFullRow: cluster.CovarianceFull,
	}
	emStarts = map[string]cluster.MixtureStart{emSphereRow: cluster.StartFromRows, emDiagRow: cluster.StartFromRows, emFullRow: cluster.StartFromRows}
)

// emFloor is the least variance of a component of EM, relative to the mean variance of the coordinates. With
// as many coordinates as points in a component, full covariance matrices need one.
const emFloor = 1e-3

// fig1Settings are the settings of a game of online clustering on a set of points.
type fig1Settings struct {
	Distortion protocol.Distortion `key:"distortion"`
	Rounds     int                 `key:"rounds"` // T, the number of coordinates
	RMP        []string            `key:"RMP,list"`
	EM         []string            `key:"EM,list"`
	Width      float64             `key:"width,omitzero"` // standard deviation of the Gaussians; 0 is that of the set
	Points     int                 `key:"points"`
	Steps      int                 `key:"chain steps"` // R of the walk of a round
	M          int                 `key:"m"`
	Starts     int                 `key:"starts"`
	Floor      float64             `key:"EM floor"`
	// KMeansStarts are those of k-means in a round; 0 is no such player.
	KMeansStarts int `key:"k-means starts,omitzero"`
	// Restarts is how often RMP and EM play on the same points; 0 is once.
	Restarts int `key:"restarts,omitzero"`
}

// fig1Cell returns a cell at a scale, of which the settings lack what is the same in all cells.
func fig1Cell(scale experiment.Scale, name, set string, s fig1Settings) experiment.Cell {
	s.Points, s.Steps, s.M, s.Starts, s.Floor = fig1Points, 5000, fig1Groups, searchStarts, emFloor
	if scale == experiment.Smoke {
		s.Points, s.Rounds, s.Steps = 60, 20, 200
	}
	return experiment.Cell{
		Name: name, Dataset: set, Settings: s,
		Methods: map[string]int{"RMP": mapping.RMPVersion, "FTL": mapping.FTLVersion, "EM": cluster.MixtureVersion, "k-medoids": cluster.KMedoidsVersion, "k-means": cluster.KMeansVersion},
	}
}

// mapPlayer has a map for each round.
func mapPlayer(method string, pi func(t int, f metric.CostRound) ([]int, error)) protocol.Player {
	return protocol.Player{Method: method, Pay: func(t int, f metric.CostRound) (float64, float64, error) {
		pi, err := pi(t, f)
		return protocol.LossOf(pi, f), math.NaN(), err
	}}
}

// batchPlayer has a random map in the first round, and then that of a clustering of the coordinates of x revealed so far;
// where that is nil it keeps the one it has.
func (s fig1Settings) batchPlayer(method string, x *mat.Dense, rng *rand.Rand, fit func(revealed *mat.Dense) (clustering, error)) protocol.Player {
	pi := randomMap(rng, s.Points, s.M)
	return mapPlayer(method, func(t int, _ metric.CostRound) ([]int, error) {
		if t == 0 {
			return pi, nil
		}
		next, err := clusterMap(x.Slice(0, s.Points, 0, t), fit)
		if next != nil {
			pi = next
		}
		return pi, err
	})
}

// randomMap is what RMP predicts before it has seen anything: a uniform map to a uniform set of
// prototypes.
func randomMap(rng *rand.Rand, n, m int) []int {
	set := rng.Perm(n)[:m]
	pi := make([]int, n)
	for i := range pi {
		pi[i] = set[rng.IntN(m)]
	}
	return pi
}

// A clustering of rows, with a row for each cluster that is nearest to its mean.
type clustering interface {
	Assign(x mat.Matrix) []int
	Prototypes(x mat.Matrix) []int
}

// clusterMap sends every point to the point nearest to the mean of its cluster, by a clustering of the coordinates revealed
// so far. It is nil if all points coincide.
func clusterMap(revealed mat.Matrix, fit func(revealed *mat.Dense) (clustering, error)) ([]int, error) {
	x := mat.DenseCopyOf(revealed)
	if coincide(x) {
		return nil, nil
	}
	c, err := fit(x)
	if err != nil {
		return nil, err
	}
	return through(c.Assign(x), c.Prototypes(x)), nil
}

// through sends each point to the prototype of its cluster.
func through(group, prototypes []int) []int {
	pi := make([]int, len(group))
	for i, k := range group {
		pi[i] = prototypes[k]
	}
	return pi
}

// coincide reports whether all rows are equal.
func coincide(x *mat.Dense) bool {
	n, _ := x.Dims()
	for i := 1; i < n; i++ {
		if !slices.Equal(x.RawRowView(i), x.RawRowView(0)) {
			return false
		}
	}
	return true
}

// widthNames are the cells.
var widthNames = []string{"width 0.5", "width 1", "width 1.5", "width 2.5"}

// fig1Points is K of the full scale.
const fig1Points = 400
