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
	value   float64
	unit    string // letters behind the number
	of      string // the unit, or the word behind it
	about   string // the word before it
	near    bool   // "about", "nearly", ...
}

// maxFigures of a text are compared.
const maxFigures = 64

// approximate words say that a figure is no exact one.
var approximate = set("about around roughly nearly almost approximately circa some over under than least most up ~")

// figures are the figures of a text, in order.
func figures(text string) []figure {
	if !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	tokens := strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || c == '=' || c == '|' })
	for i := range tokens {
		tokens[i] = strings.ToLower(strings.Trim(tokens[i], "()[]{}<>,;:!?\"'`.*“”"))
	}
	var list []figure
	for i, token := range tokens {
		if !hasDigit(token) || len(list) == maxFigures {
			continue
		}
		f := newFigure(token)
		f.near = i > 0 && approximate[tokens[i-1]]
		for k := i + 1; k < min(len(tokens), i+4) && f.of == "" && (digits(tokens[k]) == "" || tokens[k-1] == "of"); k++ {
			f.of = content(tokens[k]) // what stands behind the next figure is of that one
		}
		for k := i - 1; k >= max(0, i-3) && f.about == "" && digits(tokens[k]) == ""; k-- {
			f.about = content(tokens[k])
		}
		list = append(list, f)
	}
	return list
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// newFigure reads "30", "1,250" and "0.75s".
func newFigure(token string) figure {
	number := strings.TrimRightFunc(token, func(c rune) bool { return unicode.IsLetter(c) || c == '%' })
	value, err := strconv.ParseFloat(strings.ReplaceAll(strings.ReplaceAll(number, ",", ""), "_", ""), 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return figure{text: token}
	}
	unit := token[len(number):]
	return figure{text: token, numeric: true, value: value, unit: unit, of: unit}
}

// content gives the word of a token if it says something; it is none if it has a digit.
func content(token string) string {
	if hasDigit(token) || common[token] || len(token) < 3 && token != "s" && token != "ms" && token != "%" {
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

// equals says whether two figures are the same, as numbers or else as they stand. A time may leave out its seconds.
func (f *figure) equals(other *figure) bool {
	switch {
	case !f.numeric || !other.numeric:
		return f.text == other.text || strings.ContainsAny(f.text, ":-/T") && len(f.text) >= 4 && strings.Contains(other.text, f.text)
	case f.unit != "" && other.unit != "" && f.unit != other.unit:
		return false
	case f.near:
		return math.Abs(f.value-other.value) <= math.Abs(other.value)/10
	}
	return f.value == other.value
}

// among says whether one of a list is the same.
func (f *figure) among(list []figure) bool {
	return slices.ContainsFunc(list, func(other figure) bool { return f.equals(&other) })
}

// alike says whether two figures are of the same thing, as far as the words beside them tell.
func (f figure) alike(other figure) bool {
	return f.numeric == other.numeric && f.of != "" && f.of == other.of
}

// ordinal words stand before figures that count or name, and measure nothing.
var ordinal = set("item round line step section paragraph page exhibit figure table chapter article no number time")

// figures of a statement that the evidence must bear out: outside of quotations, and neither places in documents nor how sure somebody is.
func (s *Statement) figures() []figure {
	if s.read {
		return s.figured
	}
	s.read = true
	_, sure := s.stated()
	for _, f := range figures(s.Outside) {
		if !ordinal[f.about] && (!ordinal[f.of] || f.of == "time") && !proceedings[f.of] && f.text != sure && !place(f.text) {
			s.figured = append(s.figured, f)
		}
	}
	return s.figured
}

// place says whether a token is a place in a document: log:L3, L3, log#12.
func place(token string) bool {
	i := strings.LastIndexAny(token, ":#")
	rest := token[i+1:]
	if strings.HasPrefix(rest, "l") {
		return digits(rest[1:]) != ""
	}
	return i > 0 && digits(rest) == rest && !hasDigit(token[i-1:i])
}
