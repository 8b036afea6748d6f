// Package docket reads the cases that the court tries and writes what came of them.
//
// A docket is a file of cases, one JSON object a line. [Reader] reads it strictly: every line that is wrong becomes one
// [LineError] with all its problems, each with the place, and the other lines go on. A [Trial] is one case's passage
// through the court, complete enough to be told as a story; its [Result] is what programs get. The writers ([NewJSONL],
// [NewJSON], [NewTable]) and the reports of package report take trials one by one through the [Writer] interface;
// [Output] stands before them all, so that redaction can't be forgotten by one of them.
//
// All text of a case is data that somebody else wrote. Whatever leaves this package for a person's eyes goes through
// package inert first.
package docket
