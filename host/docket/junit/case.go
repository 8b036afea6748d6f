package junit

import (
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// maxNameBytes is the most of a name that is taken over.
const maxNameBytes = 512

// test is a test case as far as it was read.
type test struct {
	line        int
	name, class string
	file        string
	unnamed     bool // the name is that of its class or file
	failed      bool
	skipped     bool
	flaky       bool // and passed when it was run again
	elapsed     time.Duration

	reported, printed []abi.Document
	names             map[string]int // how often an element stood
	omitted           int            // documents beyond the most
}

// output is a text that will be a document.
type output struct {
	name string
	text stream.Clip
}

// outcome is a run that failed.
type outcome struct {
	kind, class, message string
	text                 stream.Clip
}

// write takes the text of the outcome, but for the blanks between the elements in it.
func (o *outcome) write(text string) {
	if !o.text.Empty() || strings.TrimSpace(text) != "" {
		o.text.Write(text)
	}
}

// clip is the text of the outcome, behind what only its attributes say. Of a run that was not the first, the kind stands
// before all.
func (o *outcome) clip() stream.Clip {
	text := o.text.Text()
	said := strings.TrimSpace(o.message)
	first, _, _ := strings.Cut(said, "\n")
	if strings.Contains(text, strings.TrimSpace(first)) {
		said = ""
	}
	if o.class != "" && !strings.Contains(text, o.class) && !strings.Contains(said, o.class) {
		said = strings.TrimSuffix(o.class+": "+said, ": ")
	}
	if said != "" {
		said += "\n"
	}
	if o.kind != "failure" && o.kind != "error" {
		said = o.kind + ":\n" + said
	}
	if said == "" {
		return o.text
	}
	whole := stream.NewClip(o.text.MaxHead, o.text.MaxTail)
	whole.Write(said)
	whole.Write(strings.TrimLeft(text, "\r\n"))
	return whole
}

// documentName is the name of the element, with a number from the second on.
func (c *test) documentName(element string) string {
	if c.names == nil {
		c.names = map[string]int{}
	}
	c.names[element]++
	if n := c.names[element]; n > 1 {
		return element + "-" + strconv.Itoa(n)
	}
	return element
}

func (c *test) report(o output) { c.reported = c.add(c.reported, o) }
func (c *test) print(o output)  { c.printed = c.add(c.printed, o) }

func (c *test) add(to []abi.Document, o output) []abi.Document {
	text := strings.TrimRight(strings.TrimLeft(o.text.Text(), "\r\n"), " \t\r\n")
	switch {
	case text == "":
		return to
	case len(c.reported)+len(c.printed) >= MaxDocuments:
		c.omitted++
		return to
	}
	return append(to, abi.Document{Name: o.name, Text: text + "\n"})
}

// give makes a case of a test case that failed, which goes on when the runs of its test are known.
func (p *parser) give(s *suite, c *test) error {
	if !c.failed {
		return nil
	}
	full := fullName(c)
	c.name, c.class = bounded(c.name), bounded(c.class)
	if s.onlySubtestsFailed(c) {
		return nil
	}
	group := s.group(c)
	documents := append(append([]abi.Document{}, c.reported...), c.printed...)
	if c.omitted > 0 {
		documents = append(documents, abi.Document{
			Name: "omitted", Text: "[... " + strconv.Itoa(c.omitted) + " more outputs cut here ...]\n",
		})
	}
	docket.CutDocuments(documents, abi.DefaultDocumentBytes, abi.DefaultCaseDocumentBytes)
	light := testlog.Classify(group, c.reported, c.printed)
	evidence := testlog.Cut(group, documents)
	about := Test{Elapsed: c.elapsed}
	if c.file != group && c.file != c.name && bounded(c.file) == c.file {
		about.File = c.file
	}
	if text := about.about(); text != "" {
		documents = append(documents, abi.Document{Name: AboutDocument, Text: text})
	}
	entry := docket.Entry{
		Case: abi.Case{
			ID: p.reader.ids.Unique(c.id(group)), Group: group, Subject: c.subject(group), Labels: testlog.Labels(),
			Evidence: evidence, Documents: documents, Light: &light,
		},
		Source: p.name, Line: c.line,
	}
	return p.hold(s, heldCase{entry, full, namesAreUnique(c.reported), c.flaky})
}

// group is what a test belongs to: its class, and where that says nothing its suite or its file.
func (s *suite) group(c *test) string {
	group := bounded(c.class)
	if group == "" || group == bounded(c.name) {
		group = bounded(s.name)
	}
	if file := bounded(c.file); group == "" && file != bounded(c.name) {
		group = file
	}
	return group
}

// id is the test's full name. Some producers write it whole as the class and as the name.
func (c *test) id(group string) string {
	switch {
	case c.name == "":
		return group
	case c.class == c.name || group == "":
		return c.name
	default:
		return group + "." + c.name
	}
}

// again ends the subject of a test that did.
const again = ", and passes when run again"

func (c *test) subject(group string) string {
	switch {
	case c.name == "" && group == "":
		return "a test fails"
	case c.name == "":
		return group + " fails outside its tests"
	case c.flaky && group == "":
		return c.name + " fails" + again
	case c.flaky:
		return c.name + " fails in " + group + again
	case group == "":
		return c.name + " fails"
	default:
		return c.name + " fails in " + group
	}
}

// onlySubtestsFailed says whether a test of Go failed for no other reason than that its subtests did, which are cases of
// their own. Its output begins as Go's does, and its subtests stand before it.
func (s *suite) onlySubtestsFailed(c *test) bool {
	full := c.class + "\x00" + c.name
	if i := strings.LastIndexByte(full, '/'); i > len(c.class) {
		s.parents[full[:i]] = true
	}
	if !s.parents[full] || len(c.reported) != 1 {
		return false
	}
	text := c.reported[0].Text
	return strings.Contains(text, "=== RUN ") && !strings.Contains(text, "\npanic: ") && !strings.Contains(text, "WARNING: DATA RACE")
}

// bounded is a name as valid UTF-8 of bounded length.
func bounded(name string) string {
	if len(name) > maxNameBytes {
		name = strings.ToValidUTF8(name[:maxNameBytes], "") + "…"
	}
	return strings.ToValidUTF8(strings.TrimSpace(name), "\uFFFD")
}
