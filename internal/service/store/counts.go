package store

import (
	"cmp"
	"context"
	"fmt"
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
	Repository string
	// Week of the submission; it begins on a Monday at midnight UTC.
	Week time.Time
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

// Tallies counts all results of a repository (empty: of all) from dockets that were submitted since a time (zero: ever), the latest week first.
func (s *Store) Tallies(ctx context.Context, repository string, since time.Time) ([]Tally, error) {
	var w where
	w.within(ctx, "d.repository")
	w.equal("d.repository", repository)
	if !since.IsZero() {
		w.add("d.created >= ?", micros(since))
	}
	week := fmt.Sprintf("(d.created + %d) / %d", int64(sinceMonday), int64(weekMicros))
	return rowsOf(ctx, s.db, `SELECT d.repository, `+week+` AS week, t.label, t.light, t.truth, t.corrected, t.confidence,
			CASE WHEN d.format = '`+FormatAlibi+`' THEN 1 ELSE 0 END,
			CAST(sum(t.entries) AS BIGINT), sum(t.stated), CAST(sum(t.micros) AS BIGINT)
			FROM tallies t JOIN dockets d ON d.id = t.docket`+w.text()+` GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 2 DESC, 1, 3, 4, 5, 6, 7`, w.args,
		func(scan scanner) (t Tally, err error) {
			var week, confidence, micros int64
			var stated float64
			err = scan(&t.Repository, &week, &t.Label, &t.Light, &t.Truth, flag{&t.Corrected}, &confidence, flag{&t.Alibi}, &t.Results, &stated, &micros)
			t.Week, t.Took = weekStart(week), time.Duration(micros)*time.Microsecond
			if t.Label != "" && t.Truth != "" && t.Results > 0 {
				t.Stated = min(max(stated/float64(t.Results), 0), 1)
			}
			return t, err
		})
}

// sinceMonday is from the Monday before 1970 to its first day, a Thursday.
const sinceMonday = weekMicros / 7 * 3

func weekStart(number int64) time.Time { return at(number*weekMicros - sinceMonday) }

// LabelsOf gives the labels of a docket with their names, by its first case.
func (s *Store) LabelsOf(ctx context.Context, docket int64) (labels []string, names map[string]string, err error) {
	err = one(ctx, s.db, `SELECT labels, label_names FROM entries WHERE docket = $1 AND labels <> '' ORDER BY ordinal LIMIT 1`, []any{docket}, encoded{&labels}, encoded{&names})
	if isNotFound(err) {
		return nil, nil, nil
	}
	return labels, names, err
}

// WithTruth are the latest dockets, at most ten, of which right labels are known, those of the alibi left out.
func (s *Store) WithTruth(ctx context.Context) ([]int64, error) {
	var w where
	w.add("truth <> '' AND docket NOT IN (SELECT id FROM dockets WHERE format = '" + FormatAlibi + "')")
	w.tallies(ctx)
	return rowsOf(ctx, s.db, `SELECT DISTINCT docket FROM tallies`+w.text()+` ORDER BY docket DESC LIMIT 10`, w.args, value[int64])
}
