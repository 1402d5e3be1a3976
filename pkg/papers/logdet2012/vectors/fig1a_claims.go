package vectors

import (
	"metriclab/pkg/experiment"
	"metriclab/pkg/experiment/frame"
	"metriclab/pkg/papers/logdet2012/protocol"
)

// Predicates and readings of Fig. 1(a), fixed before the first full run.
const (
	somewhatMeaning = "\"For most of the datasets\": per data set, the error of a rival minus that of LogDet Linear, and of LogDet Gaussian, is > 0, with two exceptions among the five. The rival is the best of Euclidean, Inv. Covariance, MCML and LMNN on that data set, by mean error on the test folds, " +
		"or the mean of the four. Readings: features as they are, which the figure's error axis suggests, and standardised; u and ℓ the 1st and 99th percentiles, and, features as they are, the same shares of the range. " +
		"Also, of LogDet Gaussian with the percentiles, σ² chosen on a wider grid on those data sets where most folds chose the end of ½, 1 and 2 medians."
)

var fig1aClaims = experiment.Claims([]experiment.Claim{
	{
		ID: "fig1a-linear", View: "fig1a",
		Statement: "LogDet Linear and LogDet Gaussian algorithms obtain somewhat higher accuracy for most of the datasets.",
		Where:     "Section 6.1, Fig. 1(a)", Theirs: experiment.FigureOnly,
		Predicate: somewhatMeaning,
		Test: frame.Parts([]string{protocol.LogDetLinear, protocol.LogDetGaussian},
			frame.Readings(higher(protocol.LogDetLinear)...),
			frame.Readings(append(higher(protocol.LogDetGaussian), widerReadings()...)...)),
	},
})

// higher are the readings of the statement that a method has a lower error than its rivals on most data sets.
func higher(method string) (out []frame.Reading) {
	for _, rd := range allReadings {
		out = append(out, rd.against(ErrorOf(method, "bounds", rd.bounds))...)
	}
	return out
}
