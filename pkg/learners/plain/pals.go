package plain

// LeastSquaresRate is PA-LS, Eq. 16: missing the ideal d² = b − y by s costs C·s², on either side. So τ may be negative,
// and each pair makes a step.
//
// Source: Perez-Suay and Ferri, Online Metric Learning Methods Using Soft Margins and Least Squares Formulations,
// 2013, Eqs. 14 to 16.
func LeastSquaresRate(c float64) Rate {
	return func(s, n float64) float64 { return s / (n + 1/(2*c)) }
}
