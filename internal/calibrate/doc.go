// Package calibrate measures a court against the truth, and against what could do its work without a trial.
//
// [Observe] reduces a trial to what the measures look at; [Measure] turns observations into a [Report], which is the JSON
// of `shadowcourt calibrate`. The measures are pure functions; the seed in [Options] decides everything that is drawn.
// docs/measuring.md says what each figure means.
package calibrate
