package record

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
)

// Difference is where two trials of the same case part first.
type Difference struct {
	// Audit: it is in the audit of the trial, whose events and calls are counted by themselves.
	Audit bool
	// Event counts from 0; -1 where it is not about one event.
	Event int
	// Call counts calls from 0; -1 where it is not about one.
	Call int
	// Where says what differs, in words: a node with its persona and module, the result.
	Where string
	// What differs there, such as "output" or "fuel".
	What string
	// Was is what the record has, Is what came now; either may be empty.
	Was, Is string
	// Fields are what differs inside of the artifact or the result, if both are known.
	Fields []FieldDifference
}

// FieldDifference is a field that differs: its path, and both values as text. A value that is not there is empty.
type FieldDifference struct{ Path, Was, Is string }

// Compare gives the first difference between a recorded trial and one that was tried again, nil where they are the same bytes.
func Compare(was, is *Trial) (*Difference, error) {
	a, err := encodeJSON(was)
	if err != nil {
		return nil, err
	}
	b, err := encodeJSON(is)
	if err != nil || bytes.Equal(a, b) {
		return nil, err
	}
	return compareTrials(was, is), nil
}

func compareTrials(was, is *Trial) *Difference {
	if d := compareAll(was, is, was.Events, is.Events); d != nil {
		return d
	}
	d := &Difference{Event: -1, Call: -1, Where: "the trial"}
	switch {
	case was.Case != is.Case:
		d.What, d.Was, d.Is = "case", string(was.Case), string(is.Case)
	case !slices.Equal(was.Over, is.Over):
		d.What, d.Fields = "when its time was over", valueDifferences(was.Over, is.Over)
	case was.ResultDigest != is.ResultDigest:
		d.What, d.Was, d.Is = "result", string(was.ResultDigest), string(is.ResultDigest)
		d.Fields = jsonDifferences(was.Result, is.Result)
	default:
		if audit := compareAudits(was, is); audit != nil {
			return audit
		}
		d.What = "what is kept of it"
	}
	return d
}

// compareAudits gives the first difference between the audits of two trials.
func compareAudits(was, is *Trial) *Difference {
	a, b := was.Audit, is.Audit
	d := &Difference{Audit: true, Event: -1, Call: -1, Where: "the audit"}
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil || b == nil:
		words := map[bool]string{true: "an audit", false: "no audit"}
		d.What, d.Was, d.Is = "whether there is one", words[a != nil], words[b != nil]
		return d
	}
	if first := compareAll(was, is, a.Events, b.Events); first != nil {
		first.Audit = true
		return first
	}
	switch {
	case a.ResultDigest != b.ResultDigest:
		d.What, d.Was, d.Is = "result", string(a.ResultDigest), string(b.ResultDigest)
		d.Fields = jsonDifferences(a.Result, b.Result)
	case a.Court != b.Court:
		d.What, d.Was, d.Is = "name of the court", a.Court, b.Court
	default:
		return nil
	}
	return d
}

// compareAll gives the first difference between the events of two trials, or of their audits.
func compareAll(was, is *Trial, before, now []Event) *Difference {
	calls := 0
	for i := range max(len(before), len(now)) {
		a, b := eventAt(before, i), eventAt(now, i)
		if d := compareEvents(was, is, a, b); d != nil {
			d.Event, d.Call = i, -1
			if a.Call != nil || b.Call != nil {
				d.Call = calls
			}
			return d
		}
		if a.Call != nil {
			calls++
		}
	}
	return nil
}

// eventAt gives an event, an empty one behind the last.
func eventAt(events []Event, i int) *Event {
	if i < len(events) {
		return &events[i]
	}
	return &Event{}
}

func compareEvents(was, is *Trial, a, b *Event) *Difference {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	d := &Difference{Where: place(a)}
	if a.Call != nil && b.Call != nil {
		compareCalls(d, was, is, a.Call, b.Call)
		return d
	}
	d.What, d.Fields = "what happened", valueDifferences(a, b)
	if a.Light != nil && b.Light != nil {
		x, _ := was.Content(a.Light.Answer)
		y, _ := is.Content(b.Light.Answer)
		if fields := jsonDifferences(x, y); len(fields) > 0 {
			d.What, d.Fields = "answer", fields
		}
	}
	return d
}

// compareCalls says what differs first, in the order in which it comes about.
func compareCalls(d *Difference, was, is *Trial, a, b *Call) {
	set := func(what, x, y string) { d.What, d.Was, d.Is = what, x, y }
	switch {
	case a.Node != b.Node || a.Persona != b.Persona || a.Module != b.Module || a.Kind != b.Kind:
		set("which call is made", callPlace(a), callPlace(b))
	case a.Input != b.Input:
		set("input", string(a.Input), string(b.Input))
		d.Fields = messageDifferences(was, is, a.Input, b.Input, a.Kind, "request")
	case !reflect.DeepEqual(a.Uses, b.Uses):
		d.What, d.Fields = "what it asked", valueDifferences(a.Uses, b.Uses)
	case !reflect.DeepEqual(a.Failure, b.Failure):
		d.What, d.Fields = "how it ended", valueDifferences(a.Failure, b.Failure)
	case a.Output != b.Output:
		set("output", string(a.Output), string(b.Output))
		d.Fields = messageDifferences(was, is, a.Output, b.Output, a.Kind, "response")
	case !reflect.DeepEqual(a.Fuel, b.Fuel):
		set("fuel", fuel(a), fuel(b))
	default:
		d.What, d.Fields = "answers for edges", valueDifferences(a.Edges, b.Edges)
	}
}

func place(e *Event) string {
	switch {
	case e.Call != nil:
		return callPlace(e.Call)
	case e.Merge != "":
		return "the state after a merge"
	case e.Light != nil:
		return "Light"
	}
	return "after the last event of the record"
}

func callPlace(c *Call) string {
	who := c.Module
	if c.Persona != "" && c.Persona != c.Module {
		who = c.Persona + " (module " + c.Module + ")"
	}
	where := ""
	if c.Node != "" {
		where = " at " + c.Node
	}
	return string(c.Kind) + " call of " + who + where
}

func fuel(c *Call) string {
	if c.Fuel == nil {
		return "none"
	}
	return strconv.FormatUint(*c.Fuel, 10)
}
