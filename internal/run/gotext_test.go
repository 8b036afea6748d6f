package run

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAccept_IG4_GoTestText reads what `go test` printed for people, with -v and without, and its events: the same failures come of all.
func TestAccept_IG4_GoTestText(t *testing.T) {
	t.Parallel()
	read := func(name string) (ids, notes []string, passed int) {
		d, err := OpenDockets(t.Context(), nil, []string{filepath.Join("testdata", "gotext", name)}, Auto)
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join("testdata", "gotext", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for entry, err := range d.Entries("") {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, entry.Case.ID)
			pack, test, _ := strings.Cut(entry.Case.ID, ".Test")
			if at := lines[max(0, entry.Line-1)]; entry.Line == 0 || !strings.Contains(at, test) && !strings.Contains(at, pack) || !strings.Contains(strings.ToLower(at), "fail") {
				t.Errorf("%s: %s is said to end at line %d, %q", name, entry.Case.ID, entry.Line, at)
			}
		}
		if !d.Only(GoTest) {
			t.Errorf("%s is of another format", name)
		}
		slices.Sort(ids)
		return ids, d.Notes(), len(d.Passed)
	}
	want, notes, passed := read("events.json")
	if len(want) != 10 || len(notes) > 0 || passed != 1 {
		t.Fatalf("%q, notes %q, %d passed", want, notes, passed)
	}
	for _, name := range []string{"plain.txt", "verbose.txt"} {
		got, notes, passed := read(name)
		if diff := cmp.Diff(want, got); diff != "" || passed != 1 || len(notes) != 1 || !strings.Contains(notes[0], "what `go test` prints for people") {
			t.Errorf("%s: %s\n%d passed, notes %q", name, diff, passed, notes)
		}
	}
}

func TestGoTextThatIsCut(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*sniffBytes)
	for text, want := range map[string]string{
		"--- FAIL: TestA (0.00s)\n    a_test.go:3: no\n":                                             ".TestA",
		"FAIL\tp [build failed]\n" + events:                                                          "p p.T",
		"# p\na.go:1:2: no\nprinted\n--- FAIL: TestA (0.00s)\nFAIL\tq\t0.1s\nFAIL\tp [build failed]": "q.TestA p",
		"--- FAIL: TestA (0.00s)\n" + long + "\r\nFAIL\r\nFAIL\tp\t0.1s\r\n":                         "p.TestA",
		"ok  \tp\t0.1s\nok  \tq\t(cached)\n":                                                         "",
		"?   \tp\t[no test files]\n":                                                                 "",
	} {
		d, err := One("x.txt", strings.NewReader(text), Auto)
		if err != nil {
			t.Error(err)
			continue
		}
		var ids []string
		for entry, err := range d.Entries("") {
			if err != nil {
				ids = append(ids, err.Error())
				continue
			}
			ids = append(ids, entry.Case.ID)
		}
		if diff := cmp.Diff(want, strings.Join(ids, " ")); diff != "" {
			t.Errorf("%.60q: %s", text, diff)
		}
	}
}

// FuzzGoText holds that any text becomes events, each a line of JSON or a line of the text.
func FuzzGoText(f *testing.F) {
	for _, name := range []string{"plain.txt", "verbose.txt"} {
		data, err := os.ReadFile(filepath.Join("testdata", "gotext", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add("# p\na.go:1:2: no\n    --- FAIL: T/a (0.00s)\n=== NAME  \n===  \n{\"Action\":\"fail\"}\nFAIL\tp [setup failed]\n")
	f.Fuzz(func(t *testing.T, text string) {
		g := &goText{in: bufio.NewReaderSize(strings.NewReader(text), 16), lines: map[int]int{}}
		given, err := io.ReadAll(g)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(given)) {
			if strings.HasPrefix(line, "{") && !json.Valid([]byte(line)) && !strings.Contains(text, strings.TrimRight(line, "\n")) {
				t.Errorf("%q", line)
			}
		}
		for event, line := range g.lines {
			if event < 1 || event > g.events || line < 1 || line > g.line {
				t.Errorf("event %d of %d is of line %d of %d", event, g.events, line, g.line)
			}
		}
	})
}
