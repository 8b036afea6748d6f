// Package readers has what the tests of the readers of test reports share.
package readers

import (
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "write what the tests see to testdata")

// Reader reads reports of one format.
type Reader interface {
	Read(name string, in io.Reader) iter.Seq2[docket.Entry, error]
}

// Cases gives the cases of a report, and its problems as they are printed.
func Cases(r Reader, name string, in io.Reader) (cases []abi.Case, problems []string) {
	for entry, err := range r.Read(name, in) {
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		cases = append(cases, entry.Case)
	}
	return cases, problems
}

// Golden compares the cases of a report with a file that a person can review; reader makes a new reader.
func Golden(t *testing.T, report, golden string, reader func() Reader) {
	t.Helper()
	t.Run(filepath.Base(report), func(t *testing.T) {
		t.Parallel()
		got := render(t, report, reader())
		if *update {
			must.Do(t, os.WriteFile(golden, []byte(got), 0o600))
		}
		want := must.Get(os.ReadFile(golden))(t)
		check.Same(t, cmp.Diff(string(want), got), golden, "(-want +got)")
	})
}

func render(t *testing.T, report string, reader Reader) string {
	t.Helper()
	in := must.Get(os.Open(report))(t)
	defer in.Close()
	var b strings.Builder
	for entry, err := range reader.Read(filepath.Base(report), in) {
		if err != nil {
			fmt.Fprintf(&b, "error %v\n\n", err)
			continue
		}
		c := entry.Case
		fmt.Fprintf(&b, "case %s (%s:%d)\n  group %s: %s\n  labels %v\n", c.ID, entry.Source, entry.Line, c.Group, c.Subject, c.Labels)
		subject := trial.Trial{Case: c, Result: trial.Result{ID: c.ID}}
		fmt.Fprintf(&b, "  about %s\n", subject.Message())
		if entry.Truth != nil {
			fmt.Fprintf(&b, "  truth %s\n", entry.Truth.Classification)
		}
		fmt.Fprintf(&b, "  light %s %.2f %s\n", c.Light.Classification, c.Light.Confidence, c.Light.Reasoning)
		for _, e := range c.Evidence {
			fmt.Fprintf(&b, "  %s %.2f %s %q\n", e.SourceRef, e.RelevanceConfidence, e.Element, e.Supports)
			writeLines(&b, e.Content)
		}
		for _, d := range c.Documents {
			fmt.Fprintf(&b, "  document %s of %d bytes\n", d.Name, len(d.Text))
			if len(d.Text) <= maxShown {
				writeLines(&b, d.Text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// maxShown is how long a document may be that a golden file shows whole.
const maxShown = 1000

func writeLines(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(b, "    | %s\n", line)
	}
}

// Check holds that a case is one that the contract allows, and that every excerpt stands in its document.
func Check(t *testing.T, c *abi.Case) {
	t.Helper()
	if c.ID == "" || c.Subject == "" || !utf8.ValidString(c.ID+c.Subject+c.Group) {
		t.Errorf("case %q has no sound id, subject and group", c.ID)
	}
	if c.Light == nil || c.Light.Confidence <= 0 || c.Light.Confidence >= 1 || c.Evidence == nil || c.Documents == nil {
		t.Errorf("case %q has no sound answer of Light, or no list of evidence or documents", c.ID)
	}
	texts := map[string]string{}
	for _, d := range c.Documents {
		if d.Name == "" || !utf8.ValidString(d.Name+d.Text) {
			t.Errorf("document %q of case %q is no valid UTF-8", d.Name, c.ID)
		}
		if _, twice := texts[d.Name]; twice {
			t.Errorf("case %q has two documents %q", c.ID, d.Name)
		}
		texts[d.Name] = d.Text
	}
	for _, e := range c.Evidence {
		name, _, _ := strings.Cut(e.SourceRef, ":")
		if e.Content == "" || !utf8.ValidString(e.Content) || !strings.Contains(texts[name], e.Content) {
			t.Errorf("case %q: %s quotes %q, which is not there", c.ID, e.SourceRef, e.Content)
		}
	}
}

// Repeat is a text again and again, of about so many bytes.
func Repeat(text string, bytes int) io.Reader {
	return io.LimitReader(&repeat{text: text}, int64(bytes/len(text)*len(text)))
}

type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// Big is Cases, and tells how many bytes the process holds more at most while it reads. The test must not be parallel.
func Big(r Reader, name string, in io.Reader) (cases []abi.Case, problems []string, held int64) {
	w := &watch{in: in, before: heap()}
	cases, problems = Cases(r, name, w)
	return cases, problems, w.most
}

// watch looks at the memory each time that 5 MiB were read.
type watch struct {
	in           io.Reader
	left         int
	before, most int64
}

func (w *watch) Read(b []byte) (int, error) {
	n, err := w.in.Read(b)
	if w.left -= n; w.left <= 0 {
		w.left = 5 << 20
		w.most = max(w.most, heap()-w.before)
	}
	return n, err
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// CheckAll reads a report, and holds that each case is sound and has an id of its own, and that nothing follows an error. It says whether
// there was one.
func CheckAll(t *testing.T, r Reader, report string) (rejected bool) {
	t.Helper()
	seen := map[string]bool{}
	for entry, err := range r.Read("report", strings.NewReader(report)) {
		if rejected {
			t.Fatal("something follows an error")
		}
		if err != nil {
			rejected = true
			continue
		}
		if seen[entry.Case.ID] {
			t.Errorf("case id %q was given before", entry.Case.ID)
		}
		seen[entry.Case.ID] = true
		Check(t, &entry.Case)
	}
	return rejected
}
