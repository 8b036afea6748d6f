package report

import (
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
)

const (
	// MaxDocuments is how many documents a case has at most; a last one says how many more were left out.
	MaxDocuments = 16
	// MaxNameBytes is the most of a name that is taken over.
	MaxNameBytes = 512
	// Slow is how long a test takes of which the time is told.
	Slow = 3 * time.Second
)

// AboutDocument is the document that has the file of a test, and the seconds that a slow one took, each on a line behind these.
const (
	AboutDocument = "testcase"
	FilePrefix    = "file="
	TimePrefix    = "time="
)

// Again ends the subject of a test that passed when it was run again.
const Again = ", and passes when run again"

// Bounded is a name as valid UTF-8 of bounded length.
func Bounded(name string) string {
	if len(name) > MaxNameBytes {
		name = strings.ToValidUTF8(name[:MaxNameBytes], "") + "…"
	}
	return strings.ToValidUTF8(strings.TrimSpace(name), "\uFFFD")
}

// Subject says that a test fails; both names are bounded. The group is that of the test, or empty.
func Subject(name, group string, flaky bool) string {
	said := name + " fails"
	if group != "" {
		said += " in " + group
	}
	if flaky {
		said += Again
	}
	return said
}

// Documents are those of one test, in the order in which they were added: first what the report says of the failure, then what the test
// printed. The zero value has none.
type Documents struct {
	reported, printed []abi.Document
	names             map[string]int // how often a name was asked for
	omitted           int            // beyond the most
}

// Name is a name that no other document has: that of the element, with a number from the second on.
func (d *Documents) Name(element string) string {
	if d.names == nil {
		d.names = map[string]int{}
	}
	d.names[element]++
	if n := d.names[element]; n > 1 {
		return element + "-" + strconv.Itoa(n)
	}
	return element
}

// Report adds what the report says; nothing for an empty text.
func (d *Documents) Report(name string, text *stream.Clip) {
	d.reported = d.add(d.reported, name, text)
}

// Print adds what the test printed; nothing for an empty text.
func (d *Documents) Print(name string, text *stream.Clip) { d.printed = d.add(d.printed, name, text) }

func (d *Documents) add(to []abi.Document, name string, from *stream.Clip) []abi.Document {
	text := strings.TrimRight(strings.TrimLeft(from.Text(), "\r\n"), " \t\r\n")
	switch {
	case text == "":
		return to
	case len(d.reported)+len(d.printed) >= MaxDocuments:
		d.omitted++
		return to
	}
	return append(to, abi.Document{Name: name, Text: text + "\n"})
}

// Reported are the documents with what the report says.
func (d *Documents) Reported() []abi.Document { return d.reported }

// Fill gives a case its labels, documents, evidence and first classification. file is what the report names for the test, elapsed how
// long it took; both may be zero.
func (d *Documents) Fill(c *abi.Case, file string, elapsed time.Duration) {
	documents := append(append([]abi.Document{}, d.reported...), d.printed...)
	if d.omitted > 0 {
		documents = append(documents, abi.Document{
			Name: "omitted", Text: "[... " + strconv.Itoa(d.omitted) + " more outputs cut here ...]\n",
		})
	}
	docket.CutDocuments(documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	light := Classify(c.Group, d.reported, d.printed)
	c.Labels, c.Light, c.Evidence = Labels(), &light, Cut(c.Group, documents)
	if text := about(file, elapsed); text != "" {
		documents = append(documents, abi.Document{Name: AboutDocument, Text: text})
	}
	c.Documents = documents
}

// about is the text of the document about the test; empty where there is nothing to tell.
func about(file string, elapsed time.Duration) string {
	text := ""
	if file != "" {
		text = FilePrefix + file + "\n"
	}
	if elapsed > 0 {
		text += TimePrefix + strconv.FormatFloat(elapsed.Seconds(), 'f', 1, 64) + "\n"
	}
	return text
}
