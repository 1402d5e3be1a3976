package logdet2012

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/experiment"
	"metriclab/pkg/kernels/sets"
	"metriclab/pkg/learners/itml"
	"metriclab/pkg/learners/linear"
	"metriclab/pkg/localfeatures"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Fig3 is the recognition of objects in images: nearest neighbours under image kernels, as they are and learned, against the number of
// training images per class.
//
// Caltech-101 may not be passed on. A user who supplies its kernel matrices gets the paper's protocol on them. Without them there
// is a stand-in, digits as sets of edge points, whose claims are untestable.
var Fig3 = experiment.Spec{
	ID:      paperKey + "/fig3",
	Title:   "Image kernels: recognition rate of nearest neighbours against the number of training images per class",
	Source:  "Section 6.3, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		if scale == experiment.Smoke {
			return []experiment.Cell{{Name: madeUpDigits, Dataset: madeUpDigits, Methods: imageVersions, Settings: digitSettings(scale)}}
		}
		return []experiment.Cell{
			{Name: digitsStandIn, Dataset: "mnist", Methods: imageVersions, Settings: digitSettings(scale)},
			{Name: caltechGrams, Dataset: "caltech-101-grams", Methods: gramVersions, Settings: gramSettings(), Supplied: true},
			{Name: caltechPhotos, Dataset: "caltech-101", Methods: imageVersions, Settings: photoSettings(), Supplied: true},
		}
	},
	Trials:  experiment.Trials(10),
	Kinds:   fig3Kinds,
	Columns: fig3Columns,
	Trial:   fig3Trial,
	Views:   fig3Views,
	Claims:  fig3Claims,
	Choices: fig3Choices,
	Cost:    52 * time.Second,
}

// What the images are of. The names are those of cells.
const (
	digitsStandIn = "digits"
	caltechGrams  = "Caltech-101"
	caltechPhotos = "Caltech-101, our features"
)

// madeUpDigits are the images of smoke scale, of Fig. 2(c, d) too.
const madeUpDigits = "made-up digits"

// The base kernels of the figure.
const (
	kernelPMK  = "PMK"
	kernelCORR = "CORR"
	kernelSUM  = "SUM"
)

var imageKernels = []string{kernelPMK, kernelCORR, kernelSUM}

// What is done with a kernel; the name of a method is that and the kernel, as in the figure's legend: LogDet+PMK.
const (
	learnedNN = "LogDet"
	plainNN   = "NN"
	// rawNN, ours, has the similarities as they are, without clipping.
	rawNN    = "NN, not clipped"
	plainSVM = "SVM" // one machine per class
)

var imageRules = []string{learnedNN, plainNN, rawNN, plainSVM}

func imageMethod(rule, kernel string) string { return rule + "+" + kernel }

var (
	gramVersions  = map[string]int{"KernelLogDet": itml.KernelVersion, "SVM": linear.SVMVersion, "KernelSVM": linear.KernelSVMVersion}
	imageVersions = map[string]int{
		"KernelLogDet": itml.KernelVersion, "SVM": linear.SVMVersion, "KernelSVM": linear.KernelSVMVersion,
		"pyramid": sets.PyramidVersion, "best match": sets.BestMatchVersion, "local features": localfeatures.Version,
	}
)

// imageSettings are what the paper fixes or leaves open.
type imageSettings struct {
	// Data is what the images are of.
	Data string `key:"data"`
	// Train are the numbers T of training images per class, ascending. All others of a class test.
	Train []int `key:"training images per class"`
	// PerClass is the number of images that a trial draws of a class, at most; 0 is all.
	PerClass int `key:"images per class,omitzero"`
	// Links is the number of similar and of dissimilar pairs per class.
	Links int `key:"links"`
	// Gammas is the grid of γ, Cs that of the SVM's C.
	Gammas []float64 `key:"gammas"`
	Cs     []float64 `key:"cs"`
	// Final caps a fit to the training images, Choice one of the inner cross-validation: projections of LogDet, passes of the SVM.
	Final  budget `key:"final"`
	Choice budget `key:"choice"`
	// Local are the features and kernels of images, where these are not supplied.
	Local localSettings `key:"local,omitzero"`
}

