// Package fit learns a profile from labelled cases.
//
// A profile says the log-odds of the labels as a sum: base rates, what each
// source's statements and stated confidences add, what each phrase adds (package
// odds says it exactly). Every learner here gives such a sum: regressions on
// statements, on phrases and on both, naive Bayes over either, and everybody's own
// word. A weighted sum of such sums is one again, so that the profile is a
// blend of them: the weights are those by which their predictions for cases
// that they haven't seen predict best together. How many learners are blended
// is chosen by cross-validation too, and so is whether anything is learned at all.
// docs/fitting.md tells it in full.
//
// Nothing here depends on time, machine or the number of workers: the same
// cases and seed give the same bytes.
package fit
