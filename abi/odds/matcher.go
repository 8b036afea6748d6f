package odds

import "math/bits"

const anchorBytes = 4

// Matcher finds many phrases in one pass over a text, in any case of their ASCII letters. It keys each phrase by its first four bytes, or
// two where it is shorter, so that a position of the text where none begins costs a look into a table: a megabyte of log against hundreds
// of phrases is one cheap pass. The zero value finds nothing.
type Matcher struct {
	list []string
	// anchors has the phrases by a hash of four bytes, pairs those with fewer than four by one of two.
	anchors, pairs table
	links          []link // by phrase
	// single are the phrases of one byte.
	single []int32
}

// table holds 1 + the first phrase of each hash, 0 for none.
type table struct {
	first []int32
	shift uint32 // to the bits of a hash that index it
}

// link is a phrase in its table.
type link struct {
	window uint32 // its bytes there
	next   int32  // 1 + the next phrase of its hash, 0 for none
}

// NewMatcher returns a matcher; phrase i of a match is list[i]. Empty phrases match nothing. The list must not change.
func NewMatcher(list []string) *Matcher {
	m := &Matcher{list: list, links: make([]link, len(list)), anchors: newTable(len(list))}
	for i, phrase := range list {
		switch n := len(phrase); {
		case n == 0:
		case n == 1:
			m.single = append(m.single, int32(i))
		case n < anchorBytes:
			if m.pairs.first == nil {
				m.pairs = newTable(len(list))
			}
			m.chain(&m.pairs, anchor(phrase[:2]), i)
		default:
			m.chain(&m.anchors, anchor(phrase[:anchorBytes]), i)
		}
	}
	return m
}

// newTable has room for so many phrases, and for eight times as many hashes, so that few of other words are among them.
func newTable(phrases int) table {
	size := bits.Len(uint(8 * phrases))
	return table{make([]int32, 1<<size), uint32(32 - size)}
}

// A shift by at most 31 is one instruction.
func (t table) slot(window uint32) uint32 { return window * 2654435761 >> (t.shift & 31) }

// head is 1 + the first phrase of a window's hash, 0 for none.
func (t table) head(window uint32) int32 {
	if len(t.first) == 0 {
		return 0
	}
	return t.first[t.slot(window)]
}

func (m *Matcher) chain(t *table, window uint32, phrase int) {
	at := t.slot(window)
	m.links[phrase] = link{window, t.first[at]}
	t.first[at] = int32(phrase) + 1
}

// Scan calls found for every match in document, in the order in which they begin. start and end are byte offsets; matches may overlap.
func (m *Matcher) Scan(document string, found func(phrase, start, end int)) {
	short := len(m.single) > 0 || len(m.pairs.first) > 0
	if len(m.list) == 0 {
		return
	}
	anchors := m.anchors
	window := uint32(0) // four bytes
	for last := range len(document) {
		window = window<<8 | uint32(folded[document[last]])
		if (short || anchors.first[anchors.slot(window)] != 0) && last >= anchorBytes-1 {
			m.begin(document, last-anchorBytes+1, window, found)
		}
	}
	for start := len(document) - anchorBytes + 1; short && start < len(document); start++ {
		window <<= 8
		if start >= 0 {
			m.begin(document, start, window, found)
		}
	}
}

// begin tries the phrases that may begin with the bytes of a window.
func (m *Matcher) begin(document string, start int, window uint32, found func(phrase, start, end int)) {
	for p := m.anchors.head(window); p != 0; p = m.links[p-1].next {
		if m.links[p-1].window == window {
			m.try(document, int(p-1), start, found)
		}
	}
	for p := m.pairs.head(window >> 16); p != 0; p = m.links[p-1].next {
		m.try(document, int(p-1), start, found)
	}
	for _, p := range m.single {
		m.try(document, int(p), start, found)
	}
}

func (m *Matcher) try(document string, phrase, start int, found func(phrase, start, end int)) {
	p := m.list[phrase]
	end := start + len(p)
	if end > len(document) {
		return
	}
	for i := range len(p) {
		if folded[document[start+i]] != folded[p[i]] {
			return
		}
	}
	found(phrase, start, end)
}

// anchor is the window of a text's first bytes.
func anchor(text string) (window uint32) {
	for i := range len(text) {
		window = window<<8 | uint32(folded[text[i]])
	}
	return window
}

// folded has for each byte what [Fold] makes of it.
var folded = func() (table [256]byte) {
	for i := range table {
		table[i] = Fold(byte(i))
	}
	return table
}()

// Fold makes an ASCII letter small.
func Fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
