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
	maxHits = 50
	// maxTerms is how many different words of a text are looked up, and maxRare how many of them, the rarest, are
	// searched for.
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
