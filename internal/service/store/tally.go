package store

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// Pages show counts of many entries. Three tables keep them, by each transaction that changes entries with a result: tallies has how many
// results of a docket are alike, inbox_dockets what needs a person by group and docket, and inbox the sums of these by group. A
// transaction locks the rows of its dockets first, so that what it reads of their entries stays as it is, and then groups in the order of
// their keys.

// needsPerson is the condition of entries that are in the inbox, as the index entries_inbox has it: databases compare the text.
const needsPerson = `correction = 0 AND status <> '' AND doubt >= 0.2`

// flipped is the condition of entries that a canary's court ended otherwise, as the index entries_flipped has it.
const flipped = `beside_status <> '' AND (beside_status <> status OR beside_label <> label)`

// rankOf orders the inbox: the binary logarithm of the weight, and the latest submission in weeks. The weight is the sum of the doubts,
// each for all cases that the entry stands for, so that a group falls behind one of half its weight that is a week younger. The order of
// two groups stays as it is while time passes.
const rankOf = `(ln(weight) / 0.6931471805599453 + latest / 604800000000.0)`

// entryWeight is what an entry adds to the weight of its group.
const entryWeight = `((doubt + 0.01) * (1 + member_count))`

// Counts of the entries that {condition} selects, each as often as {sign} says: they are taken away with -1.
const (
	countResults = `SELECT docket, generation, status, label, light_label, truth, corrected, open,
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
	countWaiting = `SELECT grp, docket, {sign} * count(*), CAST({sign} * sum(1 + member_count) AS BIGINT), {sign} * sum(doubt), {sign} * sum(` + entryWeight + `), created
		FROM entries e WHERE ` + needsPerson + ` AND {condition} GROUP BY grp, docket, created`
	// sumGroups are the sums by group, without a rank; a GROUP BY is to follow.
	sumGroups = `SELECT grp, CAST(sum(entries) AS BIGINT), CAST(sum(cases) AS BIGINT), count(*), sum(doubt), sum(weight), min(created), max(created), 0
		FROM inbox_dockets`
)

// retally changes entries that a condition on e selects, and what is counted of them. The caller has locked their dockets.
func (t *tx) retally(ctx context.Context, condition string, args []any, change func() error) error {
	places, err := rowsOf(ctx, t, `SELECT DISTINCT e.grp, e.docket FROM entries e WHERE `+condition, args, func(scan scanner) (p inGroup, err error) {
		err = scan(&p.grp, &p.docket)
		return p, err
	})
	if err != nil {
		return err
	}
	t.count(ctx, "-1", condition, args)
	if err := change(); err != nil {
		return err
	}
	t.count(ctx, "1", condition, args)
	dockets, groups := map[int64]bool{}, map[string]bool{}
	for _, p := range places {
		dockets[p.docket], groups[p.grp] = true, true
	}
	for chunk := range slices.Chunk(anys(slices.Sorted(maps.Keys(dockets))), insertRows) {
		t.runIn(ctx, `DELETE FROM tallies WHERE entries = 0 AND `, "docket", chunk, ``)
		t.runIn(ctx, `DELETE FROM inbox_dockets WHERE entries = 0 AND `, "docket", chunk, ``)
	}
	for chunk := range slices.Chunk(anys(slices.Sorted(maps.Keys(groups))), insertRows) {
		t.sumGroups(ctx, chunk)
	}
	return t.err
}

// inGroup is a group within a docket.
type inGroup struct {
	grp    string
	docket int64
}

// count adds the entries to what is counted by docket, or takes them away.
func (t *tx) count(ctx context.Context, sign, condition string, args []any) {
	fill := strings.NewReplacer("{sign}", sign, "{condition}", condition)
	t.run(ctx, `INSERT INTO tallies (docket, generation, status, label, light, truth, corrected, open, confidence, entries, stated, micros, fuel) `+
		fill.Replace(countResults)+` ON CONFLICT (docket, generation, status, label, light, truth, corrected, open, confidence) DO UPDATE SET
			entries = tallies.entries + excluded.entries, stated = tallies.stated + excluded.stated,
			micros = tallies.micros + excluded.micros, fuel = tallies.fuel + excluded.fuel`, args...)
	t.run(ctx, `INSERT INTO inbox_dockets (grp, docket, entries, cases, doubt, weight, created) `+fill.Replace(countWaiting)+
		` ON CONFLICT (docket, grp) DO UPDATE SET entries = inbox_dockets.entries + excluded.entries, cases = inbox_dockets.cases + excluded.cases,
			doubt = inbox_dockets.doubt + excluded.doubt, weight = inbox_dockets.weight + excluded.weight`, args...)
}

// sumGroups sums up sorted groups again. It locks their rows first, so that of two transactions the second sees what the first has counted.
func (t *tx) sumGroups(ctx context.Context, groups []any) {
	in := inserter{
		head: `INSERT INTO inbox (grp, entries, cases, dockets, doubt, weight, first, latest, rank) VALUES `,
		tail: ` ON CONFLICT (grp) DO UPDATE SET entries = 0`,
	}
	for _, grp := range groups {
		in.add(ctx, t, grp, int64(0), int64(0), int64(0), float64(0), float64(1), int64(0), int64(0), float64(0))
	}
	in.flush(ctx, t)
	t.runIn(ctx, `INSERT INTO inbox (grp, entries, cases, dockets, doubt, weight, first, latest, rank) `+sumGroups+` WHERE `, "grp", groups,
		` GROUP BY grp ON CONFLICT (grp) DO UPDATE SET entries = excluded.entries, cases = excluded.cases, dockets = excluded.dockets,
			doubt = excluded.doubt, weight = excluded.weight, first = excluded.first, latest = excluded.latest`)
	t.runIn(ctx, `UPDATE inbox SET rank = `+rankOf+` WHERE `, "grp", groups, ``)
	t.runIn(ctx, `DELETE FROM inbox WHERE entries = 0 AND `, "grp", groups, ``)
}

// runIn runs a statement on the rows whose column has one of some values.
func (t *tx) runIn(ctx context.Context, before, column string, values []any, after string) {
	t.run(ctx, before+column+` IN (`+places(1, len(values))+`)`+after, values...)
}

// lockDockets makes transactions that change entries of the same dockets take turns. SQLite's do anyway.
func (t *tx) lockDockets(ctx context.Context, ids ...int64) {
	if t.pg == nil {
		return
	}
	for chunk := range slices.Chunk(anys(slices.Compact(slices.Sorted(slices.Values(ids)))), insertRows) {
		t.runIn(ctx, `SELECT id FROM dockets WHERE `, "id", chunk, ` ORDER BY id FOR NO KEY UPDATE`)
	}
}