// localSettings describe an image and compare sets of its features. Positions are in units of the longer side. None was tuned.
type localSettings struct {
	// Side is the longer side in pixels to which photographs are reduced; 0 leaves images as they are.
	Side int
	// Points is the largest number of edge points.
	Points int
	// Grid is the side of the finest bins of positions, Turn that of a component of the gradient's direction, both of PMK.
	Grid, Turn float64
	// Cell is the side of the finest bins of the spatial pyramid, Words the number of its words: sectors of directions.
	Cell  float64
	Words int
	// Lambda is the weight of squared distances between positions beside those between descriptors, in CORR.
	Lambda float64
}

var mainLocal = localSettings{Points: 40, Grid: 1. / 16, Turn: 0.25, Cell: 0.25, Words: 8, Lambda: 4}

func gramSettings() imageSettings {
	return imageSettings{
		Data: caltechGrams, Train: []int{5, 10, 15, 20, 25, 30}, Links: 100,
		Gammas: mainSettings.Gammas, Cs: []float64{0.1, 1, 10, 100},
		Final: budget{100_000, 1_000}, Choice: budget{20_000, 200}, // a cycle over the 20,200 pairs of 101 classes
	}
}

func photoSettings() imageSettings {
	s := gramSettings()
	s.Data, s.PerClass, s.Local = caltechPhotos, 50, mainLocal
	s.Local.Side, s.Local.Points = 128, 100
	return s
}

func digitSettings(scale experiment.Scale) imageSettings {
	s := gramSettings()
	s.Data, s.PerClass, s.Local = digitsStandIn, 60, mainLocal
	s.Choice.Projections = mainSettings.Choice.Projections
	if scale == experiment.Smoke {
		s.Data = madeUpDigits
		s.Train, s.PerClass, s.Links = []int{4, 6}, 8, 10
		s.Gammas, s.Cs = []float64{0.1, 10}, []float64{1, 10}
		s.Final, s.Choice = budget{1_000, 200}, budget{400, 100}
		s.Local.Points = 15
	}
	return s
}

// perImageMethod are the kinds of rows that are of one method.
var perImageMethod = append([]string{"missed"}, perMethod...)

