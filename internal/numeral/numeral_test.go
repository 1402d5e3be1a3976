package numeral

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestVanishes(t *testing.T) {
	for text, want := range map[string]bool{
		"0": false, "-0": false, "0.000": false, "0e5": false, "0E-400": false, "1": false, "5e-324": false, "1e400": false,
		"1e-400": true, "-1E-400": true, "0.1e-330": true, "0." + strings.Repeat("0", 400) + "1": true,
	} {
		if v, _ := strconv.ParseFloat(text, 64); Vanishes(text, v) != want {
			t.Errorf("%s: %v, want %v", text, !want, want)
		}
	}
}

// Short reads what it reads to the bits of ParseFloat, and leaves the rest.
func TestShort(t *testing.T) {
	texts := []string{
		"0", "-0", "0.0", "-0.000", "1", "-1.5", "9007199254740992", "9007199254740993", "0.9007199254740993", "123.456", "1e5", "1E5", "1.5e-3", "",
		"-", "null", "\"1\"", "0.3", "2.2250738585072014", "0.0000000000000000000001", "0.00000000000000000000001", "4503599627370497.5", "00000000000000000000.5", "9007199254740993.0", "9007199254740995", "1.8014398509481986", "9999999999999999999", "12345678901234567890", "999999999999999999.9",
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)-6))
		texts = append(texts, strconv.FormatFloat(v, 'f', -1, 64), strconv.FormatFloat(float64(float32(v)), 'f', -1, 32), strconv.FormatFloat(v, 'f', rng.IntN(24), 64), strconv.FormatFloat(v, 'e', -1, 64))
	}
	short := 0
	for _, text := range texts {
		want, err := strconv.ParseFloat(text, 64)
		for _, after := range []string{"", ",7", " ,7"} {
			got, n := Short([]byte(text + after))
			if n == 0 {
				continue
			}
			short++
			if err != nil || n != len(text) || math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("%q: %v of %d bytes, want %v, error %v", text+after, got, n, want, err)
			}
		}
	}
	if share := float64(short) / float64(3*len(texts)); share < .6 { // a quarter has an exponent
		t.Errorf("%.2f of the texts are short, want most", share)
	}
}

func BenchmarkShort(b *testing.B) {
	text := []byte("-1.6764918565750122,")
	b.Run("alg=Short", func(b *testing.B) {
		for b.Loop() {
			if _, n := Short(text); n == 0 {
				b.Fatal("not short")
			}
		}
	})
	b.Run("alg=ParseFloat", func(b *testing.B) {
		for b.Loop() {
			if _, err := strconv.ParseFloat(string(text[:19]), 64); err != nil {
				b.Fatal(err)
			}
		}
	})
}
