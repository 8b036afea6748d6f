package text

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSubstance(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, content string
		want          []string
	}{
		{"figures and signs make no difference", "10:31:02 ERROR: cannot reach host-17 (attempt 3)", []string{"# # # error cannot reach host #attempt #"}},
		{"short lines are left out", "FAIL\nthe connection to the server was refused", []string{"the connection to the server was refused"}},
		{"only short lines", "FAIL\nexit 1", []string{"fail\nexit #\n"}},
		{"nothing", " \n\t", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := Substance(tc.content)
			for i := range tc.want {
				tc.want[i] = strings.ReplaceAll(tc.want[i], "host #attempt", "host # attempt")
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestQuoteAround(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 400) + "NEEDLE" + strings.Repeat("ö", 400)
	for _, tc := range []struct {
		name, document, at, want string
	}{
		{"the line without its blanks", "one\n  two three \nfour", "three", "two three"},
		{"the first line", "one\ntwo", "one", "one"},
		{"the last line", "one\ntwo", "two", "two"},
		{"a carriage return is a blank", "one\r\ntwo\r\n", "two", "two"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			start := strings.Index(tc.document, tc.at)
			if got := QuoteAround(tc.document, start, start+len(tc.at)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	for shift := range 4 {
		document := "first\n" + strings.Repeat("x", shift) + long + "\nlast"
		start := strings.Index(document, "NEEDLE")
		got := QuoteAround(document, start, start+6)
		if len(got) > 300 || !strings.Contains(got, "NEEDLE") || !strings.Contains(document, got) || !utf8.ValidString(got) {
			t.Errorf("a long line shifted by %d: %d bytes %q", shift, len(got), got)
		}
	}
}

func TestShareIsThatOfStrconv(t *testing.T) {
	t.Parallel()
	numbers := []float64{0, math.Copysign(0, -1), 0.005, 0.125, 0.375, 0.995, 0.0009, 0.00499999999999999, 9.985, 9.99, 9.995, 10, 123.456, -0.5, math.NaN(), math.Inf(1), 5e-324}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		numbers = append(numbers, rnd.Float64(), 10*rnd.Float64(), float64(rnd.IntN(1024))/1024, float64(rnd.IntN(2000))/200)
	}
	for _, x := range numbers {
		if got, want := Share(x), strconv.FormatFloat(x, 'f', 2, 64); got != want {
			t.Fatalf("%v is shown as %s, not as %s", x, got, want)
		}
	}
}
