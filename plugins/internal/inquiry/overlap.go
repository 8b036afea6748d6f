package inquiry

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// span is the lines of a document from first to before end.
type span struct{ document, first, end int }

// spanOf gives the lines that an item quotes; false where it quotes none. Its source_ref may say which, or only which document; an item of
// another source may quote a document as well.
func (c *Clues) spanOf(e *abi.Evidence) (span, bool) {
	content := strings.Trim(e.Content, "\r\n")
	if text.Blank(content) {
		return span{}, false
	}
	lines := 1 + strings.Count(content, "\n")
	opening, _, _ := strings.Cut(content, "\n")
	for n := range c.documents {
		d := &c.documents[n]
		line, named := placeIn(d.name, e.SourceRef)
		if named && line > 0 && line <= d.lines() && strings.TrimSpace(d.line(line-1)) == strings.TrimSpace(opening) {
			return span{n, line - 1, min(line-1+lines, d.lines())}, true
		}
	}
	if lines == 1 && len(content) < leastQuoteBytes {
		return span{}, false
	}
	return c.find(strings.Split(content, "\n"))
}

// maxStands is how many places of a line are tried for a quote that begins with it, and maxSpots how many lines with its hash are looked at:
// who writes a document may choose lines of one hash.
const (
	maxStands = 16
	maxSpots  = 1000
)

// find gives the first place where lines stand, white space around each aside.
func (c *Clues) find(lines []string) (span, bool) {
	if c.where == nil {
		c.index()
	}
	opening, tries := strings.TrimSpace(lines[0]), 0
	at := *c.first(opening)
	for range maxSpots {
		if at == 0 || tries == maxStands {
			break
		}
		s := &c.spots[at-1]
		at = s.next
		d := &c.documents[s.document]
		if strings.TrimSpace(d.line(s.line)) != opening {
			continue
		}
		if tries++; d.stand(lines, s.line) {
			return span{s.document, s.line, s.line + len(lines)}, true
		}
	}
	return span{}, false
}

// spot is a line of a document, and 1 + the next spot whose line has its hash.
type spot struct{ document, line, next int }

// index notes where each line stands. It is made once, when the first item is looked for: documents are long, and items are many. A map of
// lines would take ten times the fuel.
func (c *Clues) index() {
	lines := 0
	for n := range c.documents {
		lines += c.documents[n].lines()
	}
	c.where, c.spots = make([]int, 1<<bits.Len(uint(lines))), make([]spot, 0, lines)
	for n := len(c.documents) - 1; n >= 0; n-- {
		d := &c.documents[n]
		for i := d.lines() - 1; i >= 0; i-- {
			if line := strings.TrimSpace(d.line(i)); line != "" {
				first := c.first(line)
				c.spots = append(c.spots, spot{n, i, *first})
				*first = len(c.spots)
			}
		}
	}
}

// first is 1 + the first spot whose line has the hash of this one; 0 for none.
func (c *Clues) first(line string) *int {
	hash := uint32(2166136261) // FNV-1a
	for i := range len(line) {
		hash = (hash ^ uint32(line[i])) * 16777619
	}
	return &c.where[hash&uint32(len(c.where)-1)]
}

// stand says whether lines stand in the document from a line on.
func (d *document) stand(lines []string, first int) bool {
	if first+len(lines) > d.lines() {
		return false
	}
	for i, line := range lines {
		if strings.TrimSpace(line) != strings.TrimSpace(d.line(first+i)) {
			return false
		}
	}
	return true
}

// leastQuoteBytes is from where words that stand in a document are taken for a quote of it, if nothing says where they are from.
const leastQuoteBytes = 24

// placeIn reads a source_ref that names a document, with or without the kind of a reading before it; line is 0 where it names none.
func placeIn(document, ref string) (line int, named bool) {
	rest, ok := strings.CutPrefix(ref, document)
	if !ok || rest != "" && rest[0] != ':' && rest[0] != '#' {
		_, behind, found := strings.Cut(ref, ":")
		if rest, ok = strings.CutPrefix(behind, document); !found || !ok || rest == "" || rest[0] != ':' && rest[0] != '#' {
			return 0, false
		}
	}
	if at := strings.LastIndexByte(rest, 'L'); at >= 0 {
		line, _ = strconv.Atoi(rest[at+1:])
	}
	return line, true
}

// Names says whether a source_ref names a document.
func Names(ref, document string) bool {
	_, named := placeIn(document, ref)
	return named
}

// spanOfClue gives the lines of a clue.
func (c *Clues) spanOfClue(clue *Clue) span {
	n := slices.IndexFunc(c.documents, func(d document) bool { return d.name == clue.Document })
	return span{n, clue.Line - 1, clue.end}
}

// share says whether two spans have a line in common that says something.
func (c *Clues) share(a, b span) bool {
	if a.document != b.document || a.document < 0 {
		return false
	}
	d := &c.documents[a.document]
	for i := max(a.first, b.first); i < min(a.end, b.end); i++ {
		if !text.Blank(d.line(i)) {
			return true
		}
	}
	return false
}

// readings are the clues about lines that an item quotes.
func (c *Clues) readings(e *abi.Evidence) []*Clue {
	s, ok := c.spanOf(e)
	if !ok {
		return nil
	}
	var out []*Clue
	for i := range c.List {
		if c.share(s, c.spanOfClue(&c.List[i])) {
			out = append(out, &c.List[i])
		}
	}
	return out
}

// gathered says whether an item is one that the clues gave.
func gathered(e *abi.Evidence) bool { return strings.HasPrefix(e.SourceRef, sourcePrefix) }

// Unheld leaves of the clues' items those that the case's evidence does not hold already: a line that an item quotes is given again only
// where another label is read out of it. What the clues gave before is no other item.
func (c *Clues) Unheld(items, evidence []abi.Evidence) []abi.Evidence {
	type holder struct {
		span
		supports string
	}
	var held []holder
	for i := range evidence {
		if e := &evidence[i]; !gathered(e) {
			if s, ok := c.spanOf(e); ok {
				held = append(held, holder{s, e.Supports})
			}
		}
	}
	out := []abi.Evidence{}
	for i := range items {
		e := &items[i]
		s, quotes := c.spanOf(e)
		known := quotes && slices.ContainsFunc(held, func(h holder) bool {
			return (e.Supports == "" || e.Supports == h.supports) && c.share(h.span, s)
		})
		if !known {
			out = append(out, *e)
		}
	}
	return out
}
