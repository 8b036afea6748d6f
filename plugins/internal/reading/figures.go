package reading

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// figure is a token with a digit, and what it is a figure of.
type figure struct {
	text    string // in small letters, without the signs around it
	numeric bool
	value   float64  // in the base of its unit
	step    float64  // of its last digit, in the base of its unit
	unit    string   // base of a known unit, or empty
	of      string   // the word behind it, or its unit as it stands
	about   string   // the word before it
	shown   string   // of as it stands
	near    bool     // "about", "nearly", ...
	outOf   string   // the whole of which it is a part: 48 of "3 of 48"
	clause  []string // words of its clause, in a statement
}

// units by name: their base, and how many of it they are.
var units = map[string]struct {
	base  string
	times float64
}{
	"ns": {"s", 1e-9}, "us": {"s", 1e-6}, "µs": {"s", 1e-6}, "ms": {"s", 1e-3}, "s": {"s", 1}, "sec": {"s", 1}, "second": {"s", 1},
	"millisecond": {"s", 1e-3}, "min": {"s", 60}, "minute": {"s", 60}, "h": {"s", 3600}, "hour": {"s", 3600},
	"b": {"B", 1}, "byte": {"B", 1}, "kb": {"B", 1e3}, "mb": {"B", 1e6}, "gb": {"B", 1e9}, "tb": {"B", 1e12},
	"kib": {"B", 1 << 10}, "mib": {"B", 1 << 20}, "gib": {"B", 1 << 30}, "tib": {"B", 1 << 40},
	"%": {"%", 1}, "percent": {"%", 1}, "prozent": {"%", 1},
}

// maxFigures of a text are compared.
const maxFigures = 64

// approximate words say that a figure is no exact one.
var approximate = set("about around roughly nearly almost approximately circa some over under than least most up etwa rund fast environ casi cerca ~")

// parting words stand between a part and its whole.
var parting = set("of von de sur")

// figures are the figures of a text, in order.
func figures(text string) []figure {
	if !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	tokens := strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || c == '=' || c == '|' })
	for i := range tokens {
		tokens[i] = strings.ToLower(strings.Trim(tokens[i], "()[]{}<>,;:!?\"'`.*“”„«»「」。，"))
	}
	var list []figure
	for i, token := range tokens {
		if !strings.ContainsAny(token, "0123456789") || len(list) == maxFigures {
			continue
		}
		f := newFigure(token)
		f.near = i > 0 && approximate[tokens[i-1]]
		for k := i + 1; k < min(len(tokens), i+4) && f.of == ""; k++ {
			if u, ok := units[singular(tokens[k])]; ok && k == i+1 && f.numeric && f.unit == "" {
				f.measure(u.base, u.times)
			}
			if digits(tokens[k]) != "" && !parting[tokens[k-1]] {
				break // what stands behind the next figure is of that one
			}
			f.of, f.shown = content(tokens[k]), tokens[k]
		}
		if i+2 < len(tokens) && f.numeric && parting[tokens[i+1]] && digits(tokens[i+2]) != "" {
			f.outOf = tokens[i+2]
		}
		for k := i - 1; k >= max(0, i-3) && f.about == "" && digits(tokens[k]) == ""; k-- {
			f.about = content(tokens[k])
		}
		list = append(list, f)
	}
	return list
}

func newFigure(token string) figure {
	f := figure{text: token}
	number := strings.TrimRightFunc(token, func(c rune) bool { return unicode.IsLetter(c) || c == '%' })
	plain := strings.ReplaceAll(number, "_", "")
	if i := strings.IndexByte(plain, ','); i >= 0 {
		if thousands(plain[i:]) {
			plain = strings.ReplaceAll(plain, ",", "")
		} else {
			plain = strings.Replace(plain, ",", ".", 1)
		}
	}
	value, err := strconv.ParseFloat(plain, 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return f
	}
	suffix := token[len(number):]
	u, known := units[suffix]
	if suffix != "" && !known {
		return f
	}
	f.numeric, f.value, f.step = true, value, 1
	if i := strings.IndexByte(plain, '.'); i >= 0 {
		f.step = math.Pow10(i + 1 - len(plain))
	}
	if known {
		f.measure(u.base, u.times)
		f.of, f.shown = suffix, suffix
	}
	return f
}

func (f *figure) measure(base string, times float64) {
	f.unit, f.value, f.step = base, f.value*times, f.step*times
}

// thousands says whether what begins with a comma is groups of three digits.
func thousands(s string) bool {
	for group := range strings.SplitSeq(s[1:], ",") {
		whole, _, _ := strings.Cut(group, ".")
		if len(whole) != 3 {
			return false
		}
	}
	return true
}

// content gives the word of a token if it says something; it is none if it has a digit.
func content(token string) string {
	if strings.ContainsAny(token, "0123456789") || common[token] || len(token) < 3 && units[token].base == "" {
		return ""
	}
	return singular(strings.TrimFunc(token, func(c rune) bool { return !unicode.IsLetter(c) && c != '%' && c != '_' }))
}

