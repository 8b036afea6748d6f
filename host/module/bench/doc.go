// Package plugbench measures the calls of one module: what being pristine and
// being metered cost, in one run, side by side.
package bench
