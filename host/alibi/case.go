package alibi

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

// Entry is the entry of a failing test with the labels of the pipeline: without the classification that it brings, and with its evidence
// naming no label.
func Entry(e docket.Entry) docket.Entry {
	e.Case.Labels, e.Case.Light = Labels(), nil
	e.Case.Evidence = slices.Clone(e.Case.Evidence)
	for i := range e.Case.Evidence {
		e.Case.Evidence[i].Supports = ""
	}
	e.Truth, e.LabelNames = nil, nil
	return e
}
