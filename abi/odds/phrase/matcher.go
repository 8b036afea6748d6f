// Package phrase finds many phrases in one pass over a text.
package phrase

const (
	anchorBytes = 4
	slotBits    = 13
)

// Matcher finds phrases in any case of their ASCII letters. It keys each
// phrase by its first four bytes, so that a position of the text where none
// begins costs one look into a table: a megabyte of log against hundreds of
// phrases is one cheap pass. The zero value finds nothing.
type Matcher struct {
	folded []string
	// slots holds 1 + the first phrase of each hash of an anchor, next the
	// one after it; 0 ends a chain.
	slots []int32
	next  []int32
	// short are the phrases with fewer bytes than an anchor.
	short []int32
}

// New returns a matcher; phrase i of a match is list[i]. Empty phrases match nothing.
func New(list []string) *Matcher {
	m := &Matcher{folded: make([]string, len(list)), slots: make([]int32, 1<<slotBits), next: make([]int32, len(list))}
	for i, phrase := range list {
		folded := fold(phrase)
		m.folded[i] = folded
		switch {
		case len(folded) == 0:
		case len(folded) < anchorBytes:
			m.short = append(m.short, int32(i))
		default:
			s := slot(anchor(folded))
			m.next[i] = m.slots[s]
			m.slots[s] = int32(i) + 1
		}
	}
	return m
}

// Scan calls found for every match in document, in the order in which they
// begin. start and end are byte offsets; matches may overlap.
func (m *Matcher) Scan(document string, found func(phrase, start, end int)) {
	if len(m.folded) == 0 {
		return
	}
	var window uint32
	for i := range min(len(document), anchorBytes-1) {
		window = window<<8 | uint32(Fold(document[i]))
	}
	for start := range len(document) {
		if last := start + anchorBytes - 1; last < len(document) {
			window = window<<8 | uint32(Fold(document[last]))
			for p := m.slots[slot(window)]; p != 0; p = m.next[p-1] {
				m.try(document, int(p-1), start, found)
			}
		}
		for _, p := range m.short {
			m.try(document, int(p), start, found)
		}
	}
}

func (m *Matcher) try(document string, phrase, start int, found func(phrase, start, end int)) {
	folded := m.folded[phrase]
	end := start + len(folded)
	if end > len(document) {
		return
	}
	for i := range len(folded) {
		if Fold(document[start+i]) != folded[i] {
			return
		}
	}
	found(phrase, start, end)
}

func fold(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = Fold(b[i])
	}
	return string(b)
}

func anchor(folded string) uint32 {
	return uint32(folded[0])<<24 | uint32(folded[1])<<16 | uint32(folded[2])<<8 | uint32(folded[3])
}

func slot(window uint32) uint32 { return window * 2654435761 >> (32 - slotBits) }

// Fold makes an ASCII letter small.
func Fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
