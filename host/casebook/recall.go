package casebook

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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

// Case is an earlier case as callers see it.
type Case struct {
	ID      string
	Group   string
	Subject string
	Verdict Verdict
	// Seen counts the cases that were seen with this fingerprint, each in each run once; LastRun is the latest of them.
	Seen, LastRun int
	// Absent counts the later runs of its suite, all without it: 0 where it never went away.
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

const (
	maxHits = 50
	// maxTerms is how many different words of a text are looked up, and maxRare how many of them, the rarest, are searched for.
	maxTerms     = 512
	maxRare      = 32
	maxTermRunes = 64
)

// Hit is an earlier case whose text is about the same.
type Hit struct {
	Case Case
	// Score is the relevance by BM25 (Robertson and Zaragoza 2009) of the rarest words of the text. It is comparable
	// within one answer only; more is better.
	Score float64
	// Similarity is the share of three-word sequences in common (the Jaccard index), in [0, 1].
	Similarity float64

	body string
}

// Correlate searches the earlier cases for those whose text is about the same: up to limit, at most 50, the most relevant
// first, ties by ID. The text may be anything: it is taken as words, never as a query, and of a long one the first
// mebibyte's head and tail count. The same snapshot gives the same answer.
func (s *Snapshot) Correlate(ctx context.Context, text string, limit int) ([]Hit, error) {
	limit = min(limit, maxHits)
	lines := distinctLines([]string{text})
	words := terms(lines)
	if limit <= 0 || len(words) == 0 || s.cases == 0 {
		return nil, nil
	}
	words, err := s.rarest(ctx, words)
	if err != nil || len(words) == 0 {
		return nil, explain("correlate", s.path, err)
	}
	hits, err := s.search(ctx, words, limit)
	if err != nil {
		return nil, explain("correlate", s.path, err)
	}
	own := shingles(bodyOf([]string{text}))
	for i := range hits {
		hits[i].Similarity = similarity(own, shingles(hits[i].body))
	}
	return hits, nil
}

// shingles are the sequences of three words in a body, within its lines; of a shorter line all words.
func shingles(body string) map[string]bool {
	const length = 3
	all := map[string]bool{}
	for line := range strings.Lines(body) {
		words := strings.Fields(line)
		for i := range max(1, len(words)-length+1) {
			all[strings.Join(words[i:min(i+length, len(words))], " ")] = true
		}
	}
	return all
}

// similarity is the share of what two sets have in common.
func similarity(a, b map[string]bool) float64 {
	common := 0
	for s := range a {
		if b[s] {
			common++
		}
	}
	if common == 0 {
		return 0
	}
	return float64(common) / float64(len(a)+len(b)-common)
}

// terms are the words of a text in lower case, sorted. Only letters and digits are left, so that nothing in them means
// anything to the search.
func terms(lines []string) []string {
	seen := map[string]bool{}
	var list []string
	for _, line := range lines {
		for _, word := range strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			word = strings.ToLower(word)
			if n := utf8.RuneCountInString(word); n < 2 || n > maxTermRunes || seen[word] {
				continue
			}
			seen[word] = true
			list = append(list, word)
		}
	}
	slices.Sort(list)
	return thin(list, maxTerms)
}

// thin leaves n of a sorted list, evenly.
func thin(list []string, n int) []string {
	if len(list) <= n {
		return list
	}
	kept := make([]string, n)
	for i := range kept {
		kept[i] = list[i*len(list)/n]
	}
	return kept
}

// rarest leaves the words that tell the most, and that any case has: those in more than half of the cases only if there
// are no others. It bounds what a search costs.
func (s *Snapshot) rarest(ctx context.Context, words []string) ([]string, error) {
	type known struct {
		term  string
		cases int
	}
	var list []known
	args := make([]any, len(words))
	for i, word := range words {
		args[i] = word
	}
	err := each(ctx, s.db, func(rows *sql.Rows) error {
		var k known
		err := rows.Scan(&k.term, &k.cases)
		list = append(list, k)
		return err
	}, `SELECT term, doc FROM vocabulary WHERE term IN (?`+strings.Repeat(", ?", len(words)-1)+`)`, args...)
	slices.SortFunc(list, func(x, y known) int {
		return cmp.Or(cmp.Compare(x.cases, y.cases), cmp.Compare(x.term, y.term))
	})
	var kept []string
	for _, k := range list[:min(len(list), maxRare)] {
		if len(kept) > 0 && 2*k.cases > s.cases {
			break
		}
		kept = append(kept, k.term)
	}
	slices.Sort(kept) // sums come in the same order
	return kept, err
}

func (s *Snapshot) search(ctx context.Context, words []string, limit int) (hits []Hit, err error) {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
	}
	err = each(ctx, s.db, func(rows *sql.Rows) error {
		var hit Hit
		var err error
		hit.Case, err = scanCase(rows, &hit.Score, &hit.body)
		hits = append(hits, hit)
		return err
	}, `SELECT `+columns+`, f.score, c.body FROM cases c
		JOIN (SELECT words.rowid AS id, -bm25(words) AS score FROM words WHERE words MATCH ?) f ON f.id = c.id
		ORDER BY f.score DESC, c.case_id, c.exact, c.origin, c.status, c.classification LIMIT ?`, strings.Join(quoted, " OR "), limit)
	return hits, err
}
