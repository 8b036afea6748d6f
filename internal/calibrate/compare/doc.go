// Package compare sets a candidate court beside the court in force, over the cases that both tried: which verdicts flip,
// and, where the truth is known, whether the candidate is worse.
//
// A case is right when it ends with its true label; one that is left open is not. The cases that only one of the two has
// right are discordant, and McNemar's test says whether they fall on one side by more than chance: the exact test under 25
// discordant pairs, the chi-square with the correction for continuity from there on. Cases of a group belong together and
// count as one pair, for the court that has more of them right.
package compare
