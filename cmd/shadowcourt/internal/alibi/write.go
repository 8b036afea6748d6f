package alibi

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// writer writes answers in one format, each as soon as it stands.
type writer struct {
	format string
	out    io.Writer
	trees  *investigate.Change
	width  int // of the names of tests

	// Rows that say the same are one.
	held  *alibi.Answer
	names []string
	spent time.Duration
}

func newWriter(format string, out io.Writer, t *investigate.Change, failures []docket.Entry) *writer {
	w := &writer{format: format, out: out, trees: t, width: leastWidth}
	for i := range failures {
		c := &failures[i].Case
		w.width = min(max(w.width, utf8.RuneCountInString(sanitize.Line(alibi.NameOf(c.ID, c.Group)))), mostWidth)
	}
	return w
}

// The width of the column of tests, in runes.
const (
	leastWidth = 12
	mostWidth  = 48
)

func (w *writer) begin() {
	base := fmt.Sprintf("%.12s (%s)", w.trees.Base.Commit, sanitize.Line(w.trees.Base.Why))
	switch w.format {
	case "table":
		fmt.Fprintf(w.out, "Base: %s\n", base)
	case "md":
		fmt.Fprintf(w.out, "Base: `%.12s` (%s)\n\n| test | answer | why | seconds |\n| --- | --- | --- | ---: |\n", w.trees.Base.Commit, markdown(w.trees.Base.Why))
	}
}

// line is an answer as a line of JSON.
type line struct {
	*alibi.Answer
	Base    string  `json:"base"`
	Head    string  `json:"head"`
	Seconds float64 `json:"seconds"`
}

func (w *writer) write(a *alibi.Answer, spent time.Duration) error {
	if w.format == "jsonl" {
		return json.NewEncoder(w.out).Encode(line{a, w.trees.Base.Commit, w.trees.Head, spent.Round(time.Millisecond).Seconds()})
	}
	if h := w.held; h != nil && h.Verdict == a.Verdict && h.Label == a.Label && h.Why == a.Why && h.Message == a.Message && h.Message != "" {
		w.names, w.spent = append(w.names, a.Test), w.spent+spent
		return nil
	}
	err := w.flush()
	w.held, w.names, w.spent = a, []string{a.Test}, spent
	return err
}

// flush writes the row that is held back.
func (w *writer) flush() error {
	a := w.held
	if a == nil {
		return nil
	}
	w.held = nil
	name := w.names[0]
	if more := len(w.names) - 1; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	seconds := fmt.Sprintf("%.0f s", max(w.spent.Seconds(), 1))
	if w.format == "md" {
		_, err := fmt.Fprintf(w.out, "| `%s` | **%s** | %s | %s |\n", code(name), a.Verdict, markdown(says(a)), seconds)
		return err
	}
	verdict := string(a.Verdict)
	if a.Verdict == alibi.IsYours {
		verdict = "YOURS"
	}
	_, err := fmt.Fprintf(w.out, "%-*s  %-9s  %s  %s\n", w.width, sanitize.Line(name), verdict, sanitize.Line(says(a)), seconds)
	return err
}

// says is what an answer says behind its verdict.
func says(a *alibi.Answer) string {
	var parts []string
	if c := a.Culprit; c != nil {
		since := fmt.Sprintf("since %.12s %q (%s)", c.Commit, c.Title, c.Author)
		if !c.Verified {
			since = "probably " + since
		}
		parts = append(parts, since)
	}
	switch {
	case a.Part != "":
		parts = append(parts, string(a.Part)+": "+a.Why)
	case a.Verdict == alibi.NotYours:
		parts = append(parts, a.Label+": "+a.Why)
	default:
		parts = append(parts, a.Why)
	}
	text := strings.Join(parts, "; ")
	if a.Verdict == alibi.IsOpen && a.Next != "" {
		text += "; " + a.Next
	}
	return text
}

// end writes what is held back, and a sentence for people.
func (w *writer) end(s *summary) error {
	err := w.flush()
	if w.format != "table" && w.format != "md" || err != nil {
		return err
	}
	sentence := cli.Count(s.yours, "failure is yours", "failures are yours")
	if s.yours == 0 {
		sentence = "No failure is yours"
	}
	sentence += fmt.Sprintf(", %d not yours, %d open.", s.not, s.open)
	_, err = fmt.Fprintf(w.out, "\n%s\n", sentence)
	return err
}

// markdown is a text in a table of Markdown; code is one between backticks there.
func markdown(text string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", ">", "&gt;", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[").Replace(sanitize.Line(text))
}

func code(text string) string {
	return strings.NewReplacer("|", "\\|", "`", "'").Replace(sanitize.Line(text))
}
