// Package testlog has what the readers of failing tests share: the labels, logs clipped head and tail, ids, one table of
// rules that cut evidence out of a log word for word, and a first simple classification of a log.
//
// The rules know what operating systems, runtimes and test frameworks print, for Go, Java and its kin, .NET, Python and
// JavaScript. All readers use [Cut], so that a log gives the same evidence whatever format it comes in.
package testlog
