package api

import (
	"encoding/json"

	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/run/journal"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// trialLine is an entry of a docket with its trial, or with the reason why it has none, as a program of the same version reads it.
type trialLine struct {
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

// put puts a trial into a line: its result, or the whole of it.
func (l *trialLine) put(t *trial.Trial, whole bool) error {
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
