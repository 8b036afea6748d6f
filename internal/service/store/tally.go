package store

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Pages show counts of many entries. Two tables keep them, by each transaction that changes entries with a result: tallies has how many
// results of a docket are alike, inbox has the groups of entries that need a person. A transaction locks the rows of its dockets first, so
// that what it reads of their entries stays as it is, and then groups in the order of their keys.

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

// tallyKey is what results have in common that are counted together.
type tallyKey struct {
	docket, generation          int64
	status, label, light, truth string
	corrected, open, confidence int64 // confidence: hundredths where the truth and an answer are known
}

func (a tallyKey) compare(b tallyKey) int {
	return cmp.Or(cmp.Compare(a.docket, b.docket), cmp.Compare(a.generation, b.generation), strings.Compare(a.status, b.status),
		strings.Compare(a.label, b.label), strings.Compare(a.light, b.light), strings.Compare(a.truth, b.truth),
		cmp.Compare(a.corrected, b.corrected), cmp.Compare(a.open, b.open), cmp.Compare(a.confidence, b.confidence))
}

// tallySum is what is counted of them.
type tallySum struct {
	entries      int64
	stated       float64 // sum of the confidences
	micros, fuel int64
}

// inGroup is a group within a docket.
type inGroup struct {
	grp    string
	docket int64
}

// groupSum is what changes of a group of the inbox.
type groupSum struct {
	entries, cases, dockets int64
	doubt, weight           float64
	first, latest           int64
	left                    bool // a docket has no entry in it any more
}

// tally is how the counts of some entries change.
type tally struct {
	tx      *tx
	from    string
	args    []any
	results map[tallyKey]*tallySum
	groups  map[string]*groupSum
	created map[int64]int64 // of dockets
	// before and after say which groups have an entry in the inbox, by docket, as far as that matters.
	before, after map[inGroup]bool
}

// retally changes entries that a condition selects, and what is counted of them. The caller has locked their dockets.
func (t *tx) retally(ctx context.Context, condition string, args []any, change func() error) error {
	k := &tally{
		tx: t, from: condition, args: args, results: map[tallyKey]*tallySum{}, groups: map[string]*groupSum{}, created: map[int64]int64{},
		before: map[inGroup]bool{}, after: map[inGroup]bool{},
	}
	if err := k.read(ctx, -1, k.before); err != nil {
		return err
	}
	if err := k.look(ctx, k.before, func(inGroup) bool { return true }); err != nil {
		return err
	}
	if err := change(); err != nil {
		return err
	}
	if err := k.read(ctx, 1, k.after); err != nil {
		return err
	}
	for p := range k.before {
		k.after[p] = k.after[p] || false // entries may be gone
	}
	// Of a group that was there others of its entries may be left; of another one, none.
	if err := k.look(ctx, k.after, func(p inGroup) bool { return k.before[p] }); err != nil {
		return err
	}
	k.count()
	if err := k.writeResults(ctx); err != nil {
		return err
	}
	return k.writeGroups(ctx)
}

// lockDockets makes transactions that change entries of the same dockets take turns. SQLite's do anyway.
func (t *tx) lockDockets(ctx context.Context, ids ...int64) error {
	if t.pg == nil {
		return nil
	}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for chunk := range slices.Chunk(ids, insertRows) {
		args := make([]any, len(chunk))
		for i, id := range chunk {
			args[i] = id
		}
		if _, err := t.exec(ctx, `SELECT id FROM dockets WHERE id IN (`+places(1, len(chunk))+`) ORDER BY id FOR NO KEY UPDATE`, args...); err != nil {
			return err
		}
	}
	return nil
}

// read adds the entries as they are now, or takes them away, and says of their groups whether one of them is in the inbox.
func (k *tally) read(ctx context.Context, sign int64, present map[inGroup]bool) error {
	return each(ctx, k.tx, `SELECT e.docket, e.grp, e.created, e.member_count, e.generation, e.status, e.label, e.light_label, e.confidence, e.doubt,
		e.correction, e.corrected, e.truth, coalesce(v.micros, 0), coalesce(v.fuel, 0)
		FROM entries e LEFT JOIN verdicts v ON v.key = e.verdict WHERE `+k.from, k.args, func(scan scanner) error {
		var key tallyKey
		var grp, corrected string
		var truth trial.Truth
		var created, members, correction, micros, fuel int64
		var confidence, doubt float64
		if err := scan(&key.docket, &grp, &created, &members, &key.generation, &key.status, &key.label, &key.light, &confidence, &doubt,
			&correction, &corrected, encoded{&truth}, &micros, &fuel); err != nil {
			return err
		}
		k.created[key.docket] = created
		place := inGroup{grp, key.docket}
		present[place] = present[place] || false
		if key.status == "" {
			return nil
		}
		key.truth = text(truth.Classification, maxName) // as results have labels
		if correction != 0 {
			key.truth, key.corrected = corrected, 1
		}
		sum := tallySum{entries: sign, micros: sign * micros, fuel: sign * fuel}
		if key.truth != "" && key.label != "" {
			key.confidence, sum.stated = int64(math.Floor(100*confidence+0.5)), float64(sign)*confidence
		}
		if correction == 0 && doubt >= InboxDoubt {
			key.open, present[place] = 1, true
			g := k.group(grp)
			g.entries += sign
			g.cases += sign * (1 + members)
			g.doubt += float64(sign) * doubt
			g.weight += float64(sign) * (doubt + 0.01) * float64(1+members)
		}
		k.result(key).add(&sum)
		return nil
	})
}

func (k *tally) result(key tallyKey) *tallySum {
	if k.results[key] == nil {
		k.results[key] = &tallySum{}
	}
	return k.results[key]
}

