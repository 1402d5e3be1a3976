package datasets_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
	"metriclab/pkg/metric"
)

func realTriplets(t testing.TB, dataset, name string) *datasets.TripletSet {
	t.Helper()
	s, err := realdata.Store(t, dataset).Triplets(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealTriplets compares the sets with their documentation. What is cyclic was
// counted once more by another program.
func TestRealTriplets(t *testing.T) {
	for _, tc := range []struct {
		dataset, name string
		objects       int
		want          datasets.TripletReport
		first, last   metric.Triplet
	}{
		{"music", "music", 412, datasets.TripletReport{Read: 9107, Degenerate: 17,
			TripletCounts: datasets.TripletCounts{Triplets: 9090, Distinct: 9090, Occurring: 400, Cyclic: 1436, CyclicHead: 583}},
			metric.Triplet{A: 2, Near: 46, Far: 205}, metric.Triplet{A: 411, Near: 311, Far: 55}},
		{"material", "material", 100, datasets.TripletReport{Read: 22801, Ties: 1395,
			TripletCounts: datasets.TripletCounts{Triplets: 21406, Distinct: 21406, Occurring: 100, Cyclic: 8597, CyclicHead: 2644}},
			metric.Triplet{A: 84, Near: 7, Far: 81}, metric.Triplet{A: 74, Near: 87, Far: 63}},
		{"material", "material-test", 100, datasets.TripletReport{Read: 3000, Ties: 262,
			TripletCounts: datasets.TripletCounts{Triplets: 2738, Distinct: 2738, Occurring: 100}},
			metric.Triplet{A: 84, Near: 94, Far: 12}, metric.Triplet{A: 74, Near: 69, Far: 25}},
		{"zappos", "zappos", 85, datasets.TripletReport{Read: 283770,
			TripletCounts: datasets.TripletCounts{Triplets: 283770, Distinct: 283770, Occurring: 85, Cyclic: 283770, CyclicHead: 146421}},
			metric.Triplet{A: 28, Near: 62, Far: 7}, metric.Triplet{A: 70, Near: 59, Far: 48}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := realTriplets(t, tc.dataset, tc.name)
			if s.Name != tc.name || s.Objects != tc.objects || s.Report != tc.want {
				t.Errorf("%s: %d objects, %+v, want %d, %+v", s.Name, s.Objects, s.Report, tc.objects, tc.want)
			}
			if first, last := s.Triplets[0], s.Triplets[len(s.Triplets)-1]; first != tc.first || last != tc.last {
				t.Errorf("the first triplet is %v, the last %v, want %v, %v", first, last, tc.first, tc.last)
			}
		})
	}
}

// Some artists of the 412 do not occur: that is how the numbers are seen to count from 1.
func TestRealMusicArtists(t *testing.T) {
	s := realTriplets(t, "music", "music")
	occurs := make([]bool, s.Objects)
	for _, a := range s.Triplets {
		occurs[a.A], occurs[a.Near], occurs[a.Far] = true, true, true
	}
	var missing []int
	for i, ok := range occurs {
		if !ok {
			missing = append(missing, i+1)
		}
	}
	if want := []int{172, 196, 197, 205, 239, 256, 347, 349, 369, 380, 398, 403}; !slices.Equal(missing, want) {
		t.Errorf("artists %v do not occur, want %v", missing, want)
	}
}

func TestRealMaterialVotes(t *testing.T) {
	// Of 92892 and 11800 votes in all, without those of ties.
	for name, want := range map[string]int{"material": 88238, "material-test": 11008} {
		s := realTriplets(t, "material", name)
		if len(s.Votes) != len(s.Triplets) {
			t.Fatalf("%s: %d votes of %d triplets", name, len(s.Votes), len(s.Triplets))
		}
		least, votes := math.MaxInt, 0
		for _, v := range s.Votes {
			least = min(least, v.For-v.Against)
			votes += v.For + v.Against
		}
		if least < 1 || votes != want {
			t.Errorf("%s: %d votes without those of ties, want %d; the narrowest majority is %d", name, votes, want, least)
		}
	}
}

// The rows of the features are those of the triplets' shoes: the Euclidean distance of
// features agrees with 69.2 % of the answers, and with half of them if rows are shifted.
func TestRealZapposFeatures(t *testing.T) {
	s := realTriplets(t, "zappos", "zappos")
	if r, c := s.Features.Dims(); r != 85 || c != 4096 {
		t.Fatalf("features are %d×%d", r, c)
	}
	agree := func(shift int) float64 {
		d := mat.NewDense(85, 85, nil)
		for i := range 85 {
			for j := range 85 {
				d.Set((i+shift)%85, (j+shift)%85, metric.Euclidean{}.SqDist(s.Features.RawRowView(i), s.Features.RawRowView(j)))
			}
		}
		n := 0
		for _, a := range s.Triplets {
			if d.At(a.A, a.Near) < d.At(a.A, a.Far) {
				n++
			}
		}
		return float64(n) / float64(len(s.Triplets))
	}
	if got := fmt.Sprintf("%.3f", agree(0)); got != "0.692" {
		t.Errorf("%s of the answers agree with the features, want 0.692", got)
	}
	if got := agree(1); math.Abs(got-.5) > .05 {
		t.Errorf("%.3f of the answers agree with shifted features, want about a half", got)
	}
	// Numbers of the repaired table that circulates beside the broken one.
	for _, want := range []struct {
		i, j int
		v    float64
	}{{0, 1, 2.31382}, {1, 4095, 0.0883498}, {4, 0, 0.102461}, {3, 4095, 1.10173}, {84, 4095, 4.82187}} {
		if got := s.Features.At(want.i, want.j); got != want.v {
			t.Errorf("feature %d of shoe %d is %v, want %v", want.j, want.i, got, want.v)
		}
	}
}

func ExampleStore_Triplets() {
	s, err := datasets.Open("no-such-folder").Triplets("music")
	fmt.Println(s, filepath.ToSlash(err.Error())) // the path is one of this system
	// Output: <nil> datasets: no-such-folder/triplets/music/music_triplets.mat is missing; get it with: metriclab data get music   (or ./download.sh music)
}

// BenchmarkStoreTriplets loads each set from its files and counts it.
func BenchmarkStoreTriplets(b *testing.B) {
	store := realdata.Store(b, "music", "material", "zappos")
	for _, name := range []string{"music", "material", "zappos"} {
		b.Run("alg=Store.Triplets/set="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := datasets.Open(store.Dir()).Triplets(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
