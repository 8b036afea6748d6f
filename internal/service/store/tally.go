package store

import (
	"context"
	"slices"
	"strings"
)

// Pages show counts of many results. The table tallies has how many results of a docket are alike, kept by each transaction that changes
// entries with a result. It locks the rows of its dockets first, so that what it reads of their entries stays as it is.

// needsPerson is the condition of entries that are in the inbox, as the index entries_inbox has it: databases compare the text.
const needsPerson = `correction = 0 AND status <> '' AND doubt >= 0.2`

// flipped is the condition of entries that a canary's court ended otherwise, as the index entries_flipped has it.
const flipped = `beside_status <> '' AND (beside_status <> status OR beside_label <> label)`

// countResults counts the entries e that {condition} selects, each as often as {sign} says: they are taken away with -1.
const countResults = `SELECT docket, generation, status, label, light_label, truth, corrected, open,
		CASE WHEN truth <> '' AND label <> '' THEN hundredths ELSE 0 END, {sign} * count(*),
		{sign} * sum(CASE WHEN truth <> '' AND label <> '' THEN confidence ELSE 0 END),
		CAST({sign} * sum(micros) AS BIGINT), CAST({sign} * sum(fuel) AS BIGINT)
	FROM (SELECT e.docket, e.generation, e.status, e.label, e.light_label, e.confidence, CAST(floor(100 * e.confidence + 0.5) AS BIGINT) AS hundredths,
			CASE WHEN e.correction <> 0 THEN e.corrected ELSE e.known END AS truth,
			CASE WHEN e.correction <> 0 THEN 1 ELSE 0 END AS corrected,
			CASE WHEN e.correction = 0 AND e.doubt >= 0.2 THEN 1 ELSE 0 END AS open,
			coalesce(v.micros, 0) AS micros, coalesce(v.fuel, 0) AS fuel
		FROM entries e LEFT JOIN verdicts v ON v.key = e.verdict WHERE e.status <> '' AND {condition}) results
	GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9`

// retally changes entries e of some dockets that a condition selects, and what is counted of them.
func (t *tx) retally(ctx context.Context, dockets []int64, condition string, args []any, change func() error) error {
	ids := anys(slices.Compact(slices.Sorted(slices.Values(dockets))))
	t.lockDockets(ctx, ids)
	t.tally(ctx, "-1", condition, args)
	if err := change(); err != nil {
		return err
	}
	t.tally(ctx, "1", condition, args)
	for chunk := range slices.Chunk(ids, insertRows) {
		t.runIn(ctx, `DELETE FROM tallies WHERE entries = 0 AND `, "docket", chunk, ``)
	}
	return t.err
}

func (t *tx) tally(ctx context.Context, sign, condition string, args []any) {
	t.run(ctx, `INSERT INTO tallies (docket, generation, status, label, light, truth, corrected, open, confidence, entries, stated, micros, fuel) `+
		strings.NewReplacer("{sign}", sign, "{condition}", condition).Replace(countResults)+
		` ON CONFLICT (docket, generation, status, label, light, truth, corrected, open, confidence) DO UPDATE SET
			entries = tallies.entries + excluded.entries, stated = tallies.stated + excluded.stated,
			micros = tallies.micros + excluded.micros, fuel = tallies.fuel + excluded.fuel`, args...)
}

// runIn runs a statement on the rows whose column has one of some values.
func (t *tx) runIn(ctx context.Context, before, column string, values []any, after string) {
	t.run(ctx, before+column+` IN (`+places(1, len(values))+`)`+after, values...)
}

// lockDockets makes transactions that change entries of the same dockets, which are sorted, take turns. SQLite's do anyway.
func (t *tx) lockDockets(ctx context.Context, ids []any) {
	if t.db.pool == nil {
		return
	}
	for chunk := range slices.Chunk(ids, insertRows) {
		t.runIn(ctx, `SELECT id FROM dockets WHERE `, "id", chunk, ` ORDER BY id FOR NO KEY UPDATE`)
	}
}
