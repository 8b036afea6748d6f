package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// journalFormat is that of the journals that this package reads and writes.
const journalFormat = "shadowcourt-journal/1"

type header struct {
	Format        string        `json:"format"`
	Configuration []record.Part `json:"configuration"`
}

// line is a case of the docket: its trial, or why it could not be tried.
type line struct {
	// Docket is a digest over the cases up to this one.
	Docket   string            `json:"docket"`
	Result   *trial.Result     `json:"result,omitempty"`
	Failed   string            `json:"failed,omitempty"`
	Truth    *trial.Truth      `json:"truth,omitempty"`
	Compared *trial.Comparison `json:"compared,omitempty"`
	Story    *story            `json:"story,omitempty"`
}

// story is what a trial has beside its result.
type story struct {
	*trial.Trial
	Result struct{} // in its place: the line has it
	// What the result of an audit has beside its JSON form.
	Opinion string            `json:",omitempty"`
	Cited   []trial.CitedItem `json:",omitempty"`
}

// newLine states a trial with its story, or with its result alone.
func newLine(t *trial.Trial, whole bool) *line {
	l := &line{Result: &t.Result}
	if !whole {
		if l.Truth = t.Truth; t.Truth != nil {
			compared := t.Compare()
			l.Compared = &compared
		}
		return l
	}
	l.Story = &story{Trial: t}
	if a := t.Result.Audit; a != nil {
		l.Story.Opinion, l.Story.Cited = a.Opinion, a.Cited
	}
	return l
}

// trial returns what newLine was given.
func (l *line) trial() *trial.Trial {
	t := &trial.Trial{Truth: l.Truth, Compared: l.Compared}
	if l.Story != nil && l.Story.Trial != nil {
		t = l.Story.Trial
		if a := l.Result.Audit; a != nil {
			a.Opinion, a.Cited = l.Story.Opinion, l.Story.Cited
		}
	}
	t.Result = *l.Result
	return t
}

// endLine follows the last case of a run that came to its end, see journal.end.
const endLine = `{"ended":true}` + "\n"

// encode gives a value as one line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

var errNoTrial = errors.New("it is no line of a journal")

func decode(data []byte) (*line, error) {
	l := &line{}
	if err := json.Unmarshal(data, l); err != nil { //nolint:musttag // the fields of a trial that have no JSON form elsewhere bear their Go names here
		return nil, fmt.Errorf("%w: %w", errNoTrial, err)
	}
	if l.Docket == "" || (l.Failed == "") == (l.Result == nil) || l.Result != nil && (l.Result.ID == "" || l.Result.Final.Status == "") {
		return nil, errNoTrial
	}
	return l, nil
}

// follow gives the digest over the cases up to an entry, from that over the cases before it.
func follow(before string, entry *docket.Entry) string {
	own := sha256.Sum256(codec.AppendCase(nil, &entry.Case))
	var truth trial.Truth
	if entry.Truth != nil {
		truth = *entry.Truth
	}
	parts := [][]byte{[]byte(before), own[:], []byte(truth.Classification + "\x00" + string(truth.ExpectedVerdict))}
	for i := range entry.Members {
		member := sha256.Sum256(codec.AppendCase(nil, &entry.Members[i]))
		parts = append(parts, member[:])
	}
	sum := sha256.Sum256(slices.Concat(parts...))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// EncodeTrial gives a trial as JSON, in two parts: its result, and its story, which is all that a report shows beside. The story
// has no case and no members, which the caller keeps: cases are large, and many trials have the same.
func EncodeTrial(t *trial.Trial) (result, story []byte, err error) {
	l := newLine(withoutCases(t), true)
	if result, err = encode(l.Result); err != nil {
		return nil, nil, err
	}
	story, err = encode(l.Story)
	return result, story, err
}

func withoutCases(t *trial.Trial) *trial.Trial {
	if t == nil {
		return nil
	}
	without := *t
	without.Case, without.Members = abi.Case{}, nil
	without.Beside = withoutCases(t.Beside)
	return &without
}

// DecodeTrial reads what EncodeTrial gave. Without a story the trial has a result alone.
func DecodeTrial(result, told []byte) (*trial.Trial, error) {
	l := &line{Result: &trial.Result{}}
	if err := json.Unmarshal(result, l.Result); err != nil {
		return nil, fmt.Errorf("the result of a trial: %w", err)
	}
	if l.Result.ID == "" || l.Result.Final.Status == "" {
		return nil, fmt.Errorf("the result of a trial: %w", errNoTrial)
	}
	if len(told) > 0 {
		l.Story = &story{}
		if err := json.Unmarshal(told, l.Story); err != nil { //nolint:musttag // see decode
			return nil, fmt.Errorf("the story of a trial: %w", err)
		}
	}
	return l.trial(), nil
}
