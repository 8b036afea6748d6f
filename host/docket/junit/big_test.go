package junit_test

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// repeat is a text without end.
type repeat struct {
	text string
	at   int
}

func (r *repeat) Read(b []byte) (int, error) {
	n := copy(b, r.text[r.at:])
	r.at = (r.at + n) % len(r.text)
	return n, nil
}

// watch looks at the world each time so many bytes were read.
type watch struct {
	in          io.Reader
	every, left int
	look        func()
}

func (w *watch) Read(b []byte) (int, error) {
	n, err := w.in.Read(b)
	if w.left -= n; w.left <= 0 {
		w.left = w.every
		w.look()
	}
	return n, err
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// These are not parallel: they look at the memory of the process.

func TestAccept_CLI6_ABigTextIsCutHeadAndTailWithAMark(t *testing.T) {
	line := strings.Repeat("all is well ", 80) + "\n"
	for name, in := range map[string]struct {
		begin, repeated, end string
		size                 int
	}{
		"plain":           {"", line, "", 100 << 20},
		"without a break": {"", "all is well &amp; ", "", 20 << 20},
		"CDATA":           {"<![CDATA[", "all <is> well ]] &\r\n", "]]>", 20 << 20},
		"of three bytes":  {"", "よし", "", 20 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			size := in.size / len(in.repeated) * len(in.repeated)
			stream := io.MultiReader(
				strings.NewReader(`<testsuite><testcase name="a"><failure>the first line`+"\n"+in.begin),
				io.LimitReader(&repeat{text: in.repeated}, int64(size)),
				strings.NewReader(in.end+"\nAssertionError: got 1, want 2\n</failure></testcase></testsuite>"),
			)
			var most uint64
			before := heap()
			cases, problems := read(t, &junit.Reader{}, &watch{in: stream, every: 5 << 20, look: func() { most = max(most, heap()) }})
			if len(cases) != 1 || len(problems) > 0 {
				t.Fatalf("%d cases, problems %v", len(cases), problems)
			}
			if most > before+4<<20 {
				t.Errorf("reading holds %d bytes, and the text is no more than 512 KiB", most-before)
			}
			text := cases[0].Documents[0].Text
			if len(text) > 513<<10 || !strings.HasPrefix(text, "the first line\n") || !strings.HasSuffix(text, "got 1, want 2\n") {
				t.Errorf("the text has %d bytes, or lost its head or tail", len(text))
			}
			if strings.Count(text, " bytes cut here ...]\n") != 1 {
				t.Error("no line says how much was cut")
			}
			if cases[0].Light.Confidence != 0.60 {
				t.Errorf("Light says %+v: it did not see the tail", cases[0].Light)
			}
		})
	}
}

func TestPassingTestsLeaveNothing(t *testing.T) {
	passing := `<testcase classname="c" name="a"><system-out>` + strings.Repeat("x", 4000) + `</system-out></testcase>`
	stream := io.MultiReader(
		strings.NewReader("<testsuite>"), io.LimitReader(&repeat{text: passing}, int64(5000*len(passing))), strings.NewReader("</testsuite>"),
	)
	var most uint64
	before := heap()
	cases, problems := read(t, &junit.Reader{}, &watch{in: stream, every: 5 << 20, look: func() { most = max(most, heap()) }})
	if len(cases) > 0 || len(problems) > 0 || most > before+4<<20 {
		t.Errorf("%d cases, problems %v, %d bytes held", len(cases), problems, most-before)
	}
}
