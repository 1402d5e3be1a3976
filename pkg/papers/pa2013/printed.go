package pa2013

// printed are the values of Table 2 as the paper prints them: the error in per cent, and
// the best number of neighbours.
var printed = map[string]map[string]struct {
	percent float64
	k       int
}{
	"wine":       {itmlTuned: {3.33, 3}, "PA-I+": {1.76, 5}, "PA-I-": {1.68, 6}, "PA-II+": {1.59, 3}, "PA-II-": {1.68, 9}, "PA-LS+": {2.42, 7}, "PA-LS-": {1.87, 3}},
	"ionosphere": {itmlTuned: {15.46, 2}, "PA-I+": {12.87, 2}, "PA-I-": {13.59, 2}, "PA-II+": {14.00, 2}, "PA-II-": {13.87, 2}, "PA-LS+": {14.26, 2}, "PA-LS-": {13.84, 2}},
	"balance":    {itmlTuned: {26.27, 3}, "PA-I+": {21.88, 3}, "PA-I-": {21.92, 2}, "PA-II+": {25.81, 3}, "PA-II-": {23.40, 2}, "PA-LS+": {31.23, 6}, "PA-LS-": {25.79, 6}},
	"soybean":    {itmlTuned: {8.63, 1}, "PA-I+": {10.73, 1}, "PA-I-": {10.00, 1}, "PA-II+": {9.87, 1}, "PA-II-": {9.70, 1}, "PA-LS+": {9.77, 1}, "PA-LS-": {8.27, 1}},
	"BDG100":     {itmlTuned: {20.27, 6}, "PA-I+": {20.93, 7}, "PA-I-": {21.74, 6}, "PA-II+": {20.72, 7}, "PA-II-": {21.40, 7}, "PA-LS+": {20.25, 9}, "PA-LS-": {20.20, 9}},
	"nist16":     {itmlTuned: {5.65, 1}, "PA-I+": {5.67, 1}, "PA-I-": {5.86, 1}, "PA-II+": {5.67, 1}, "PA-II-": {6.03, 1}, "PA-LS+": {6.64, 1}, "PA-LS-": {5.62, 1}},
}
