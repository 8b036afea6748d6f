package input

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// places says where the ids of dockets of several formats stand, so that none
// is that of two cases; each reader sees to that for its own. A nil one is for
// dockets of one format.
type places map[string]string

func (i *Dockets) places() places {
	for _, in := range i.list {
		if in.format != i.list[0].format {
			return make(places)
		}
	}
	return nil
}

// note gives the entry, or that its id was that of a case of another docket.
func (p places) note(entry docket.Entry) (docket.Entry, error) {
	if p == nil {
		return entry, nil
	}
	if first, twice := p[entry.Case.ID]; twice {
		return docket.Entry{}, &docket.LineError{File: entry.Source, Line: entry.Line, Problems: []abi.Problem{{
			Path: abi.Path{abi.Field("id")}, Code: abi.CodeDuplicateID, Detail: "the case at " + first + " has this id",
		}}}
	}
	p[entry.Case.ID] = entry.Source + ":" + strconv.Itoa(entry.Line)
	return entry, nil
}
