// Package stats has the few statistics that calibration stands on: exact binomial tails, intervals of a share, the
// bootstrap over clusters. Everything is deterministic given its seed; the functions are pure and safe for concurrent use.
package stats
