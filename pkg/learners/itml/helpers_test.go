package itml

import "metriclab/pkg/kernels"

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func gaussian(gamma float64) kernels.Kernel { return must(kernels.NewGaussian(gamma)) }

func polynomial(degree int, offset float64) kernels.Kernel {
	return must(kernels.NewPolynomial(degree, offset))
}
