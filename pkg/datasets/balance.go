package datasets

import "gonum.org/v1/gonum/mat"

// balanceClasses are the classes of Balance: the beam tips to the left, stays
// level, or tips to the right.
var balanceClasses = []string{"L", "B", "R"}

// Balance returns the data set Balance Scale (Siegler 1976; UCI), which is a rule
// and needs no file: 625×4, all combinations of left weight, left distance, right
// weight and right distance, each 1 to 5, the last running fastest. The class says to
// which side the beam tips: that of the greater product of weight and distance, or
// neither. A test proves it equal to UCI's file, row by row.
func Balance() *Set {
	const steps = 5
	s := &Set{Name: "balance-scale", X: mat.NewDense(steps*steps*steps*steps, 4, nil), Classes: append([]string(nil), balanceClasses...)}
	for i := range s.N() {
		row := s.X.RawRowView(i)
		for j, rest := 3, i; j >= 0; j, rest = j-1, rest/steps {
			row[j] = float64(1 + rest%steps)
		}
		y := 1
		switch left, right := row[0]*row[1], row[2]*row[3]; {
		case left > right:
			y = 0
		case left < right:
			y = 2
		}
		s.Y = append(s.Y, y)
	}
	return s
}
