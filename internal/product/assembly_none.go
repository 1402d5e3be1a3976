//go:build !amd64 || noasm

package product

const assembly = false

func tileAVX2(int, *float64, *float64, *float64, int, bool) { panic("product: no assembly") }

func tileAVX512(int, *float64, *float64, *float64, int, bool) { panic("product: no assembly") }

func symvAVX2(int, *float64, int, int, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func symvDotsAVX2(int, *float64, int, int, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func symvSumAVX2(int, *float64, int, int, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func gemvAVX2(int, int, *float64, int, *float64, *float64, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func gemvBothAVX2(int, int, *float64, int, *float64, *float64, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func gerGemvAVX2(int, int, *float64, int, *float64, *float64, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func gerGemvBothAVX2(int, int, *float64, int, *float64, *float64, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func addRowsAVX2(int, *int32, *float64, int, *float64, int, int, *float64) bool {
	panic("product: no assembly")
}

func addToRowsAVX2(int, *int32, *float64, int, *float64, int, int, *float64) bool {
	panic("product: no assembly")
}

func copyAVX2(int, *float64, int, *float64) { panic("product: no assembly") }

func copyAVX512(int, *float64, int, *float64) { panic("product: no assembly") }

func packAVX2(int, *float64, int, *float64, int) { panic("product: no assembly") }

func dotRowsAVX2(int, int, *float64, *float64, int, *float64) { panic("product: no assembly") }

func chainsAVX2(int, *float64, *float64, *float64, *float64, *float64, *float64) {
	panic("product: no assembly")
}

func dotsAtAVX2(int, *int32, int, *float64, *float64, int, int, *float64) int {
	panic("product: no assembly")
}

func addScaledAVX2(int, *float64, float64, *float64) { panic("product: no assembly") }

func rotateAVX2(int, *float64, *float64, float64, float64) { panic("product: no assembly") }

func hingesAVX2(int, *int32, *float64, *float64, int, *int32, *float64, int, int, int, *float64, *float64, *float64, *float64, int, *int32, *float64, float64, float64, float64, float64, *[3]int) int {
	panic("product: no assembly")
}

func swapProductAVX2(int, *float64, *float64, *float64, *float64, *int, int, *[2]float64, *[3][4]int) {
	panic("product: no assembly")
}
