package render_test

import (
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// A table that goes to no terminal has 120 columns; ABOUT gives way, but not so far that it can't be read, and ids stay whole.
func TestATableOfNoTerminal(t *testing.T) {
	t.Parallel()
	for idBytes, most := range map[int]int{20: 120, 70: 166} {
		id := strings.Repeat("i", idBytes)
		got := tabled(t, 0, &trial.Trial{
			Case: abi.Case{ID: id, Subject: strings.Repeat("about ", 40)},
			Result: trial.Result{
				ID: id, Light: &trial.Answer{Classification: "label", Confidence: 0.7},
				Final: trial.Final{Status: trial.Affirmed, Classification: "label", Confidence: 0.79999},
			},
		})
		if !strings.Contains(got, id+"  ") || !strings.Contains(got, strings.Repeat("about ", 9)) {
			t.Errorf("what is searched for is cut:\n%s", got)
		}
		for line := range strings.Lines(got) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > most {
				t.Errorf("%d columns: %s", n, line)
			}
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
		got := tabled(t, 0, &trial.Trial{LabelNames: c.names, Result: trial.Result{
			ID: "a", Light: &trial.Answer{Classification: "pb001", Confidence: 0.7},
			Final: trial.Final{Status: trial.Affirmed, Classification: "pb001", Confidence: 0.7},
		}})
		if !strings.Contains(got, c.want+"  "+c.want) {
			t.Errorf("%v: want %q twice in\n%s", c.names, c.want, got)
		}
	}
}

// What people read has names of labels and enough of a failure's message at any width.
func TestAccept_FZ5_NarrowTablesNameLabels(t *testing.T) {
	t.Parallel()
	const message = "cart_test.go:10: Not equal: expected 3, actual 2"
	for width, about := range map[int]int{0: len(message), 60: 0, 80: 22, 100: 22} {
		got := tabled(t, width, &trial.Trial{
			Case: abi.Case{Subject: message}, LabelNames: map[string]string{"ab001": "automation bug, the test is wrong"},
			Result: trial.Result{
				ID: strings.Repeat("i", 70), Light: &trial.Answer{Classification: "ab001", Confidence: 0.7},
				Final: trial.Final{Status: trial.Affirmed, Classification: "ab001", Confidence: 0.7},
			},
		})
		table, _, _ := strings.Cut(got, "\n\n")
		if !strings.Contains(table, "automation bug 0.70") || strings.Contains(table, "ab001") || !strings.Contains(table, message[:about]) {
			t.Errorf("width %d:\n%s", width, table)
		}
	}
}
