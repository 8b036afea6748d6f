// Package fit learns a profile from labelled cases.
//
// A profile says the log-odds of the labels as a sum: base rates, what each
// source's statements and stated confidences add, what each phrase adds (package
// odds says it exactly). One multinomial logistic regression with quadratic
// penalties finds these figures. Cross-validation chooses the penalties, how sure
// the whole is, how far texts and stated confidences are trusted, and whether
// anything is learned at all. docs/fitting.md tells it in full.
//
// Nothing here depends on time, machine or the number of workers: the same
// cases and seed give the same bytes.
package fit
