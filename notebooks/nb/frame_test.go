package nb

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"metriclab/pkg/table"
)

func example() *table.Table {
	t := table.New([]string{"method", "trial"}, []string{"error"})
	t.Add(table.Key{"method": "POLA", "trial": "007"}, table.Values{"error": 0.25})
	t.Add(table.Key{"method": "RCA", "trial": "1"}, table.Values{"error": math.NaN()})
	t.Add(table.Key{"method": "FDA", "trial": "2"}, table.Values{"error": 0.1234567})
	return t
}

func TestFrame(t *testing.T) {
	df := Frame(example())
	if df.Err != nil || df.Nrow() != 3 || strings.Join(df.Names(), " ") != "method trial error" {
		t.Fatalf("frame %v", df)
	}
	if got := df.Col("trial").Elem(0).String(); got != "007" {
		t.Errorf("trial = %q, want 007 unchanged", got)
	}
	if !math.IsNaN(df.Col("error").Elem(1).Float()) {
		t.Error("NaN was not kept")
	}
}

func TestFrameMarkdown(t *testing.T) {
	got, err := frameMarkdown(Frame(example()).Arrange(dataframe.Sort("method")))
	if err != nil {
		t.Fatal(err)
	}
	want := `| method | trial |  error |
| ------ | ----: | -----: |
| FDA    |     2 | 0.1235 |
| POLA   |   007 |   0.25 |
| RCA    |     1 |        |
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	broken := errors.New("broken")
	if _, err := frameMarkdown(dataframe.DataFrame{Err: broken}); !errors.Is(err, broken) {
		t.Errorf("error %v, want the frame's", err)
	}
}
