package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Counts are those of the results of a docket.
type Counts struct {
	ByStatus map[trial.Status]int
	// ByLabel has the answers, the most frequent first; no label is "".
	ByLabel []LabelCount
	// Open need a person, OpenBy has them by status.
	Open   int
	OpenBy map[trial.Status]int
	// Known have a right label from a correction or from the docket: how many answers of the court and of Light are it.
	Known, Right, LightRight int
}

// LabelCount is how many entries have a label.
type LabelCount struct {
	Label string
	Count int
}

// CountsOf gives the counts of dockets: at most 500.
func (s *Store) CountsOf(ctx context.Context, dockets ...int64) (map[int64]*Counts, error) {
	out := map[int64]*Counts{}
	const most = 500
	dockets = dockets[:min(len(dockets), most)]
	if len(dockets) == 0 {
		return out, nil
	}
	args := anys(dockets)
	for _, id := range dockets {
		out[id] = &Counts{ByStatus: map[trial.Status]int{}, OpenBy: map[trial.Status]int{}}
	}
	err := each(ctx, s.db, `SELECT docket, status, label, open, CASE WHEN truth <> '' THEN 1 ELSE 0 END AS known,
			CASE WHEN truth <> '' AND label = truth THEN 1 ELSE 0 END AS hit, CASE WHEN truth <> '' AND light = truth THEN 1 ELSE 0 END AS light_hit,
			CAST(sum(entries) AS BIGINT) FROM tallies WHERE docket IN (`+places(1, len(args))+`) GROUP BY 1, 2, 3, 4, 5, 6, 7`, args,
		func(scan scanner) error {
			var docket, open, known, right, light, n int64
			var status, label string
			if err := scan(&docket, &status, &label, &open, &known, &right, &light, &n); err != nil {
				return err
			}
			c := out[docket]
			c.ByStatus[trial.Status(status)] += int(n)
			c.add(label, int(n))
			c.Open += int(open * n)
			c.OpenBy[trial.Status(status)] += int(open * n)
			c.Known += int(known * n)
			c.Right += int(right * n)
			c.LightRight += int(light * n)
			return nil
		})
	for _, c := range out {
		slices.SortFunc(c.ByLabel, LabelCount.compare)
	}
	return out, err
}

func (c *Counts) add(label string, n int) {
	for i := range c.ByLabel {
		if c.ByLabel[i].Label == label {
			c.ByLabel[i].Count += n
			return
		}
	}
	c.ByLabel = append(c.ByLabel, LabelCount{label, n})
}

// compare puts the most frequent first.
func (c LabelCount) compare(o LabelCount) int {
	return cmp.Or(o.Count-c.Count, strings.Compare(c.Label, o.Label))
}

// OpenLabels counts what is in the inbox by the label of the result, the most frequent first; no label is "".
func (s *Store) OpenLabels(ctx context.Context) ([]LabelCount, error) {
	var w where
	w.add("open = 1")
	w.tallies(ctx)
	list, err := rowsOf(ctx, s.db, `SELECT label, CAST(sum(entries) AS BIGINT) FROM tallies`+w.text()+` GROUP BY label LIMIT 1000`, w.args,
		func(scan scanner) (c LabelCount, err error) {
			err = scan(&c.Label, &c.Count)
			return c, err
		})
	slices.SortFunc(list, LabelCount.compare)
	return list, err
}

// TriedBy counts the results of each generation.
func (s *Store) TriedBy(ctx context.Context) (map[int64]int, error) {
	out := map[int64]int{}
	var w where
	w.tallies(ctx)
	err := each(ctx, s.db, `SELECT generation, CAST(sum(entries) AS BIGINT) FROM tallies`+w.text()+` GROUP BY generation`, w.args, func(scan scanner) error {
		var id int64
		var n int
		err := scan(&id, &n)
		out[id] = n
		return err
	})
	return out, err
}

// Tally counts results that are alike.
type Tally struct {
	// Label is the court's answer, Light the one under review, empty for none. Truth is the right one, empty where it is not known;
	// Corrected says that a person set it.
	Label, Light, Truth string
	Corrected           bool
	// Alibi says that they are answers of the alibi.
	Alibi bool
	// Stated is the mean confidence of the court's answers, to a hundredth; 0 without a label or a truth.
	Stated  float64
	Results int
	// Took is the time that their trials took. Results that share a verdict count it each.
	Took time.Duration
}

// Tallies counts all results of a repository (empty: of all) from dockets that were submitted since a time (zero: ever).
func (s *Store) Tallies(ctx context.Context, repository string, since time.Time) ([]Tally, error) {
	var w where
	w.within(ctx, "d.repository")
	w.equal("d.repository", repository)
	if !since.IsZero() {
		w.add("d.created >= ?", micros(since))
	}
	return rowsOf(ctx, s.db, `SELECT t.label, t.light, t.truth, t.corrected, t.confidence, CASE WHEN d.format = '`+FormatAlibi+`' THEN 1 ELSE 0 END,
			CAST(sum(t.entries) AS BIGINT), sum(t.stated), CAST(sum(t.micros) AS BIGINT)
			FROM tallies t JOIN dockets d ON d.id = t.docket`+w.text()+` GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6`, w.args,
		func(scan scanner) (t Tally, err error) {
			var confidence, micros int64
			var stated float64
			err = scan(&t.Label, &t.Light, &t.Truth, &t.Corrected, &confidence, &t.Alibi, &t.Results, &stated, &micros)
			t.Took = time.Duration(micros) * time.Microsecond
			if t.Label != "" && t.Truth != "" && t.Results > 0 {
				t.Stated = min(max(stated/float64(t.Results), 0), 1)
			}
			return t, err
		})
}

// LabelsOf gives the labels of a docket with their names, by its first case.
func (s *Store) LabelsOf(ctx context.Context, docket int64) (labels []string, names map[string]string, err error) {
	err = one(ctx, s.db, `SELECT labels, label_names FROM entries WHERE docket = $1 AND labels <> '' ORDER BY ordinal LIMIT 1`, []any{docket}, encoded{&labels}, encoded{&names})
	if isNotFound(err) {
		return nil, nil, nil
	}
	return labels, names, err
}

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

// Known is a result whose right label is known, from a correction or from its docket.
type Known struct {
	ID    TrialID
	Right string
}

// KnownLabels lists the results that a filter selects and whose right label is known, the latest first: at most the filter's limit,
// 0 for 100,000.
func (s *Store) KnownLabels(ctx context.Context, f EntryFilter) ([]Known, error) {
	const most = 100_000
	f.Tried = true
	w := f.where(ctx, s.db)
	w.add("(correction <> 0 OR truth <> '')")
	w.add(triedHere)
	var list []Known
	err := each(ctx, s.db, `SELECT docket, ordinal, corrected, truth FROM entries`+w.text()+` ORDER BY created DESC, docket DESC, ordinal`+
		w.limit(f.Limit, most, most), w.args, func(scan scanner) error {
		var k Known
		var truth trial.Truth
		if err := scan(&k.ID.Docket, &k.ID.Ordinal, &k.Right, encoded{&truth}); err != nil {
			return err
		}
		if k.Right = cmp.Or(k.Right, truth.Classification); k.Right != "" {
			list = append(list, k)
		}
		return nil
	})
	return list, err
}
