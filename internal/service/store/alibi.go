package store

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// The formats of dockets whose trials were held elsewhere, and that no generation tried.
const (
	FormatAlibi   = "alibi"
	FormatResults = "results"
)

// triedHere is the condition of entries of other dockets.
const triedHere = "docket NOT IN (SELECT id FROM dockets WHERE format IN ('" + FormatAlibi + "', '" + FormatResults + "'))"

// Alibi is the answer of the command alibi to an entry, without the runs, which its trial has.
type Alibi struct {
	Verdict alibi.Verdict  `json:"verdict" enum:"yours,not yours,open" doc:"Whether the author of the change has to act"`
	Label   string         `json:"attribution,omitempty" doc:"How the failure is attributed; absent for an open one"`
	Part    alibi.Part     `json:"part,omitempty" doc:"What of the change is to blame"`
	Why     string         `json:"why" doc:"The runs that the answer rests on"`
	Next    string         `json:"next,omitempty" doc:"What would decide an open one"`
	Culprit *alibi.Culprit `json:"culprit,omitempty" doc:"Commit that the failure began with"`
	Seconds float64        `json:"seconds" minimum:"0" doc:"How long the runs took"`
	Change  alibi.Change   `json:"change" doc:"What was judged, and with what"`
	Key     string         `json:"key,omitempty" doc:"ID of the key that signed the record; absent where nothing is signed"`
}

// maxAlibi is the most bytes of an answer.
const maxAlibi = 64 << 10

// column is an answer as the tables have it.
func (a *Alibi) column() (string, error) {
	if a == nil {
		return "", nil
	}
	text := object(a)
	if len(text) > maxAlibi {
		return "", fmt.Errorf("%w: the answer has %d bytes, and %d are allowed", ErrTooLarge, len(text), maxAlibi)
	}
	return text, nil
}

// yoursDoubt keeps what is yours in the inbox until somebody says that it is seen to, behind what is open.
const yoursDoubt = 0.5

// doubt is how much the entry needs a person.
func (a *Alibi) doubt(final *trial.Final) float64 {
	switch a.Verdict {
	case alibi.IsOpen:
		return 1
	case alibi.IsYours:
		return max(yoursDoubt, doubt(final))
	default:
		return doubt(final)
	}
}
