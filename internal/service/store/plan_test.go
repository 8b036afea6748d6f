package store_test

import (
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
		`SELECT * FROM inbox WHERE rank <= 1 AND (rank < 1 OR grp > 'x') ORDER BY rank DESC, grp LIMIT 50`:                                                                            "INDEX inbox_rank",
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
