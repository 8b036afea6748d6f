package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// entry is an answer as cassettes keep it.
type entry struct {
	Digest string `json:"digest"`
	// Alias, Model and Seed are for people; the digest covers them.
	Alias  string `json:"alias"`
	Model  string `json:"model"`
	Seed   int    `json:"seed"`
	Answer string `json:"answer,omitempty"`
	// Failure and Detail say why there is no answer.
	Failure      abi.CompletionOutcome `json:"failure,omitempty"`
	Detail       string                `json:"detail,omitempty"`
	InputTokens  int                   `json:"input_tokens"`
	OutputTokens int                   `json:"output_tokens"`
}

// The limits of what an entry keeps beside the answer: what is set within them can be read again.
const (
	maxCountedTokens = 1 << 30
	maxDetailBytes   = 4096
)

// set keeps what came of a question.
func (e *entry) set(got reply, f *failure) {
	e.InputTokens, e.OutputTokens = min(max(got.inputTokens, 0), maxCountedTokens), min(max(got.outputTokens, 0), maxCountedTokens)
	if f != nil {
		e.Failure, e.Detail = f.outcome, cut(f.detail, maxDetailBytes-len(cutMark))
		return
	}
	e.Answer = got.text
}

// get is what came of the question.
func (e *entry) get() (reply, *failure) {
	got := reply{text: e.Answer, inputTokens: e.InputTokens, outputTokens: e.OutputTokens}
	if e.Failure != "" {
		return got, &failure{outcome: e.Failure, detail: e.Detail}
	}
	return got, nil
}

// line is the entry as one line of JSON.
func (e *entry) line() []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(e); err != nil {
		panic(err) // texts and numbers
	}
	return b.Bytes()
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// maxEntryBytes is the most of a line: any character of an answer may be escaped.
const maxEntryBytes = 6*maxAnswerBytes + 16<<10

// parseEntry reads one line, of which nothing is trusted.
func parseEntry(line []byte) (entry, error) {
	var e entry
	if len(line) > maxEntryBytes {
		return e, fmt.Errorf("has more than %d bytes", maxEntryBytes)
	}
	if !utf8.Valid(line) {
		return e, errors.New("is not UTF-8")
	}
	if _, err := parseJSON(line); err != nil {
		return e, err
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, errors.New("is no entry: " + strings.TrimPrefix(oneLine(err.Error()), "json: "))
	}
	switch {
	case !digest.MatchString(e.Digest):
		return e, errors.New("has no digest of 64 hexadecimal digits")
	case !name.MatchString(e.Alias) || e.Model == "" || len(e.Model) > 4096:
		return e, errors.New("has no alias or no model")
	case e.Seed < 0 || e.InputTokens < 0 || e.OutputTokens < 0 || e.InputTokens > maxCountedTokens || e.OutputTokens > maxCountedTokens:
		return e, errors.New("has a number that can't be")
	case len(e.Answer) > maxAnswerBytes || len(e.Detail) > maxDetailBytes:
		return e, fmt.Errorf("has an answer of more than %d bytes", maxAnswerBytes)
	case e.Failure != "" && !slices.Contains([]abi.CompletionOutcome{abi.CompletionFailed, abi.CompletionTooLong, abi.CompletionNotAsked}, e.Failure):
		return e, errors.New("has an unknown failure")
	case (e.Failure == "") == (e.Answer == "") || (e.Failure == "") != (e.Detail == ""):
		return e, errors.New("needs either an answer, or a failure with a detail")
	}
	return e, nil
}

// oneLine makes a text of others fit for a line of a message.
func oneLine(text string) string {
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	return sanitize.Line(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "))
}

// cutMark ends a text that was shortened.
const cutMark = "..."

// cut shortens a text to at most so many bytes, and the mark.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + cutMark
}
