// Package capability asks the host for what a module was granted: see SPEC.md §2.12. The linker imports exactly the functions that a module
// calls, so that it cannot run where they were not granted.
//
// Natively there is no host: every function answers as a host without a casebook and without a source does.
package capability

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// BadAnswer is the code of the failure that a function gives where the host's answer can't be read.
const BadAnswer = "bad_answer"

// answerBytes is the room that the first call gives: enough for most answers.
const answerBytes = 8 << 10

// hostFunc is an imported function: it reads the request, writes its answer if there is room for it, and returns the answer's length.
type hostFunc func(request, answer []byte) int

// Recall asks the casebook for cases that have the fingerprint of this one, or nearly; the most similar first. Needs the capability recall.
func Recall(q abi.RecallQuery) ([]abi.PriorCase, *abi.Failure) {
	return priorCases(hostRecall, codec.AppendRecallQuery(nil, &q))
}

// Correlate searches the casebook by text; the most similar case first. Needs the capability correlate.
func Correlate(q abi.CorrelateQuery) ([]abi.PriorCase, *abi.Failure) {
	return priorCases(hostCorrelate, codec.AppendCorrelateQuery(nil, &q))
}

// Source asks which files of the source a text names. Without a source the answer's Known is false. Needs the capability source.
func Source(q abi.SourceQuery) (abi.SourceAnswer, *abi.Failure) {
	bytes, failure := ask(hostSource, codec.AppendSourceQuery(nil, &q))
	if failure != nil || len(bytes) == 0 {
		return abi.SourceAnswer{}, failure
	}
	answer, err := codec.DecodeSourceAnswer(bytes, len(bytes))
	if err != nil {
		return abi.SourceAnswer{}, guest.Fail(BadAnswer, err.Error())
	}
	return answer, nil
}

// Log writes a line to the host's log. An empty one is none. Needs the capability log.
func Log(message string) {
	if message != "" {
		hostLog(codec.AppendLogLine(nil, &abi.LogLine{Message: message}), nil)
	}
}

func priorCases(call hostFunc, request []byte) ([]abi.PriorCase, *abi.Failure) {
	bytes, failure := ask(call, request)
	if failure != nil || len(bytes) == 0 {
		return nil, failure
	}
	answer, err := codec.DecodePriorCases(bytes, len(bytes))
	if err != nil {
		return nil, guest.Fail(BadAnswer, err.Error())
	}
	return answer.Cases, nil
}

// ask calls a function, and again with the room that it says it needs.
func ask(call hostFunc, request []byte) ([]byte, *abi.Failure) {
	answer := make([]byte, answerBytes)
	n := call(request, answer)
	if n > len(answer) {
		answer = make([]byte, n)
		n = call(request, answer)
	}
	if n < 0 || n > len(answer) {
		return nil, guest.Fail(BadAnswer, "the answer's length changes from call to call")
	}
	return answer[:n], nil
}
