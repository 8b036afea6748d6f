// Package casebook is the memory of earlier cases: what failed, how it looked, and what was decided of it.
//
// A Book is one SQLite file that programs may share. While a docket is tried, nobody looks at the file itself but at a
// Snapshot of it: a private copy that can't change, and whose digest belongs to the configuration of the docket. Verdicts
// go into the book afterwards, with Book.Remember, and only when somebody asks for it.
//
// An earlier case is found in two ways. Snapshot.Recall looks for the fingerprint of a failure, which Take makes from its
// text and which leaves out what differs between two runs of the same failure: times, addresses, temporary paths, line
// numbers. Snapshot.Correlate searches the text. Nothing here knows of a particular language, tool or team.
package casebook
