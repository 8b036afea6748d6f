package casebook

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
)

const (
	maxMatches = 50
	// maxCandidates bounds the earlier cases that are looked at: the latest.
	maxCandidates = 256
)

// What a match is worth before anything else is known. The figures are chosen, not fitted.
const (
	exactConfidence  = 0.95
	silentConfidence = 0.70 // of texts that say next to nothing beside the names
	fewWords         = 3
)

// Case is an earlier case as it is told to others.
type Case struct {
	ID      string
	Group   string
	Subject string
	Verdict Verdict
	// Seen counts the cases that were seen with this fingerprint, each in each run once; LastRun is the latest of them.
	Seen, LastRun int
	// Absent counts the later runs of its suite, of which all were without it: 0 where it never went away.
	Absent int
}

// Match is an earlier case with the same fingerprint.
type Match struct {
	Case Case
	// Confidence, in [0, 1], is how sure it is that this is the same failure with the same classification: what a match is worth,
	// times the share of this classification among all of them. It is 0 without a classification, and where another match has a
	// confirmed verdict and this one has none. It is about the match: Case.Verdict has how sure the verdict was.
	Confidence float64
}

// Recall gives the earlier cases that have the fingerprint of a failure: up to limit, at most 50, the surest first, ties by the
// latest and then by ID. The same snapshot gives the same answer.
func (s *Snapshot) Recall(ctx context.Context, looks Fingerprint, limit int) ([]Match, error) {
	limit = min(limit, maxMatches)
	if limit <= 0 || looks.Exact == "" {
		return nil, nil
	}
	var found []Case
	taken := map[string]bool{}
	err := each(ctx, s.db, func(rows *sql.Rows) error {
		c, err := scanCase(rows)
		// Of several verdicts on a case a confirmed one counts, or else the latest: the query gives it first.
		if !taken[c.ID] {
			taken[c.ID] = true
			found = append(found, c)
		}
		return err
	}, `SELECT `+columns+` FROM cases c WHERE c.exact = ?
		ORDER BY c.origin = 'confirmed' DESC, c.turn DESC, c.case_id, c.status, c.classification LIMIT ?`, looks.Exact, maxCandidates)
	if err != nil {
		return nil, explain("recall", s.path, err)
	}
	matches := weigh(found, looks)
	slices.SortFunc(matches, func(x, y Match) int {
		return cmp.Or(cmp.Compare(y.Confidence, x.Confidence), cmp.Compare(y.Case.LastRun, x.Case.LastRun), cmp.Compare(x.Case.ID, y.Case.ID))
	})
	return matches[:min(len(matches), limit)], nil
}

const columns = `c.case_id, c.grp, c.subject, c.origin, c.status, c.classification, c.confidence,
	(SELECT count(*) FROM (SELECT 1 FROM sightings d WHERE d.exact = c.exact LIMIT 1000)),
	(SELECT coalesce(max(run), c.first_run) FROM sightings d WHERE d.exact = c.exact),
	(SELECT count(*) FROM (SELECT 1 FROM suites u WHERE u.suite = c.grp
		AND u.run > (SELECT max(run) FROM sightings d WHERE d.exact = c.exact) LIMIT 1000))`

func scanCase(rows *sql.Rows, more ...any) (c Case, err error) {
	v := &c.Verdict
	err = rows.Scan(append([]any{
		&c.ID, &c.Group, &c.Subject, &v.Origin, &v.Status, &v.Classification, &v.Confidence, &c.Seen, &c.LastRun, &c.Absent,
	}, more...)...)
	c.Seen = max(c.Seen, 1)
	return c, err
}

func weigh(found []Case, looks Fingerprint) []Match {
	worth := exactConfidence
	if looks.Words < fewWords {
		worth = silentConfidence
	}
	confirmed := slices.ContainsFunc(found, func(c Case) bool { return c.Verdict.Origin == Confirmed })
	matches, total, by := make([]Match, len(found)), 0.0, map[string]float64{}
	for i, c := range found {
		matches[i].Case = c
		if label := c.Verdict.Classification; label != "" && (c.Verdict.Origin == Confirmed || !confirmed) {
			matches[i].Confidence = worth
			total += worth
			by[label] += worth
		}
	}
	for i := range matches {
		if m := &matches[i]; m.Confidence > 0 {
			m.Confidence *= by[m.Case.Verdict.Classification] / total
		}
	}
	return matches
}
