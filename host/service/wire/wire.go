// Package wire states a trial as a line of JSON, which the service sends and its client of the same version reads.
package wire

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/run/journal"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Line is an entry of a docket with its trial, or with the reason why it has none.
type Line struct {
	Docket  int64  `json:"docket"`
	Ordinal int    `json:"ordinal"`
	Case    string `json:"case,omitempty"` // empty for an entry that could not be read
	Source  string `json:"source,omitempty"`
	Line    int    `json:"line,omitempty"`
	Fault   string `json:"fault,omitempty"`

	Result    json.RawMessage `json:"result,omitempty"`
	Truth     *trial.Truth    `json:"truth,omitempty"`
	MemberIDs []string        `json:"member_ids,omitempty"`

	// What whole trials have beside. Cases are in the encoding of the contract.
	Story      json.RawMessage   `json:"story,omitempty"`
	Encoded    []byte            `json:"encoded,omitempty"`
	Members    [][]byte          `json:"members,omitempty"`
	LabelNames map[string]string `json:"label_names,omitempty"`
}

// Put puts a trial into a line: its result, or the whole of it.
func (l *Line) Put(t *trial.Trial, whole bool) error {
	result, story, err := journal.EncodeTrial(t)
	if err != nil {
		return err
	}
	l.Result, l.Truth, l.MemberIDs = result, t.Truth, t.Result.Members
	if !whole {
		return nil
	}
	l.Story, l.LabelNames, l.Encoded = story, t.LabelNames, codec.AppendCase(nil, &t.Case)
	for i := range t.Members {
		l.Members = append(l.Members, codec.AppendCase(nil, &t.Members[i]))
	}
	return nil
}

// maxCase bounds an encoded case.
const maxCase = 64 << 20

// Trial is the trial of a line; nil where it has none. Without a story it has a result alone, and what is known of the truth.
func (l *Line) Trial() (*trial.Trial, error) {
	if l.Result == nil {
		return nil, nil //nolint:nilnil // the line has none
	}
	t, err := journal.DecodeTrial(l.Result, l.Story)
	if err != nil {
		return nil, err
	}
	t.Truth, t.Result.Members = l.Truth, l.MemberIDs
	if l.Encoded == nil {
		return t, nil
	}
	c, err := codec.DecodeCase(l.Encoded, maxCase)
	if err != nil {
		return nil, fmt.Errorf("the case of %q: %w", t.Result.ID, err)
	}
	setCase(t, &c)
	members := make([]abi.Case, len(l.Members))
	for i, text := range l.Members {
		if members[i], err = codec.DecodeCase(text, maxCase); err != nil {
			return nil, fmt.Errorf("member %d of %q: %w", i+1, t.Result.ID, err)
		}
	}
	if len(members) > 0 {
		t.Stand(members)
	}
	t.LabelNames = maps.Clone(l.LabelNames)
	return t, nil
}

func setCase(t *trial.Trial, c *abi.Case) {
	t.Case = *c
	if t.Beside != nil {
		setCase(t.Beside, c)
	}
}
