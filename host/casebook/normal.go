package casebook

import (
	"regexp"
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

// normalLines gives the lines of a text without what differs between two runs: see [Line]. Lines that say nothing else are left out.
func normalLines(text string) []string {
	lines := strings.FieldsFunc(Plain(clip(text)), func(r rune) bool { return r == '\n' || r == '\r' })
	kept := lines[:0]
	for _, line := range lines {
		if line = Line(line); strings.ContainsFunc(line, unicode.IsLetter) {
			kept = append(kept, line)
		}
	}
	return kept
}

// Plain is a text without colours and other escapes of terminals, in valid UTF-8.
func Plain(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.ContainsAny(text, "\x1b\u009b") {
		text = escapes.ReplaceAllString(text, "")
	}
	return text
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

// Line replaces times, numbers, addresses, identifiers and paths of one machine by marks, folds white space, and
// makes one mark of several that only punctuation parts.
func Line(line string) string {
	if len(line) > maxLineBytes {
		line = strings.ToValidUTF8(line[:maxLineBytes], "")
	}
	if strings.ContainsAny(line, `/\`) {
		line = Portable(line)
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

const (
	months = `(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*`
	zone   = `(?:\s?(?:Z\b|UTC\b|GMT\b|MST\b|[A-Z]{1,3}S?[DS]?T\b|[+-]\d\d:?\d\d\b))*`
	clock  = `\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?` + zone
	number = `\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?`
)

// All expressions run in linear time, whatever the text is.
var (
	escapes = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-Z\\-~]`)

	uuids = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)
	dates = regexp.MustCompile(`\b\d{4}[-/.]\d\d?[-/.]\d\d?(?:[T _,-]*` + clock + `)?` +
		`|\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,?\s+)?(?:\d{1,2}[\s-]+` + months + `|` + months + `[\s-]+\d{1,2}\b)` +
		`(?:,?[\s-]+\d{4}\b)?(?:[,\s]+` + clock + `)?(?:\s+\d{4}\b)?` +
		`|\b` + clock)
	addresses = regexp.MustCompile(`\[?(?:[0-9a-fA-F]{1,4})?(?::[0-9a-fA-F]{0,4}){2,7}\]?`)
	// 1m3.5s, 300ms; 3 seconds; 1.5 MB
	quantities = regexp.MustCompile(`\b(?:` + number + `(?:ns|us|µs|μs|ms|s|m|h|d))+\b` +
		`|\b` + number + `\s?(?:(?:nano|micro|milli)?(?:seconds?|secs?)|ns|us|µs|μs|ms|s|minutes?|mins?|hours?|hrs?|days?` +
		`|[kKMGT]i?B|B|[Bb]ytes?)\b` +
		`|\b\d` + number + `[eE][+-]?\d+\b`)
)

// replaceFigures puts marks in place of dates, times, durations, sizes, UUIDs and addresses: what a look at single words would not find.
func replaceFigures(line string) string {
	if strings.Count(line, "-") >= 4 {
		line = uuids.ReplaceAllLiteralString(line, string(mark))
	}
	// Nobody can tell which numbers matter without knowing what was logged, so that "got 3, want 4" and "got 5, want 4" are one
	// failure. Only names of tests keep theirs.
	if strings.ContainsFunc(line, isDigit) {
		line = dates.ReplaceAllLiteralString(line, string(mark))
		line = quantities.ReplaceAllLiteralString(line, string(mark))
	}
	if strings.Count(line, ":") >= 2 {
		line = replaceAddresses(line)
	}
	return line
}

// replaceAddresses finds IPv6 and hardware addresses, and tells them from names such as ad::be.
func replaceAddresses(line string) string {
	var b strings.Builder
	last := 0
	for _, span := range addresses.FindAllStringIndex(line, -1) {
		found := line[span[0]:span[1]]
		if strings.HasSuffix(found, ":") && !strings.HasSuffix(found, "::") {
			found = found[:len(found)-1] // the address ends a clause
			span[1]--
		}
		before, _ := utf8.DecodeLastRuneInString(line[:span[0]])
		after, _ := utf8.DecodeRuneInString(line[span[1]:])
		address := strings.ContainsFunc(found, isDigit) && strings.Contains(found, "::") || strings.Count(found, ":") >= 5
		if !address || isWordRune(before) || isWordRune(after) {
			continue
		}
		b.WriteString(line[last:span[0]])
		b.WriteByte(mark)
		last = span[1]
	}
	b.WriteString(line[last:])
	return b.String()
}

func isWordRune(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

var (
	tempPaths = regexp.MustCompile(`(?:/private)?/var/folders/[^/\s]+/[^/\s]+/[A-Z]/` + segments +
		`|(?:/private|/var)?/tmp/` + segments + `|/dev/shm/` + segments + `|/run/user/\d+/` + segments +
		`|[A-Za-z]:[\\/]+(?:Users[\\/]+[^\\/]+[\\/]+AppData[\\/]+Local[\\/]+|Windows[\\/]+)?[Tt](?:e?mp|EMP)[\\/]+` + segments)
	homePaths = regexp.MustCompile(`(?:/home/[^/\s:"'` + "`" + `]+|/Users/[^/\s:"'` + "`" + `]+|/root|[A-Za-z]:[\\/]+Users[\\/]+[^\\/\s:]+|~)(?:[\\/]+` + segments + `)?`)
)

// segments is the rest of a path: what may stand in one, without a place in the file behind it.
const segments = `[^\s:;,"'` + "`" + `()\[\]<>|*?]*`

// Portable leaves of paths below a temporary folder or somebody's home what is likely to be the same elsewhere: the
// name of the file, and for a home that of its folder.
func Portable(line string) string {
	line = replacePaths(line, tempPaths, func(path string) string {
		parts := pathParts(path)
		if len(parts) > 0 {
			parts = parts[1:] // the name that was drawn
		}
		return lastParts("<tmp>", parts, 1)
	})
	return replacePaths(line, homePaths, func(path string) string { return lastParts("<home>", pathParts(path), 2) })
}

// replacePaths replaces what begins where a path can begin: not in the middle of another one.
func replacePaths(line string, re *regexp.Regexp, with func(string) string) string {
	var b strings.Builder
	last := 0
	for _, span := range re.FindAllStringIndex(line, -1) {
		if span[0] > 0 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./\\~>", rune(line[span[0]-1])) {
			continue
		}
		b.WriteString(line[last:span[0]])
		b.WriteString(with(line[span[0]:span[1]]))
		last = span[1]
	}
	b.WriteString(line[last:])
	return b.String()
}

// pathParts are the names below the temporary folder or the home.
func pathParts(path string) []string {
	parts := strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' })
	roots := []string{"tmp", "temp", "shm", "root", "~"}
	for i, part := range parts {
		lower := strings.ToLower(part)
		switch {
		case lower == "appdata": // ...\Users\NAME\AppData\Local\Temp
			continue
		case i == 0 && (lower == "home" || lower == "users"), i == 1 && lower == "users" && strings.HasSuffix(parts[0], ":"):
			if rest := parts[min(i+2, len(parts)):]; len(rest) == 0 || strings.ToLower(rest[0]) != "appdata" {
				return rest
			}
		case lower == "folders" && i <= 2: // /var/folders/xx/yyyy/T
			return parts[min(i+4, len(parts)):]
		case lower == "user" && i == 1 && parts[0] == "run":
			return parts[min(i+2, len(parts)):]
		case slices.Contains(roots, lower):
			return parts[i+1:]
		}
	}
	return nil
}

func lastParts(root string, parts []string, n int) string {
	if len(parts) > n {
		parts = parts[len(parts)-n:]
	}
	return strings.Join(append([]string{root}, parts...), "/")
}
