package iplr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"metriclab/pkg/metric"
)

// benchPairs returns m links in k coordinates, similar and dissimilar by turns, which nearly all ask for a step in each cycle.
func benchPairs(k, m int) *pairs {
	rng := rand.New(rand.NewPCG(9, uint64(k)))
	p := &pairs{k: k, links: make([]metric.Link, m), z: make([]float64, m*k), r: make([]float64, m), sq: make([]float64, m)}
	for i := range m {
		p.links[i].Label = metric.SameClass(i%2 == 0)
		for j := range k {
			p.z[i*k+j] = rng.NormFloat64() / math.Sqrt(float64(k))
		}
		p.r[i] = rng.Float64()
		p.sq[i] = sumSquares(p.of(i)) + p.r[i]
	}
	return p
}

// straight is a cycle over all links as a plain loop over the k×k matrix f.
func straight(p *pairs, f, fz, bound, lambda, xi []float64, gamma float64) (moved int) {
	k := p.k
	for i, link := range p.links {
		z := p.z[i*k : (i+1)*k]
		var q float64
		for a := range z {
			var s float64
			for b := range z {
				s += f[a*k+b] * z[b]
			}
			fz[a] = s
			q += s * z[a]
		}
		delta := float64(link.Label)
		ap, after := step(q, p.r[i], xi[i], gamma)
		switch {
		case delta*ap < lambda[i]*q:
			lambda[i] -= delta * ap / q
			xi[i] = after + p.r[i]
		case lambda[i] > 0:
			ap = delta * lambda[i] * q
			after = q / (1 - ap)
			lambda[i], xi[i] = 0, bound[i]
		default:
			continue
		}
		moved++
		beta := ap * (after / q) / q
		for a, s := range fz {
			for b, t := range fz {
				f[a*k+b] += beta * s * t
			}
		}
	}
	return moved
}

var benchParams = Params{Gamma: 10, Upper: 0.8, Lower: 2.2}

// BenchmarkProjection is the time of a projection, beside that of a straight loop over the same data.
func BenchmarkProjection(b *testing.B) {
	const m = 400
	for _, k := range []int{5, 10, 25, 50, 100} {
		p := benchPairs(k, m)
		b.Run(fmt.Sprintf("straight/k=%d", k), func(b *testing.B) {
			f, fz := make([]float64, k*k), make([]float64, k)
			for i := range k {
				f[i*k+i] = 1
			}
			l, err := newLoop(b.Context(), p, benchParams.Resolved())
			if err != nil {
				b.Fatal(err)
			}
			moved := 0
			for b.Loop() {
				moved += straight(p, f, fz, l.bound, l.lambda, l.xi, l.gamma)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(moved), "ns/projection")
		})
		b.Run(fmt.Sprintf("iplr/k=%d", k), func(b *testing.B) {
			l, err := newLoop(b.Context(), p, benchParams.Resolved())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := l.cycle(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(l.projections), "ns/projection")
		})
	}
}

// The straight loop of the benchmark takes the same steps.
func TestStraightLoop(t *testing.T) {
	for _, k := range []int{5, 30} {
		p := benchPairs(k, 60)
		l, err := newLoop(t.Context(), p, benchParams.Resolved())
		if err != nil {
			t.Fatal(err)
		}
		s, _ := newLoop(t.Context(), p, benchParams.Resolved())
		for range 20 {
			if err := l.cycle(); err != nil {
				t.Fatal(err)
			}
			s.projections += straight(p, s.f, s.fz, s.bound, s.lambda, s.xi, s.gamma)
		}
		if l.projections != s.projections {
			t.Errorf("k = %d: %d projections, want %d", k, l.projections, s.projections)
		}
		for i, v := range s.lambda {
			if math.Abs(l.lambda[i]-v) > 1e-9*(1+v) {
				t.Fatalf("k = %d: link %d: λ = %v, want %v", k, i, l.lambda[i], v)
			}
		}
	}
}
