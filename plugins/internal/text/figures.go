// Package text renders figures and reads lines without fmt.
package text

import "strconv"

// Int renders an integer.
func Int(n int) string { return strconv.Itoa(n) }

// Share renders a number in [0, 1] with two decimals.
func Share(x float64) string { return strconv.FormatFloat(x, 'f', 2, 64) }

// Number renders a number as short as it can be.
func Number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Count renders n with the singular or plural of a noun: "1 item", "3 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Agree gives one for a single thing, and more for any other number.
func Agree(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Of says how many of some do something: "1 of 3 claims rests", "0 of 1 claim rests".
func Of(n, all int, noun, one, more string) string {
	if all == 1 {
		more = one
	}
	return strconv.Itoa(n) + " of " + Count(all, noun) + " " + Agree(n, one, more)
}
