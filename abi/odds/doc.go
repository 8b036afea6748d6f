// Package odds says what the figures of a profile mean: how far a source's
// statement, a stated confidence, the signals in a text and the results of
// experiments move the log-odds between labels. The personas weigh with it and fitting fits with it, so that
// both mean the same.
//
// All figures are natural logarithms (nats), one for each label in the order
// of the labels; only differences between labels count. All functions are pure
// and give the same figures everywhere.
package odds
