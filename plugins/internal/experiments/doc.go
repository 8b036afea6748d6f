// Package experiments chooses the experiment that a persona asks for, and says
// in words what experiments have shown.
//
// The choice rests on the probabilities of the labels so far and on the
// profile's tables P(outcome | label). The gain of an experiment, in nats, is
// what its outcomes are expected to do, each as probable as the tables and the
// probabilities of the labels make it:
//
//   - for a neutral persona, the information about the label: by how much the
//     entropy of the labels falls;
//   - for the defense, the weight of evidence against the charge in the cases
//     in which it is wrong: by how much its log-odds fall, times the
//     probability that another label is true;
//   - for the prosecution, the weight of evidence for the charge in the cases
//     in which it is right, likewise.
//
// The sides count log-odds, since probabilities would not tell them apart: an
// expected fall of the charge's probability is always matched by a rise that is
// as large, for every experiment, and both sides would ask for the same.
//
// Of the offers whose gain is worth it the one with the largest gain per
// expected second is chosen, of equal ones the first. Nothing is chosen where a
// label is settled. All functions are pure.
package experiments
