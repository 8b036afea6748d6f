package casebook

import (
	"slices"
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
	if m.marked && !slices.ContainsFunc(m.pending, func(r rune) bool { return !joins(r) }) {
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

// maskWord gives a word without the figures in it, or the mark alone if the word is a number, an address, a hash or an
// identifier that somebody drew.
func maskWord(w string) string {
	digits := strings.Count(w, "_") // of a number such as 1_000
	groups, hex := 0, 0
	for i := range len(w) {
		c := w[i]
		switch {
		case '0' <= c && c <= '9':
			digits++
			hex++
			if i == 0 || w[i-1] < '0' || w[i-1] > '9' {
				groups++
			}
		case 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
			hex++
		}
	}
	switch {
	case groups == 0 && (hex < len(w) || len(w) < 16):
		return w
	case digits == len(w):
		return string(mark)
	case len(w) > 2 && w[0] == '0' && (w[1] == 'x' || w[1] == 'X') && hex == len(w)-1:
		return string(mark) // the x is no hexadecimal digit, the 0 is
	case hex == len(w) && len(w) >= 7:
		return string(mark)
	case groups >= 2 && len(w) >= 5 && !hasWidth(w) && !strings.Contains(w, "_"):
		return string(mark)
	case hasWidth(w):
		return w
	}
	return maskDigits(w)
}

// hasWidth says whether the figures are part of a name: of a type, an encoding, an algorithm, an architecture.
func hasWidth(w string) bool {
	w = strings.ToLower(w)
	for _, name := range []string{"int", "uint", "float", "complex", "utf", "sha", "base", "amd", "arm", "crc", "md", "ipv", "http"} {
		if rest, ok := strings.CutPrefix(w, name); ok && rest != "" && len(rest) <= 3 && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	return false
}

// maskDigits makes a mark of every run of digits; up to two letters after leading digits are a unit or an ordinal.
func maskDigits(w string) string {
	var b strings.Builder
	inRun := false
	for _, r := range w {
		if isDigit(r) {
			if !inRun {
				b.WriteByte(mark)
			}
			inRun = true
			continue
		}
		inRun = false
		b.WriteRune(r)
	}
	masked := b.String()
	if masked[0] == mark && len(masked) <= 3 {
		return string(mark)
	}
	return masked
}
