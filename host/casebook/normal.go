package casebook

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxTextBytes is how much of a failure's text is looked at: a quarter of it from the beginning, the rest from the
	// end, where most tools say what went wrong.
	maxTextBytes = 1 << 20
	maxLineBytes = 4 << 10
	// mark stands for everything that may differ between two runs of the same failure.
	mark = '#'
)

// normalLines gives the lines of a text without what differs between two runs: see normalLine. Lines that say nothing
// else are left out.
func normalLines(text string) []string {
	text = strings.ToValidUTF8(clip(text), "\uFFFD")
	if strings.ContainsAny(text, "\x1b\u009b") {
		text = escapes.ReplaceAllString(text, "")
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	kept := lines[:0]
	for _, line := range lines {
		if line = normalLine(line); strings.ContainsFunc(line, unicode.IsLetter) {
			kept = append(kept, line)
		}
	}
	return kept
}

// clip bounds a text, at ends of lines where there are any.
func clip(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	head, tail := text[:maxTextBytes/4], text[len(text)-3*maxTextBytes/4:]
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 {
		tail = tail[i:]
	}
	return head + "\n" + tail
}

// normalLine replaces times, numbers, addresses, identifiers and paths of one machine by marks, folds white space, and
// makes one mark of several that only punctuation parts.
func normalLine(line string) string {
	if len(line) > maxLineBytes {
		line = strings.ToValidUTF8(line[:maxLineBytes], "")
	}
	if strings.ContainsAny(line, `/\`) {
		line = shortenPaths(line)
	}
	if strings.ContainsFunc(line, isDigit) || strings.Contains(line, ":") {
		line = replaceFigures(line)
	}
	var out marker
	for i := 0; i < len(line); {
		n := wordLength(line[i:])
		if n > 0 {
			out.word(line[i : i+n])
			i += n
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		out.separator(r)
		i += size
	}
	out.flush()
	return strings.TrimSpace(out.b.String())
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// wordLength is the number of bytes of the word that s begins with.
func wordLength(s string) int {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			return i
		}
	}
	return len(s)
}

// A marker writes a line and keeps marks apart from each other only where words do.
type marker struct {
	b strings.Builder
	// pending are the separators since the last word. After a mark they are dropped if another follows.
	pending []rune
	marked  bool // the last thing before pending is a mark
}

func (m *marker) separator(r rune) {
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		r = ' '
		if n := len(m.pending); n > 0 && m.pending[n-1] == ' ' {
			return
		}
	}
	if r == mark {
		m.mark()
		return
	}
	m.pending = append(m.pending, r)
}

// The separators within a date, an address, a version, a list of numbers.
func joins(r rune) bool { return strings.ContainsRune(" -+.:,/_*;|?", r) }

func (m *marker) mark() {
	if m.marked && !containsOther(m.pending) {
		m.pending = m.pending[:0]
		return
	}
	if n := len(m.pending); m.endsInSign() {
		m.pending = m.pending[:n-1]
	}
	m.flush()
	m.b.WriteByte(mark)
	m.marked = true
}

// endsInSign tells the sign of a number from the hyphen of worker-7.
func (m *marker) endsInSign() bool {
	n := len(m.pending)
	if n == 0 || m.pending[n-1] != '-' && m.pending[n-1] != '+' {
		return false
	}
	if n == 1 {
		return m.b.Len() == 0
	}
	return strings.ContainsRune(" ([{=,<>", m.pending[n-2])
}

func containsOther(rs []rune) bool {
	for _, r := range rs {
		if !joins(r) {
			return true
		}
	}
	return false
}

func (m *marker) flush() {
	for _, r := range m.pending {
		m.b.WriteRune(r)
	}
	m.pending = m.pending[:0]
}

func (m *marker) word(w string) {
	w = maskWord(w)
	if w == string(mark) {
		m.mark()
		return
	}
	m.flush()
	m.b.WriteString(w)
	m.marked = strings.HasSuffix(w, string(mark))
}
