package bags

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
	"metriclab/pkg/papers/logdet2012/protocol"
	"metriclab/pkg/papers/logdet2012/vectors"
	"metriclab/pkg/random"
	"metriclab/pkg/table"
)

// Fig3 is the recognition of objects in images: nearest neighbours under image kernels, as they are and learned, against the number of
// training images per class.
//
// Caltech-101 may not be passed on. A user who supplies its kernel matrices gets the paper's protocol on them. Without them there
// is a stand-in, digits as sets of edge points, whose claims are untestable.
var Fig3 = experiment.Spec{
	ID:      protocol.PaperKey + "/fig3",
	Title:   "Image kernels: recognition rate of nearest neighbours against the number of training images per class",
	Source:  "Section 6.3, Fig. 3",
	Version: 1,
	Cells: func(scale experiment.Scale) []experiment.Cell {
		if scale == experiment.Smoke {
			return []experiment.Cell{{Name: MadeUpDigits, Dataset: MadeUpDigits, Methods: imageVersions, Settings: digitSettings(scale)}}
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
	Choices: protocol.Fig3Choices,
	Cost:    52 * time.Second,
}

var imageRules = []string{learnedNN, plainNN, rawNN, plainSVM}

var (
	gramVersions  = map[string]int{"KernelLogDet": itml.KernelVersion, "SVM": linear.SVMVersion, "KernelSVM": linear.KernelSVMVersion}
	imageVersions = map[string]int{
		"KernelLogDet": itml.KernelVersion, "SVM": linear.SVMVersion, "KernelSVM": linear.KernelSVMVersion,
		"pyramid": sets.PyramidVersion, "best match": sets.BestMatchVersion, "local features": localfeatures.Version,
	}
)

var mainLocal = localSettings{Points: 40, Grid: 1. / 16, Turn: 0.25, Cell: 0.25, Words: 8, Lambda: 4}

func gramSettings() imageSettings {
	return imageSettings{
		Data: caltechGrams, Train: []int{5, 10, 15, 20, 25, 30}, Links: 100,
		Gammas: protocol.MainSettings.Gammas, Cs: []float64{0.1, 1, 10, 100},
		Final: protocol.Budget{Projections: 100_000, Iterations: 1_000}, Choice: protocol.Budget{Projections: 20_000, Iterations: 200}, // a cycle over the 20,200 pairs of 101 classes
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
	s.Choice.Projections = protocol.MainSettings.Choice.Projections
	if scale == experiment.Smoke {
		s.Data = MadeUpDigits
		s.Train, s.PerClass, s.Links = []int{4, 6}, 8, 10
		s.Gammas, s.Cs = []float64{0.1, 10}, []float64{1, 10}
		s.Final, s.Choice = protocol.Budget{Projections: 1_000, Iterations: 200}, protocol.Budget{Projections: 400, Iterations: 100}
		s.Local.Points = 15
	}
	return s
}

// perImageMethod are the kinds of rows that are of one method.
var perImageMethod = append([]string{"missed"}, vectors.PerMethod...)

var (
	fig3Kinds = append([]experiment.Kind{
		{Name: "size", Meaning: "a size of the data, of a training set, of its pairs or of the protocol"},
		{Name: "clipped", Meaning: "eigenvalues of a kernel on the training images that are negative"},
		{Name: "negative", Meaning: "what the negative eigenvalues add to the sum of magnitudes"},
		{Name: "missed", Meaning: "shares of the test images of a class that are classified wrongly, summed over classes"},
		{Name: "wrong", Meaning: "test images classified wrongly"},
		{Name: "inner", Meaning: "training images classified wrongly in the inner cross-validation, per candidate"},
	}, vectors.FitKinds...)
	fig3Columns = experiment.Columns{
		experiment.Text("data", "what the images are of"),
		experiment.Text("kind", "kind of the row"),
		experiment.Text("method", "method, by the name in the figure's legend; of clipped and negative the kernel").In(append([]string{"clipped", "negative"}, perImageMethod...)...),
		experiment.Text("train", "number of training images per class").In(append([]string{"clipped", "negative"}, perImageMethod...)...),
		experiment.Text("at", "size: which one; inner and chosen: the candidate; stopped and failed: choice for fits in choosing, final for those on the training images").
			In("size", "inner", "chosen", "stopped", "failed"),
		experiment.Number("value", "", "size: the size; negative: a share; otherwise how many images, eigenvalues, candidates or fits the kind counts"),
		experiment.Number("of", "", "size: the size itself; clipped: training images; negative: 1; missed: classes; wrong and inner: images tested; chosen: candidates; stopped and failed: fits made"),
	}
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
	if err := t.Sizes(data); err != nil {
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

// Add adds a row; 0 training images are none.
func (t *imageTrial) Add(kind, method string, per int, at string, value, of float64) {
	train := ""
	if per > 0 {
		train = strconv.Itoa(per)
	}
	t.rows.Add(table.Key{"data": t.settings.Data, "kind": kind, "method": method, "train": train, "at": at}, table.Values{"value": value, "of": of})
}

func (t *imageTrial) Sizes(d *imageData) error {
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
		{protocol.Objects, float64(len(d.y))}, {protocol.Classes, float64(len(d.order))}, {protocol.PairsPerClass, float64(s.Links)}, {featuresPerImage, d.features}, {testImages, float64(most)},
		{protocol.ProjectionCap(protocol.ChoiceFits), float64(s.Choice.Projections)}, {protocol.IterationCap(protocol.ChoiceFits), float64(s.Choice.Iterations)},
		{protocol.ProjectionCap(protocol.FinalFits), float64(s.Final.Projections)}, {protocol.IterationCap(protocol.FinalFits), float64(s.Final.Iterations)},
	} {
		t.Add("size", "", 0, c.what, c.value, c.value)
	}
	return nil
}

// run scores all rules with one kernel and number of training images per class. Of the test images nothing enters choices and fits.
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
	t.Add("clipped", kernel, per, "", float64(outer.clipped.Removed()), float64(len(train)))
	t.Add("negative", kernel, per, "", outer.clipped.Share(), 1)
	for _, m := range imageMethodsOf(t.settings) {
		end := t.env.Lap(m.rule)
		err := t.Score(ctx, m, outer, inner, imageMethod(m.rule, kernel), per)
		end()
		if err != nil {
			return fmt.Errorf("%s: %w", m.rule, err)
		}
	}
	return nil
}

// Score chooses, learns, and adds the rows of a method.
func (t *imageTrial) Score(ctx context.Context, m imageRule, outer *imageSession, inner []*imageSession, name string, per int) error {
	var tasks []protocol.Task
	for _, s := range inner {
		tasks = append(tasks, protocol.Task{Rows: len(s.testY), Score: func(i int) (int, bool, error) {
			predicted, stopped, err := m.fit(ctx, s, m.candidates[i], t.settings.Choice)
			if err != nil {
				return 0, stopped, err
			}
			wrong, _ := s.missed(predicted)
			return wrong, stopped, nil
		}})
	}
	var predicted []int
	addRows, err := protocol.Decide(ctx, m.candidates, tasks, func(i int) (stopped bool, err error) {
		predicted, stopped, err = m.fit(ctx, outer, m.candidates[i], t.settings.Final)
		return stopped, err
	})
	if err != nil {
		return err
	}
	wrong, missed := outer.missed(predicted)
	t.Add("missed", name, per, "", missed, float64(outer.classes))
	addRows(wrong, len(outer.testY), func(kind, at string, value, of int) {
		t.Add(kind, name, per, at, float64(value), float64(of))
	})
	return nil
}
