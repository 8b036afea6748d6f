package docket

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// BesideID is the id of a failure that no test tells of, and besideSubject begins its subject.
const (
	BesideID      = "failure beside tests"
	besideSubject = BesideID + ": "
)

// Beside is a failure that no test tells of, such as totals of a report or an exit code that its tests do not explain.
type Beside struct {
	// What says in half a sentence what it is, Next what would decide whose it is, and Output what was printed to it. The last two may be empty.
	What, Next, Output string
}

// OnBase is what would decide whose a failure is that no test tells of.
const OnBase = "run the command in a checkout of the base: it is not yours if it ends in the same way there"

// nextDocument has what would decide it.
const nextDocument = "next"

// Case is the failure as a case. Readers give it another id where several have one.
func (b Beside) Case() abi.Case {
	c := abi.Case{ID: BesideID, Subject: besideSubject + b.What + "."}
	if b.Output != "" { // nothing in it is to be taken for the log of a test
		c.Documents = append(c.Documents, abi.Document{Name: "output", Text: "> " + strings.ReplaceAll(strings.TrimSpace(b.Output), "\n", "\n> ") + "\n"})
	}
	if b.Next != "" {
		c.Documents = append(c.Documents, abi.Document{Name: nextDocument, Text: b.Next})
	}
	return c
}

// BesideOf reads a case as such a failure; false for any other. Whatever tests are called, their subjects have a group or no full stop at the end.
func BesideOf(c *abi.Case) (b Beside, ok bool) {
	what, begins := strings.CutPrefix(c.Subject, besideSubject)
	if b.What, ok = strings.CutSuffix(what, "."); !begins || !ok || c.Group != "" {
		return Beside{}, false
	}
	for i := range c.Documents {
		if d := &c.Documents[i]; d.Name == nextDocument {
			b.Next = d.Text
		} else {
			b.Output = d.Text
		}
	}
	return b, true
}
