package odds

const (
	anchorBytes = 4
	slotBits    = 13
)

// Matcher finds many phrases in one pass over a text, in any case of their ASCII letters. It keys each
// phrase by its first four bytes, or two where it is shorter, so that a position of the text where none
// begins costs two looks into tables: a megabyte of log against hundreds of
// phrases is one cheap pass. The zero value finds nothing.
type Matcher struct {
	folded []string
	// anchors holds 1 + the first phrase of each hash of four bytes, pairs that of
	// each hash of two, of which the phrases with fewer than four are, next the one after it; 0 ends a chain.
	anchors, pairs []int32
	next           []int32
	// single are the phrases of one byte.
	single []int32
}

// NewMatcher returns a matcher; phrase i of a match is list[i]. Empty phrases match nothing.
func NewMatcher(list []string) *Matcher {
	m := &Matcher{folded: make([]string, len(list)), anchors: make([]int32, 1<<slotBits), pairs: make([]int32, 1<<slotBits), next: make([]int32, len(list))}
	for i, phrase := range list {
		folded := fold(phrase)
		m.folded[i] = folded
		switch n := len(folded); {
		case n == 0:
		case n == 1:
			m.single = append(m.single, int32(i))
		case n < anchorBytes:
			m.chain(m.pairs, slot(pair(folded)), i)
		default:
			m.chain(m.anchors, slot(anchor(folded)), i)
		}
	}
	return m
}

func (m *Matcher) chain(slots []int32, at uint32, phrase int) {
	m.next[phrase] = slots[at]
	slots[at] = int32(phrase) + 1
}

// Scan calls found for every match in document, in the order in which they
// begin. start and end are byte offsets; matches may overlap.
func (m *Matcher) Scan(document string, found func(phrase, start, end int)) {
	if len(m.folded) == 0 {
		return
	}
	var window uint32
	for i := range anchorBytes - 1 {
		window <<= 8
		if i < len(document) {
			window |= uint32(Fold(document[i]))
		}
	}
	for start := range len(document) {
		window <<= 8
		if last := start + anchorBytes - 1; last < len(document) {
			window |= uint32(Fold(document[last]))
		}
		for p := m.anchors[slot(window)]; p != 0; p = m.next[p-1] {
			m.try(document, int(p-1), start, found)
		}
		for p := m.pairs[slot(window>>16)]; p != 0; p = m.next[p-1] {
			m.try(document, int(p-1), start, found)
		}
		for _, p := range m.single {
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

func pair(folded string) uint32 { return uint32(folded[0])<<8 | uint32(folded[1]) }

func slot(window uint32) uint32 { return window * 2654435761 >> (32 - slotBits) }

// Fold makes an ASCII letter small.
func Fold(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
