//go:build !amd64 || noasm

package product

const assembly = false

func tileAVX2(int, *float64, *float64, *float64, int, bool) { panic("product: no assembly") }

func tileAVX512(int, *float64, *float64, *float64, int, bool) { panic("product: no assembly") }