func (s *tallySum) add(o *tallySum) {
	s.entries += o.entries
	s.stated += o.stated
	s.micros += o.micros
	s.fuel += o.fuel
}

func (k *tally) group(grp string) *groupSum {
	if k.groups[grp] == nil {
		k.groups[grp] = &groupSum{first: math.MaxInt64}
	}
	return k.groups[grp]
}

// look finds out which of the groups have an entry in the inbox where that is not known, and is asked for.
func (k *tally) look(ctx context.Context, present map[inGroup]bool, asked func(inGroup) bool) error {
	var all []inGroup
	for p, known := range present {
		if !known && asked(p) {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b inGroup) int { return cmp.Or(strings.Compare(a.grp, b.grp), cmp.Compare(a.docket, b.docket)) })
	for chunk := range slices.Chunk(all, insertRows) {
		var from where
		pairs := strings.TrimSuffix(strings.Repeat("(CAST(? AS TEXT), CAST(? AS BIGINT)), ", len(chunk)), ", ")
		args := make([]any, 0, 2*len(chunk))
		for _, p := range chunk {
			args = append(args, p.grp, p.docket)
		}
		from.add(`(VALUES `+pairs+`) p`, args...)
		if err := each(ctx, k.tx, `SELECT p.column1, p.column2 FROM `+from.parts[0]+
			` WHERE EXISTS (SELECT 1 FROM entries WHERE grp = p.column1 AND docket = p.column2 AND `+needsPerson+`)`, from.args, func(scan scanner) error {
			var p inGroup
			err := scan(&p.grp, &p.docket)
			present[p] = true
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// count counts the dockets of groups.
func (k *tally) count() {
	for p, before := range k.before {
		if before == k.after[p] {
			continue
		}
		g := k.group(p.grp)
		if before {
			g.dockets--
			g.left = true
			continue
		}
		g.dockets++
		g.first, g.latest = min(g.first, k.created[p.docket]), max(g.latest, k.created[p.docket])
	}
}

func (k *tally) writeResults(ctx context.Context) error {
	in := inserter{
		head: `INSERT INTO tallies (docket, generation, status, label, light, truth, corrected, open, confidence, entries, stated, micros, fuel) VALUES `,
		tail: ` ON CONFLICT (docket, generation, status, label, light, truth, corrected, open, confidence) DO UPDATE SET
			entries = tallies.entries + excluded.entries, stated = tallies.stated + excluded.stated,
			micros = tallies.micros + excluded.micros, fuel = tallies.fuel + excluded.fuel`,
	}
	fewer := map[int64]bool{}
	for _, key := range slices.SortedFunc(maps.Keys(k.results), tallyKey.compare) {
		s := k.results[key]
		if s.entries == 0 && s.micros == 0 && s.fuel == 0 {
			continue
		}
		if s.entries < 0 {
			fewer[key.docket] = true
		}
		if err := in.add(ctx, k.tx, key.docket, key.generation, key.status, key.label, key.light, key.truth, key.corrected, key.open, key.confidence,
			s.entries, s.stated, s.micros, s.fuel); err != nil {
			return err
		}
	}
	if err := in.flush(ctx, k.tx); err != nil {
		return err
	}
	for _, docket := range slices.Sorted(maps.Keys(fewer)) {
		if _, err := k.tx.exec(ctx, `DELETE FROM tallies WHERE docket = $1 AND entries = 0`, docket); err != nil {
			return err
		}
	}
	return nil
}

func (k *tally) writeGroups(ctx context.Context) error {
	in := inserter{
		head: `INSERT INTO inbox (grp, entries, cases, dockets, doubt, weight, first, latest, rank) VALUES `,
		tail: ` ON CONFLICT (grp) DO UPDATE SET entries = inbox.entries + excluded.entries, cases = inbox.cases + excluded.cases,
			dockets = inbox.dockets + excluded.dockets, doubt = inbox.doubt + excluded.doubt, weight = inbox.weight + excluded.weight,
			first = CASE WHEN excluded.first < inbox.first THEN excluded.first ELSE inbox.first END,
			latest = CASE WHEN excluded.latest > inbox.latest THEN excluded.latest ELSE inbox.latest END`,
	}
	var changed, fewer []any
	for _, grp := range slices.Sorted(maps.Keys(k.groups)) {
		g := k.groups[grp]
		if g.entries == 0 && g.cases == 0 && g.dockets == 0 && g.doubt == 0 && !g.left {
			continue
		}
		changed = append(changed, grp)
		if g.entries < 0 || g.left {
			fewer = append(fewer, grp)
		}
		if err := in.add(ctx, k.tx, grp, g.entries, g.cases, g.dockets, g.doubt, g.weight, g.first, g.latest, float64(0)); err != nil {
			return err
		}
	}
	if err := in.flush(ctx, k.tx); err != nil {
		return err
	}
	for chunk := range slices.Chunk(fewer, insertRows) {
		if _, err := k.tx.exec(ctx, `DELETE FROM inbox WHERE entries = 0 AND grp IN (`+places(1, len(chunk))+`)`, chunk...); err != nil {
			return err
		}
		if _, err := k.tx.exec(ctx, `UPDATE inbox SET
			first = (SELECT created FROM entries WHERE grp = inbox.grp AND `+needsPerson+` ORDER BY docket LIMIT 1),
			latest = (SELECT created FROM entries WHERE grp = inbox.grp AND `+needsPerson+` ORDER BY docket DESC LIMIT 1)
			WHERE grp IN (`+places(1, len(chunk))+`)`, chunk...); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(changed, insertRows) {
		if _, err := k.tx.exec(ctx, `UPDATE inbox SET rank = `+rankOf+` WHERE grp IN (`+places(1, len(chunk))+`)`, chunk...); err != nil {
			return err
		}
	}
	return nil
}
