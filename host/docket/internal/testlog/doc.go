// Package testlog has what the readers of failing tests share: the labels, logs clipped head and tail, ids, the rules that
// cut evidence out of a log word for word, and a first simple classification of a log whose language is not known.
//
// A reader with rules of its own for its logs (package gotest) uses the [Cutter] with them; the others use [Cut] and
// [Classify], whose patterns know what runtimes, test frameworks and operating systems print, for Go, Java and its kin,
// Python and JavaScript.
package testlog