func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// equals says whether two figures are the same: as numbers, within what their
// last digit leaves open if they are in other units, or else as they stand. A time
// may leave out its seconds.
func (f *figure) equals(other *figure) bool {
	if !f.numeric || !other.numeric {
		return f.text == other.text || strings.ContainsAny(f.text, ":-/T") && len(f.text) >= 4 && strings.Contains(other.text, f.text)
	}
	if f.unit != "" && other.unit != "" && f.unit != other.unit {
		return false
	}
	if f.value == other.value {
		return true
	}
	off := math.Abs(f.value - other.value)
	switch {
	case f.near:
		return off <= math.Abs(other.value)/10
	case f.step != other.step:
		return off <= f.step/2 && f.value != 0 && off <= math.Abs(other.value)/10
	default:
		return off <= 1e-9*math.Abs(other.value)
	}
}

// among says whether one of a list is the same.
func (f *figure) among(list []figure) bool {
	for i := range list {
		if f.equals(&list[i]) {
			return true
		}
	}
	return false
}

// alike says whether two figures are of the same thing, as far as the words
// beside them tell.
func (f *figure) alike(other *figure) bool {
	if f.numeric != other.numeric {
		return false
	}
	if f.outOf != "" && f.outOf == other.outOf {
		return true
	}
	return f.of != "" && f.of == other.of || f.unit != "" && f.unit == other.unit || f.about != "" && f.about == other.about
}

// follows says whether the figure can be derived from two that it is like: as
// their difference, their sum, or the share of one in the other.
func (f *figure) follows(list []figure) bool {
	const most = 16
	for i := range min(len(list), most) {
		for j := range min(len(list), most) {
			a, b := &list[i], &list[j]
			if i == j || !f.numeric || !a.numeric || !b.numeric || a.unit != b.unit {
				continue
			}
			share := figure{numeric: true, value: 100 * a.value / b.value, step: 0.01}
			if f.unit == "%" && b.value != 0 && (figure{numeric: true, value: f.value, step: f.step, near: f.near}).nearly(&share) {
				return true
			}
			if f.alike(a) && (f.nearly(&figure{numeric: true, value: a.value - b.value, step: a.step}) || i < j && f.nearly(&figure{numeric: true, value: a.value + b.value, step: a.step})) {
				return true
			}
		}
	}
	return false
}

func (f figure) nearly(other *figure) bool {
	f.unit = ""
	return f.equals(other)
}

// ordinal words stand before figures that count or name, and measure nothing.
var ordinal = set("item items round rounds line lines step section paragraph page exhibit figure table chapter article no number time zeile ligne línea punkt")

// figures of a statement that the evidence must bear out: outside of
// quotations, and neither places in documents nor how sure somebody is.
func (s *Statement) figures() []figure {
	if len(s.figured) > 0 || s.read {
		return s.figured
	}
	s.read = true
	_, sure := s.stated()
	all := figures(s.Outside)
	s.place(all)
	for _, f := range all {
		if ordinal[f.about] || ordinal[singular(f.about)] || ordinal[f.of] && f.of != "time" || proceedings[f.of] || f.text == sure || place(f.text) {
			continue
		}
		s.figured = append(s.figured, f)
	}
	return s.figured
}

// place gives each figure of the statement the words of its clause.
func (s *Statement) place(all []figure) {
	if len(all) == 0 {
		return
	}
	at := 0
	for _, clause := range s.Clauses() {
		words := slices.DeleteFunc(clause.Words, func(word string) bool { return strings.ContainsAny(word, "0123456789") })
		for range figures(clause.Text) {
			if at < len(all) {
				all[at].clause = words
				at++
			}
		}
	}
}

// place says whether a token is a place in a document: log:L3, L3, log#12.
func place(token string) bool {
	i := strings.LastIndexAny(token, ":#")
	rest := token[i+1:]
	if strings.HasPrefix(rest, "l") {
		return digits(rest[1:]) != ""
	}
	return i > 0 && digits(rest) == rest && !strings.ContainsAny(token[i-1:i], "0123456789")
}

// digits are those at the beginning of a text.
func digits(s string) string {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i]
}

// measures says whether a statement has a figure of something.
func (s *Statement) measures() bool {
	return slices.ContainsFunc(s.figures(), func(f figure) bool { return f.of != "" && f.about != "" })
}

// Line is a line of a document, whose figures are read when they are asked for.
type Line struct {
	Text string
	item *Item
}

// Figures says whether a line has all figures of a statement, and there are some.
func (s *Statement) Figures(line *Line) bool {
	mine := s.figures()
	if len(mine) == 0 || len(line.read().figures) == 0 {
		return false
	}
	for i := range mine {
		if !mine[i].among(line.item.figures) {
			return false
		}
	}
	return true
}

// Measures says whether a line has a figure of the same as the statement, by the words
// before and behind it.
func (s *Statement) Measures(line *Line) bool {
	return len(s.figures()) > 0 && len(line.read().figures) > 0 && line.item.measures(s)
}

func (line *Line) read() *Item {
	if line.item == nil {
		line.item = &Item{figures: figures(line.Text), words: make(map[string]bool)}
		if len(line.item.figures) > 0 {
			EachWord(line.Text, func(word string) { line.item.words[word] = true })
		}
	}
	return line.item
}
