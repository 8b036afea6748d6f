// Package figure renders numbers for people, in one way wherever they stand.
package figure

import (
	"strconv"
	"strings"
)

// Share renders a confidence or a weight, in [0, 1], with two digits, and never as a 1.00 or 0.00 that is not one. Nor is a
// number rounded up to a multiple of 0.05, which thresholds are: 0.4999 is 0.49, for it is not 0.50.
func Share(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	switch {
	case s == "1.00" && v < 1:
		return ">.99"
	case s == "0.00" && v > 0:
		return "<.01"
	case v > 0 && (strings.HasSuffix(s, "0") || strings.HasSuffix(s, "5")):
		if shown, err := strconv.ParseFloat(s, 64); err == nil && shown > v {
			return strconv.FormatFloat(shown-0.01, 'f', 2, 64)
		}
	}
	return s
}
