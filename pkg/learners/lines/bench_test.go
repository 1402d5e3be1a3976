package lines

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
)

// labelledPairs returns n lines of pairs in dim dimensions: normal vectors,
// similar iff they are close in the first half of the coordinates.
func labelledPairs(dim, n int) []byte {
	rng := rand.New(rand.NewPCG(1, 2))
	var b []byte
	vector := func(v []float64) {
		for i := range v {
			if i > 0 {
				b = append(b, ',')
			}
			v[i] = rng.NormFloat64()
			b = strconv.AppendFloat(b, v[i], 'g', -1, 64)
		}
	}
	x, y := make([]float64, dim), make([]float64, dim)
	for range n {
		b = append(b, `{"x":[`...)
		vector(x)
		b = append(b, `],"y":[`...)
		vector(y)
		sq, label := 0.0, -1
		for i := range dim/2 + 1 {
			sq += (x[i] - y[i]) * (x[i] - y[i])
		}
		if sq < float64(dim) {
			label = 1
		}
		b = fmt.Appendf(b, "],\"label\":%d}\n", label)
	}
	return b
}

// BenchmarkRun is the whole way of a line, from reading to writing.
func BenchmarkRun(b *testing.B) {
	const n = 20000
	for _, dim := range []int{10, 784} {
		in := labelledPairs(dim, n*10/max(10, dim))
		rounds := bytes.Count(in, []byte{'\n'})
		b.Run(fmt.Sprintf("alg=POLA/dim=%d", dim), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := session(b, "pola", Options{}).Run(context.Background(), bytes.NewReader(in), io.Discard); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rounds)*float64(b.N)/b.Elapsed().Seconds(), "pairs/s")
		})
	}
}

// BenchmarkDecode is reading alone: lines to vectors and labels.
func BenchmarkDecode(b *testing.B) {
	for _, dim := range []int{10, 784} {
		lines := bytes.Split(bytes.TrimSpace(labelledPairs(dim, 10_000/dim)), []byte{'\n'})
		b.Run(fmt.Sprintf("dim=%d", dim), func(b *testing.B) {
			var d decoder
			p := &pairLines{}
			for i := 0; b.Loop(); i++ {
				if err := d.object(lines[i%len(lines)], p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
