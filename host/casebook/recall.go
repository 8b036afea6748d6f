package casebook

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
)

const (
	maxMatches = 50
	// maxCandidates bounds the earlier cases that are looked at for each kind of match: the latest, or the most alike.
	maxCandidates = 256
)

// What a match is worth before anything else is known. The figures are chosen, not fitted: a match in words stays below
// any threshold that lets recall decide alone (0.80), however alike two failures are.
const (
	exactConfidence   = 0.95
	silentConfidence  = 0.70 // an exact match of texts that say next to nothing beside the names
	looseConfidence   = 0.40 // and up to looseConfidence + looseRange with the similarity
	looseRange        = 0.39
	similarConfidence = 0.75 // times the similarity
	fewWords          = 3
)

// MatchKind says how an earlier case was found.
type MatchKind string

// The kinds of matches, the surest first.
const (
	MatchExact   MatchKind = "exact"   // the same fingerprint
	MatchLoose   MatchKind = "loose"   // the same kind of error in the same files
	MatchSimilar MatchKind = "similar" // alike in words
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

// Match is an earlier case that looks like the one asked about.
type Match struct {
	Case Case
	Kind MatchKind
	// Similarity is the estimated share of three-word sequences in common, in [0, 1].
	Similarity float64
	// Confidence, in [0, 1], is how sure it is that this is the same failure with the same classification: what a match
	// of its kind is worth, times the share of this classification among the matches of its kind and the surer ones. It
	// is 0 without a classification, and where the same fingerprint has a confirmed verdict and this one is none. It is
	// about the match: Case.Verdict has how sure the verdict was.
	Confidence float64
}

// Recall gives the earlier cases that look like a failure: up to limit, at most 50, the surest first, ties by the latest
// and then by ID. The same snapshot gives the same answer.
func (s *Snapshot) Recall(ctx context.Context, looks Fingerprint, limit int) ([]Match, error) {
	limit = min(limit, maxMatches)
	if limit <= 0 {
		return nil, nil
	}
	found, err := s.candidates(ctx, looks)
	if err != nil {
		return nil, explain("recall", s.path, err)
	}
	matches := weigh(found, looks)
	slices.SortFunc(matches, func(x, y Match) int {
		return cmp.Or(cmp.Compare(y.Confidence, x.Confidence), cmp.Compare(rank(x.Kind), rank(y.Kind)),
			cmp.Compare(y.Similarity, x.Similarity), cmp.Compare(y.Case.LastRun, x.Case.LastRun), cmp.Compare(x.Case.ID, y.Case.ID),
			cmp.Compare(x.Case.Verdict.Origin, y.Case.Verdict.Origin), cmp.Compare(x.Case.Verdict.Status, y.Case.Verdict.Status),
			cmp.Compare(x.Case.Verdict.Classification, y.Case.Verdict.Classification), cmp.Compare(x.Case.Subject, y.Case.Subject))
	})
	return matches[:min(len(matches), limit)], nil
}

func rank(kind MatchKind) int {
	return slices.Index([]MatchKind{MatchExact, MatchLoose, MatchSimilar}, kind)
}

// A candidate is a case as it stands in the book.
type candidate struct {
	Case
	kind   MatchKind
	exact  string
	sketch Sketch
}

const columns = `c.case_id, c.grp, c.subject, c.origin, c.status, c.classification, c.confidence, c.exact, c.sketch,
	(SELECT count(*) FROM (SELECT 1 FROM sightings d WHERE d.exact = c.exact LIMIT 1000)),
	(SELECT coalesce(max(run), c.first_run) FROM sightings d WHERE d.exact = c.exact),
	(SELECT count(*) FROM (SELECT 1 FROM suites u WHERE u.suite = c.grp
		AND u.run > (SELECT max(run) FROM sightings d WHERE d.exact = c.exact) LIMIT 1000))`

// latest puts what was confirmed first, then the later verdicts.
const latest = `c.origin = 'confirmed' DESC, c.turn DESC, c.case_id, c.exact, c.status, c.classification`

const keyOrder = `c.case_id, c.exact, c.origin, c.status, c.classification`

func (s *Snapshot) candidates(ctx context.Context, looks Fingerprint) ([]candidate, error) {
	var all []candidate
	taken := map[string]bool{}
	take := func(kind MatchKind, query string, args ...any) error {
		return each(ctx, s.db, func(rows *sql.Rows) error {
			c, err := scanCandidate(rows)
			// Of several verdicts on one failure of a case a confirmed one counts, or else the latest: the queries give it first.
			if key := c.ID + "\x00" + c.exact; !taken[key] {
				taken[key] = true
				c.kind = kind
				all = append(all, c)
			}
			return err
		}, `SELECT `+columns+` FROM cases c `+query+latest+` LIMIT ?`, append(args, maxCandidates)...)
	}
	if looks.Exact != "" {
		if err := take(MatchExact, `WHERE c.exact = ? ORDER BY `, looks.Exact); err != nil {
			return nil, err
		}
	}
	if looks.Loose != "" {
		if err := take(MatchLoose, `WHERE c.loose = ? ORDER BY `, looks.Loose); err != nil {
			return nil, err
		}
	}
	keys := looks.Sketch.keys()
	if len(keys) == 0 {
		return all, nil
	}
	err := take(MatchSimilar, `JOIN (SELECT id, count(*) AS shared FROM found_by
		WHERE band IN (`+marks(len(keys))+`) GROUP BY id) f ON f.id = c.id ORDER BY f.shared DESC, `, anyOf(keys)...)
	return all, err
}

func scanCandidate(rows *sql.Rows, more ...any) (candidate, error) {
	var c candidate
	var sketch []byte
	v := &c.Verdict
	if err := rows.Scan(append([]any{
		&c.ID, &c.Group, &c.Subject, &v.Origin, &v.Status, &v.Classification, &v.Confidence,
		&c.exact, &sketch, &c.Seen, &c.LastRun, &c.Absent,
	}, more...)...); err != nil {
		return c, err
	}
	c.Seen = max(c.Seen, 1)
	var ok bool
	if c.sketch, ok = sketchFrom(sketch); !ok {
		return c, ErrCorrupt
	}
	return c, nil
}

func weigh(found []candidate, looks Fingerprint) []Match {
	confirmed := map[string]bool{} // fingerprints of which somebody knows what is right
	for _, c := range found {
		if c.Verdict.Origin == Confirmed && c.exact != "" {
			confirmed[c.exact] = true
		}
	}
	matches := make([]Match, len(found))
	for i, c := range found {
		m := Match{Case: c.Case, Kind: c.kind, Similarity: looks.Sketch.Similarity(c.sketch)}
		if c.Verdict.Origin == Confirmed || !confirmed[c.exact] {
			m.Confidence = worth(m, looks)
		}
		matches[i] = m
	}
	// total[k] and by[k] are sums over the matches of kind k and the surer ones.
	var total [3]float64
	var by [3]map[string]float64
	for k := range by {
		by[k] = map[string]float64{}
		for _, m := range matches {
			if label := m.Case.Verdict.Classification; label != "" && rank(m.Kind) <= k {
				total[k] += m.Confidence
				by[k][label] += m.Confidence
			}
		}
	}
	for i := range matches {
		m := &matches[i]
		k, label := rank(m.Kind), m.Case.Verdict.Classification
		if label == "" || total[k] == 0 {
			m.Confidence = 0
			continue
		}
		m.Confidence *= by[k][label] / total[k]
	}
	return matches
}

func worth(m Match, looks Fingerprint) float64 {
	switch m.Kind {
	case MatchExact:
		if looks.Words < fewWords {
			return silentConfidence
		}
		return exactConfidence
	case MatchLoose:
		return looseConfidence + looseRange*m.Similarity
	default:
		return similarConfidence * m.Similarity
	}
}
