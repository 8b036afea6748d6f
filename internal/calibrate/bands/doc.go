// Package bands proposes thresholds of confidence above which an answer may stand unreviewed, such that the share of wrong
// answers among the accepted is bounded with a stated confidence. It also draws the curve of risk over coverage.
//
// It tests thresholds one after the other, from strict to loose, each by the exact binomial tail, and stops at the first that
// fails: fixed-sequence testing, as in Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021). No correction for
// the number of thresholds is needed, since their order is fixed before the answers are looked at. There are two sequences, which
// share the level: one begins with the fewest cases that can pass, one with so many that some may be wrong. The cases must not be those that
// anything was fitted on, or the answers must be cross-fitted.
package bands
