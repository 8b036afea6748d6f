// Package simulate draws dockets of which the truth is known: worlds with
// witnesses, texts and faults of every kind that fitting has to cope with.
// The same seed gives the same docket.
package simulate
