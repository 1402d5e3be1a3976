package product

import (
	"fmt"
	"math"
)

// Mantissas is a product of numbers whose signs and mantissas are kept apart from their exponents. Each mantissa is in [1, 2), so that
// a product of at most 1000 is in range.
type Mantissas struct {
	Product float64 // of the mantissas: of those at even places times of those at odd ones
	Sum     int     // of the exponents
	// Least and Most bound the exponents of the numbers: Least is -1023 if one is 0 or subnormal, Most at least 1024 if one is
	// negative, infinite or NaN. Then Product and Sum mean nothing.
	Least, Most int
}

// SwapProduct returns the product of the sums v[i] = sum[i] − gone[i] + come[i], with rest[i] in place of sum[i] − gone[i] where owner[i]
// is s. It has the same bits on every path. It panics if there are no numbers, or if lengths differ.
func SwapProduct(sum, gone, rest, come []float64, owner []int, s int) Mantissas {
	return swapProduct(current, sum, gone, rest, come, owner, s)
}

func swapProduct(p path, sum, gone, rest, come []float64, owner []int, s int) Mantissas {
	const (
		one      = 1023 << 52 // the bits of 1
		mantissa = 1<<52 - 1
	)
	n := len(sum)
	if n == 0 || len(gone) != n || len(rest) != n || len(come) != n || len(owner) != n {
		panic(fmt.Sprintf("product: vectors of lengths %d, %d, %d, %d and %d", n, len(gone), len(rest), len(come), len(owner)))
	}
	pair := [2]float64{1, 1}
	total, least, most := 0, 1<<12, 0
	whole := 0
	if p >= viaAVX2 && n >= 4 {
		whole = n &^ 3
		var e [3][4]int
		swapProductAVX2(whole, &sum[0], &gone[0], &rest[0], &come[0], &owner[0], s, &pair, &e)
		for lane := range 4 {
			total, least, most = total+e[0][lane], min(least, e[1][lane]), max(most, e[2][lane])
		}
	}
	even, odd := pair[0], pair[1]
	for i := whole; i < n; i++ {
		// A choice between integers compiles to a conditional move, one between floats to a branch.
		stay := math.Float64bits(sum[i] - gone[i])
		if owned := math.Float64bits(rest[i]); owner[i] == s {
			stay = owned
		}
		bits := math.Float64bits(math.Float64frombits(stay) + come[i])
		e := int(bits >> 52)
		total, least, most = total+e, min(least, e), max(most, e)
		even, odd = odd, even*math.Float64frombits(bits&mantissa|one)
	}
	return Mantissas{Product: even * odd, Sum: total - 1023*n, Least: least - 1023, Most: most - 1023}
}