var (
	fig3Kinds = append([]experiment.Kind{
		{Name: "size", Meaning: "a size of the data, of a training set, of its pairs or of the protocol"},
		{Name: "clipped", Meaning: "eigenvalues of a kernel on the training images that are negative"},
		{Name: "negative", Meaning: "what the negative eigenvalues add to the sum of magnitudes"},
		{Name: "missed", Meaning: "shares of the test images of a class that are classified wrongly, summed over classes"},
		{Name: "wrong", Meaning: "test images classified wrongly"},
		{Name: "inner", Meaning: "training images classified wrongly in the inner cross-validation, per candidate"},
	}, fitKinds...)
	fig3Columns = experiment.Columns{
		experiment.Text("data", "what the images are of"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the figure's legend; of clipped and negative the kernel").In(append([]string{"clipped", "negative"}, perImageMethod...)...),
		experiment.Text("train", "number of training images per class").In(append([]string{"clipped", "negative"}, perImageMethod...)...),
		experiment.Text("at", "size: which one; inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training images").
			In("size", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; negative: a share; otherwise how many images, eigenvalues, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: the size itself; clipped: training images; negative: 1; missed: classes; wrong and inner: images judged; chosen: candidates; stopped and failed: fits made"),
	}
)

// The sizes that only images have.
const (
	featuresPerImage = "features per image"
	testImages       = "test images, most"
)

func fig3Trial(ctx context.Context, run *experiment.Run) error {
	s := run.Cell.Settings.(imageSettings)
	end := run.Lap("images")
	data, err := loadImages(ctx, run.Env, run.Cell.Dataset, s, run.Seed)
	end()
	if err != nil {
		return err
	}
	t := &imageTrial{settings: s, env: run.Env, rows: run.Rows}
	if err := t.sizes(data); err != nil {
		return err
	}
	for _, kernel := range imageKernels {
		end := run.Lap("kernel " + kernel)
		raw, err := data.similarities(ctx, kernel)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", kernel, err)
		}
		for _, per := range s.Train {
			if err := t.run(ctx, data, raw, kernel, per, run.Seed); err != nil {
				return fmt.Errorf("%s, %d training images per class: %w", kernel, per, err)
			}
		}
	}
	return nil
}

// imageTrial is a trial that fills its table.
type imageTrial struct {
	settings imageSettings
	env      *experiment.Env
	rows     *table.Table
}

// add adds a row; 0 training images are none.
func (t *imageTrial) add(kind, method string, per int, at string, value, of float64) {
	train := ""
	if per > 0 {
		train = strconv.Itoa(per)
	}
	t.rows.Add(table.Key{"data": t.settings.Data, "kind": kind, "method": method, "train": train, "at": at}, table.Values{"value": value, "of": of})
}

func (t *imageTrial) sizes(d *imageData) error {
	s := t.settings
	least := len(d.order[0])
	most := 0
	for _, of := range d.order {
		least, most = min(least, len(of)), most+len(of)-s.Train[0]
	}
	if last := s.Train[len(s.Train)-1]; least <= last {
		return fmt.Errorf("logdet2012: a class has %d images, want more than the %d that train", least, last)
	}
	for _, c := range []struct {
		what  string
		value float64
	}{
		{objects, float64(len(d.y))}, {classes, float64(len(d.order))}, {pairsPerClass, float64(s.Links)}, {featuresPerImage, d.features}, {testImages, float64(most)},
		{projectionCap(choiceFits), float64(s.Choice.Projections)}, {iterationCap(choiceFits), float64(s.Choice.Iterations)},
		{projectionCap(finalFits), float64(s.Final.Projections)}, {iterationCap(finalFits), float64(s.Final.Iterations)},
	} {
		t.add("size", "", 0, c.what, c.value, c.value)
	}
	return nil
}

// run judges all rules with one kernel and number of training images per class. Of the test images nothing enters choices and fits.
func (t *imageTrial) run(ctx context.Context, d *imageData, raw mat.Matrix, kernel string, per int, seed random.Seed) error {
	end := t.env.Lap("clip")
	name := fmt.Sprintf("%d per class", per)
	train, test := d.parted(per)
	outer, err := newImageSession(ctx, raw, d.y, train, test, t.settings, seed, name)
	if err != nil {
		return err
	}
	inner, err := outer.inner(ctx, raw, d.y, t.settings, seed, name)
	if err != nil {
		return err
	}
	end()
	t.add("clipped", kernel, per, "", float64(outer.clipped.Removed()), float64(len(train)))
	t.add("negative", kernel, per, "", outer.clipped.Share(), 1)
	for _, m := range imageMethodsOf(t.settings) {
		end := t.env.Lap(m.rule)
		err := t.judge(ctx, m, outer, inner, imageMethod(m.rule, kernel), per)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", m.rule, err)
		}
	}
	return nil
}

// judge chooses, learns, and adds the rows of a method.
func (t *imageTrial) judge(ctx context.Context, m imageRule, outer *imageSession, inner []*imageSession, name string, per int) error {
	var tasks []task
	for _, s := range inner {
		tasks = append(tasks, task{len(s.testY), func(i int) (int, bool, error) {
			predicted, stopped, err := m.fit(ctx, s, m.candidates[i], t.settings.Choice)
			if err != nil {
				return 0, stopped, err
			}
			wrong, _ := s.missed(predicted)
			return wrong, stopped, nil
		}})
	}
	var predicted []int
	addRows, err := decide(ctx, m.candidates, tasks, func(i int) (stopped bool, err error) {
		predicted, stopped, err = m.fit(ctx, outer, m.candidates[i], t.settings.Final)
		return stopped, err
	})
	if err != nil {
		return err
	}
	wrong, missed := outer.missed(predicted)
	t.add("missed", name, per, "", missed, float64(outer.classes))
	addRows(wrong, len(outer.testY), func(kind, at string, value, of int) {
		t.add(kind, name, per, at, float64(value), float64(of))
	})
	return nil
}
