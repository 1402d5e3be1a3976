package numeral

import "math"

// powers are those of ten that a float64 holds exactly.
var powers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Short reads the number that text, valid JSON up to a comma or its end, begins with, to the bits of strconv.ParseFloat in a third of its time, and returns its
// length. That is 0 for what is no number, has an exponent, more than 19 digits or more than 22 behind the point, or lies
// too near to the middle of two float64 to tell.
//
// Digits D and a power P of ten that are exact float64 give D/P in one division (Clinger, How to Read Floating Point Numbers Accurately,
// PLDI 1990). Of more digits, D = H + L, the quotient Q = H/P is corrected by (H − QP + L)/P, which has a relative error below 2⁻⁵⁰.
func Short(text []byte) (v float64, length int) {
	var digits uint64
	i, point := 0, -1
	if len(text) > 0 && text[0] == '-' {
		i = 1
	}
	first := i
	for ; i < len(text); i++ {
		c := text[i] - '0'
		if c > 9 {
			if text[i] != '.' || point >= 0 {
				break
			}
			point = i
			continue
		}
		if digits >= 1e18 {
			return 0, 0
		}
		digits = 10*digits + uint64(c)
	}
	behind := 0
	if point >= 0 {
		behind = i - point - 1
	}
	if i == first || behind >= len(powers) || i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		return 0, 0
	}
	power := powers[behind]
	high := float64(digits)
	v = high / power
	if digits > 1<<53 {
		const error = 0x1p-50
		low := float64(int64(digits - uint64(high)))
		correction := (math.FMA(-v, power, high) + low) / power
		least, most := v+correction*(1-error), v+correction*(1+error)
		if least != most {
			return 0, 0
		}
		v = most
	}
	if first == 1 {
		v = -v
	}
	return v, i
}
