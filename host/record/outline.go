package record

import (
	"fmt"
	"strconv"
	"strings"
)

// Outline tells what a record itself says of a trial, a line for each event:
// for trials that can't be replayed here. The text holds what modules said, and
// is not sanitized.
func (t *Trial) Outline() string {
	var b strings.Builder
	outlineEvents(&b, t.Events)
	if len(t.Over) > 0 {
		fmt.Fprintf(&b, "time    over at look %d\n", t.Over[0])
	}
	outlineResult(&b, t.ResultDigest, t.Result)
	if t.Audit != nil {
		b.WriteString("\nAudit of the opinion\n")
		outlineEvents(&b, t.Audit.Events)
		outlineResult(&b, t.Audit.ResultDigest, t.Audit.Result)
	}
	return b.String()
}

func outlineEvents(b *strings.Builder, events []Event) {
	calls := 0
	for i := range events {
		e := &events[i]
		switch {
		case e.Call != nil:
			b.WriteString("call " + strconv.Itoa(calls) + "  " + outlineCall(e.Call) + "\n")
			calls++
		case e.Merge != "":
			b.WriteString("state   " + string(e.Merge) + "\n")
		case e.Light != nil:
			b.WriteString("light   " + describe(e) + "\n")
		}
	}
}

func outlineResult(b *strings.Builder, digest Digest, result []byte) {
	b.WriteString("result  " + string(digest) + "\n")
	if result != nil {
		b.WriteString("        " + string(result) + "\n")
	}
}

func outlineCall(c *Call) string {
	var b strings.Builder
	b.WriteString(callPlace(c))
	if c.Fuel != nil {
		b.WriteString(", " + fuel(c) + " fuel")
	}
	if c.Failure != nil {
		b.WriteString(", failed: " + ending(c))
	}
	for _, u := range c.Uses {
		b.WriteString("\n        asked " + string(u.Capability) + " " + string(u.Request) + ", answered " + string(u.Answer))
	}
	for _, e := range c.Edges {
		answer := "no"
		if e.Fires {
			answer = "yes"
		}
		b.WriteString("\n        " + e.ID + " " + answer)
		if e.Why != "" {
			b.WriteString(": " + e.Why)
		}
	}
	return b.String()
}
