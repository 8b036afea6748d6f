package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Pages read no rows of cases that they don't show: SQLite takes the indexes that are made for them.
func TestPagesUseIndexes(t *testing.T) {
	t.Parallel()
	s := openLite(t)
	const open = `correction = 0 AND status <> '' AND doubt >= 0.2`
	for query, want := range map[string]string{
		`SELECT grp, count(*), sum(doubt), sum(member_count), count(DISTINCT docket), max(created) FROM entries WHERE ` + open + ` AND repository = 'x' AND label = 'y' GROUP BY grp`: "COVERING INDEX entries_inbox",
		`SELECT grp || '', count(*), count(DISTINCT docket) FROM entries WHERE ` + open + ` AND instr(words, 'x') > 0 AND docket > 0 GROUP BY 1`:                                      "INDEX entries_waiting",
		`SELECT subject FROM entries WHERE ` + open + ` AND grp = 'x' ORDER BY docket DESC, ordinal LIMIT 50`:                                                                         "INDEX entries_inbox",
		`SELECT 1 FROM entries WHERE ` + open + ` AND grp = 'x' AND docket = 1`:                                                                                                       "COVERING INDEX entries_inbox",
		`SELECT subject FROM entries WHERE generation = 1 AND beside_status <> '' AND (beside_status <> status OR beside_label <> label) ORDER BY docket DESC, ordinal LIMIT 100`:     "INDEX entries_flipped",
		`UPDATE entries SET correction = 1 WHERE (docket, ordinal) IN (SELECT docket, ordinal FROM correction_entries WHERE correction = 1)`:                                          "SEARCH entries USING",
	} {
		plan, err := s.Plan(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, want) || strings.Contains(text, "TEMP B-TREE FOR ORDER") {
			t.Errorf("%s:\n%s", query, text)
		}
	}
}

// TestAccept_HS3_TheQueueIsUsedByItsAPI: no statement of the service names a table of River.
func TestAccept_HS3_TheQueueIsUsedByItsAPI(t *testing.T) {
	t.Parallel()
	table := regexp.MustCompile(`(?i)\b(?:from|into|update|join|table)\s+river_`)
	files := 0
	must(t, filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if found := table.Find(text); found != nil || strings.Contains(string(text), "river_"+"job") {
			t.Errorf("%s reads or writes tables of the queue: %q", path, found)
		}
		return err
	}))
	if files < 50 {
		t.Errorf("only %d files were read", files)
	}
}
