// Package plural counts things in words.
package plural

import "fmt"

// Of returns "1 job", "2 jobs". The noun takes an s.
func Of(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
