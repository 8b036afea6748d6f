// Package weigh turns what speaks for the labels of a case into probabilities.
//
// All figures are log-likelihoods in nats. An item that names one of k labels
// and states confidence c is read as a witness who is right with probability c
// and otherwise errs evenly, which is log(c(k-1)/(1-c)) for its label, from 0
// (no better than chance counts nothing, and never against) to a cap; c of that
// counts, since those whom nobody measured are surer than they are right. What one
// source says again counts half, then a quarter; what another source repeats
// counts a quarter; what claims a quote that does not stand counts a tenth.
// Challenges leave the share that their severity says. An item counts with
// the least of these shares, since a challenge and the reading often name the
// same flaw. All items of one source together stay within a cap.
//
// A profile (see abi/odds) replaces the stated confidences of the sources it
// knows, Light among them, by tables of how likely they say what they say, and by
// items of which element; what they say again counts nothing. Its signals count where they stand in a
// finding's quote, in the subject, or in an item that names no label. An item
// of an unknown source that quotes the line in which a signal for its own
// label stands repeats it.
//
// What language models say that the profile doesn't know counts beside the
// others: at most one nat, and at most half of what the leading label is ahead. It
// makes no flaw of another's item.
//
// Results of experiments count by the profile's tables, as odds.AddExperiments
// says, beside all that was read.
//
// Nothing here reads what a content argues: text counts only as a quote that
// stands or doesn't, as a repetition, and as a profile's signal.
//
// All functions are pure and give the same figures everywhere: sums run in the
// order of the labels, items and sources, never in the order of a map.
package weigh
