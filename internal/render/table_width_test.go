package render_test

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// A table that goes to no terminal has 120 columns; ABOUT gives way, but not so far that it can't be read, and ids stay whole.
func TestATableOfNoTerminal(t *testing.T) {
	t.Parallel()
	for idBytes, most := range map[int]int{20: 120, 70: 166} {
		var b strings.Builder
		w := render.NewTable(&b, render.TerminalOptions{})
		id := strings.Repeat("i", idBytes)
		err := w.Write(&trial.Trial{
			Case: abi.Case{ID: id, Subject: strings.Repeat("about ", 40)},
			Result: trial.Result{
				ID: id, Light: &trial.Answer{Classification: "label", Confidence: 0.7},
				Final: trial.Final{Status: trial.Affirmed, Classification: "label", Confidence: 0.79999},
			},
		})
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), id+"  ") || !strings.Contains(b.String(), strings.Repeat("about ", 9)) {
			t.Errorf("what is searched for is cut:\n%s", b.String())
		}
		for line := range strings.Lines(b.String()) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > most {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// On a wide terminal ABOUT takes the room that the other columns leave.
func TestAWideTerminalShowsMoreOfTheSubject(t *testing.T) {
	t.Parallel()
	about := strings.Repeat("about ", 40)
	for width, want := range map[int]int{120: 50, 200: 130, 400: 159} {
		var b strings.Builder
		w := render.NewTable(&b, render.TerminalOptions{Width: width})
		err := w.Write(&trial.Trial{
			Case:   abi.Case{ID: "a-short-id", Subject: about},
			Result: trial.Result{ID: "a-short-id", Final: trial.Final{Status: trial.Affirmed, Classification: "label", Confidence: 0.7}},
		})
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), about[:want]) {
			t.Errorf("%d columns: want %d of the subject in\n%s", width, want, b.String())
		}
	}
}

// One number looks the same wherever it stands.
func TestANumberLooksTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0.79999: "0.79", 0.8: "0.80", 0.9999: ">.99", 0.001: "<.01"} {
		r := trial.Result{Final: trial.Final{Status: trial.Affirmed, Classification: "x", Confidence: v}}
		if got := trial.Number(v); got != want {
			t.Errorf("Number(%v) = %s, want %s", v, got, want)
		}
		if got := r.End(); got != "affirmed x "+want {
			t.Errorf("End() = %s, want %s", got, want)
		}
	}
}

// A table shows labels by their names, by the whole name where two labels of a case have one short name, on a narrow terminal too.
func TestATableNamesLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names map[string]string
		want  string
	}{
		{map[string]string{"pb001": "product bug, in the code"}, "product bug 0.70"},
		{map[string]string{"pb001": "product bug, minor", "pb002": "product bug, major"}, "product bug, minor 0.70"},
		{map[string]string{"pb001": "product bug", "pb002": "product bug"}, "pb001 0.70"},
		{nil, "pb001 0.70"},
	} {
		var b strings.Builder
		w := render.NewTable(&b, render.TerminalOptions{})
		err := w.Write(&trial.Trial{LabelNames: c.names, Result: trial.Result{
			ID: "a", Light: &trial.Answer{Classification: "pb001", Confidence: 0.7},
			Final: trial.Final{Status: trial.Affirmed, Classification: "pb001", Confidence: 0.7},
		}})
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), c.want+"  "+c.want) {
			t.Errorf("%v: want %q twice in\n%s", c.names, c.want, b.String())
		}
	}
}

// What people read has names of labels and enough of a failure's message at any width.
func TestAccept_FZ5_NarrowTablesNameLabels(t *testing.T) {
	t.Parallel()
	const message = "cart_test.go:10: Not equal: expected 3, actual 2"
	for width, about := range map[int]int{0: len(message), 60: 0, 80: 22, 100: 22} {
		var b strings.Builder
		w := render.NewTable(&b, render.TerminalOptions{Width: width})
		err := w.Write(&trial.Trial{
			Case: abi.Case{Subject: message}, LabelNames: map[string]string{"ab001": "automation bug, the test is wrong"},
			Result: trial.Result{
				ID: strings.Repeat("i", 70), Light: &trial.Answer{Classification: "ab001", Confidence: 0.7},
				Final: trial.Final{Status: trial.Affirmed, Classification: "ab001", Confidence: 0.7},
			},
		})
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		table, _, _ := strings.Cut(b.String(), "\n\n")
		if !strings.Contains(table, "automation bug 0.70") || strings.Contains(table, "ab001") || !strings.Contains(table, message[:about]) {
			t.Errorf("width %d:\n%s", width, table)
		}
	}
}
