package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

var labelNames = map[string]string{"pb001": "product bug", "ab001": "automation bug, the test is wrong", "si001": "system issue", "nd001": "no defect, flaky"}

// Lines of the long log: what is quoted, and how many there are.
const (
	longLines  = 6000
	quotedLine = 4217
)

// longCase has a long log, a diff, and items that quote both.
func longCase() docket.Entry {
	var log strings.Builder
	for n := 1; n <= longLines; n++ {
		switch n {
		case 12:
			log.WriteString("store: opening /tmp/store-812/index with 4 shards\n")
		case quotedLine - 1:
			log.WriteString("=== RUN   TestCompactKeepsLatest\n")
		case quotedLine:
			log.WriteString("    compact_test.go:88: key \"orders/17\": got revision 3, want 4 after compaction\n")
		case quotedLine + 1:
			log.WriteString("--- FAIL: TestCompactKeepsLatest (0.41s)\n")
		default:
			fmt.Fprintf(&log, "%06d store: shard %d flushed %d entries in %dus\n", n, n%4, n*37%4096, n*13%900)
		}
	}
	diff := `diff --git a/store/compact.go b/store/compact.go
index 3f1c2aa..9b0d771 100644
--- a/store/compact.go
+++ b/store/compact.go
@@ -41,9 +41,9 @@ func (s *Shard) compact(from, to *segment) error {
 	for it := from.iterator(); it.next(); {
 		key, rev := it.key(), it.revision()
-		if last, ok := seen[key]; ok && last >= rev {
+		if _, ok := seen[key]; ok {
 			continue
 		}
 		seen[key] = rev
 		if err := to.append(key, rev, it.value()); err != nil {
 			return fmt.Errorf("compact %s: %w", from.name, err)
`
	return docket.Entry{
		Case: abi.Case{
			ID: "store/TestCompactKeepsLatest", Group: "store", Subject: `compact_test.go:88: key "orders/17": got revision 3, want 4 after compaction`,
			Labels: []string{"pb001", "ab001", "si001", "nd001"},
			Light:  &abi.LightAnswer{Classification: "pb001", Confidence: 0.58, Reasoning: "The assertion compares a value that the package computes."},
			Evidence: []abi.Evidence{
				{SourceRef: fmt.Sprintf("log:L%d", quotedLine), Content: `    compact_test.go:88: key "orders/17": got revision 3, want 4 after compaction`, RelevanceConfidence: 0.8, Supports: "pb001"},
				{SourceRef: fmt.Sprintf("log:L%d", quotedLine+1), Content: "--- FAIL: TestCompactKeepsLatest (0.41s)", RelevanceConfidence: 0.3, Element: "fire"},
				{SourceRef: "change.diff:L8", Content: "+		if _, ok := seen[key]; ok {", RelevanceConfidence: 0.7, Supports: "pb001"},
				{SourceRef: "history", Content: "The test's runs before this one, the latest last: passed, passed, passed, passed, failed.", RelevanceConfidence: 0.4, Supports: "nd001"},
			},
			Documents: []abi.Document{{Name: "log", Text: log.String()}, {Name: "change.diff", Text: diff}},
		},
		LabelNames: labelNames, Source: "nightly.json", Line: 1,
	}
}

// experiments are those of the trial of the long case.
var experiments = []trial.Experiment{
	{Persona: "bulwark", Factors: trial.Factors{Product: abi.Base, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1}, Outcome: abi.OutcomePassed, Passed: 1},
	{Persona: "bulwark", Factors: trial.Factors{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}, Outcome: abi.OutcomeSame, Same: 5},
}

// copies gives n cases that failed in the same way, with other IDs.
func copies(e docket.Entry, n int) []docket.Entry {
	list := make([]docket.Entry, n)
	for i := range list {
		list[i] = e
		list[i].Case.ID = fmt.Sprintf("%s/%d", e.Case.ID, i+1)
		list[i].Truth = nil
	}
	return list
}

// filled has three dockets: the demo, some that failed in the same way, and the long case.
func filled(t testing.TB, options serviceOptions) *service {
	t.Helper()
	s := newService(t, options)
	entries := demoEntries(t)
	s.try(s.submit("nightly 2026-11-21", "github.com/acme/store", entries), nil)
	s.try(s.submit("pull request 812", "github.com/acme/gateway", copies(entries[3], 7)), nil)
	s.try(s.submit("nightly 2026-11-22", "github.com/acme/store", append([]docket.Entry{longCase()}, copies(entries[5], 3)...)), func(t *trial.Trial) {
		if t.Case.ID == longCase().Case.ID {
			t.Result.Experiments = experiments
		}
	})
	return s
}
