package measure

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// What makes cases near duplicates.
const (
	shingleWords  = 4    // words of one shingle
	leastShingles = 20   // texts with fewer may be alike by chance
	nearAlike     = 0.9  // overlap (Jaccard) of the shingles of texts
	sketchHashes  = 256  // the smallest hashes of a text's shingles, which stand for them
	hashBands     = 8    // one of so many must agree for two texts to be compared,
	bandRivals    = 8    // with at most so many others
	byChance      = 0.05 // share of those that are the same that may be expected
)

// joinDuplicates joins the groups of near duplicates: cases with nearly the same texts, or with the same items that chance
// would hardly bring together twice. It counts the cases that repeat another one, and rejects what leaves too few.
func (c *corpus) joinDuplicates(workers int) error {
	alike := partition(places(len(c.samples)))
	c.joinTexts(alike, workers)
	c.joinItems(alike)
	groups := partition(places(c.groups))
	for i := range c.samples {
		if first := alike.root(i); first != i {
			c.repeated++
			groups.join(c.samples[first].group, c.samples[i].group)
		}
	}
	if c.repeated == 0 {
		return nil
	}
	if distinct := len(c.samples) - c.repeated; distinct < LeastCases {
		return fmt.Errorf("%w: %d have a truth, but %d of them nearly repeat others, which leaves %d; %d are needed", ErrTooFew, len(c.samples), c.repeated, distinct, LeastCases)
	}
	joined := make(map[int]int)
	for i := range c.samples {
		s := &c.samples[i]
		s.group = number(joined, groups.root(s.group))
	}
	c.regroup(len(joined))
	return nil
}

// partition has the parent of each member; a root is its own, and the first of its part.
type partition []int

func (p partition) root(i int) int {
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

func (p partition) join(a, b int) {
	a, b = p.root(a), p.root(b)
	p[max(a, b)] = min(a, b)
}

// joinTexts joins cases with nearly the same texts, by sketches of the smallest hashes (Broder 1997).
func (c *corpus) joinTexts(alike partition, workers int) {
	sketches := make([][]uint64, len(c.samples))
	each(len(sketches), workers, func(i int) { sketches[i] = sketch(texts(&c.samples[i].entry.Case)) })
	type band struct{ number, first, second uint64 }
	rivals := make(map[band][]int)
	for i, own := range sketches {
		if len(own) < leastShingles {
			continue
		}
		var least [2 * hashBands]uint64 // the smallest hash of each class
		for _, h := range slices.Backward(own) {
			least[h%(2*hashBands)] = h
		}
		for n := range uint64(hashBands) {
			b := band{n, least[2*n], least[2*n+1]}
			found := slices.ContainsFunc(rivals[b], func(j int) bool {
				same := alike.root(i) == alike.root(j) || resemblance(own, sketches[j]) >= nearAlike
				if same {
					alike.join(i, j)
				}
				return same
			})
			if !found && len(rivals[b]) < bandRivals {
				rivals[b] = append(rivals[b], i)
			}
		}
	}
}

// sketch gives the smallest hashes of the shingles of texts, rising.
func sketch(list []string) []uint64 {
	var out []uint64
	for _, text := range list {
		words := strings.FieldsFunc(lower(text), func(r rune) bool { return r < 0x80 && !inWord(byte(r)) })
		for i := range len(words) - shingleWords + 1 {
			out = append(out, hash(strings.Join(words[i:i+shingleWords], " ")))
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return slices.Clone(out[:min(len(out), sketchHashes)])
}

// resemblance estimates the overlap (Jaccard) of two texts: the share of the smallest hashes of both that are in both.
func resemblance(a, b []uint64) float64 {
	both, all := 0, 0
	for len(a) > 0 && len(b) > 0 && all < sketchHashes {
		all++
		switch {
		case a[0] == b[0]:
			both++
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a = a[1:]
		default:
			b = b[1:]
		}
	}
	return float64(both) / float64(max(min(all+len(a)+len(b), sketchHashes), 1))
}

// joinItems joins cases that are exactly the same, unless that is to be expected: of sources that say one of a few things
// with one confidence each, cases are bound to agree.
func (c *corpus) joinItems(alike partition) {
	type part struct {
		truth   int
		content uint64
	}
	cases, times, total := make(map[uint64][]int), make(map[part]float64), make(map[int]float64)
	contents := make([][]uint64, len(c.samples))
	for i := range c.samples {
		contents[i] = contentsOf(&c.samples[i].entry.Case)
		whole := hash(fmt.Sprint(contents[i]))
		cases[whole] = append(cases[whole], i)
		truth := c.trueLabel(i)
		total[truth]++
		for _, content := range contents[i] {
			times[part{truth, content}]++
		}
	}
	for _, list := range cases {
		expected := 0.0
		for _, i := range list {
			truth := c.trueLabel(i)
			n := total[truth]
			for _, content := range contents[i] {
				n *= times[part{truth, content}] / total[truth]
			}
			expected = max(expected, n)
		}
		if expected < byChance*float64(len(list)-1) {
			for _, i := range list[1:] {
				alike.join(list[0], i)
			}
		}
	}
}

// contentsOf is everything that a case says: a hash for each item.
func contentsOf(k *abi.Case) []uint64 {
	list := []uint64{hash(fmt.Sprintf("%q %q", k.Subject, k.Labels))}
	if k.Light != nil {
		list = append(list, hash(fmt.Sprintf("%q %v", k.Light.Classification, k.Light.Confidence)))
	}
	for i := range k.Evidence {
		e := &k.Evidence[i]
		list = append(list, hash(fmt.Sprintf("%q %q %q %v", e.SourceRef, e.Content, e.Supports, e.RelevanceConfidence)))
	}
	for i := range k.Documents {
		list = append(list, hash(fmt.Sprintf("%q %q", k.Documents[i].Name, k.Documents[i].Text)))
	}
	return list
}

func hash(text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text)
	return h.Sum64()
}
