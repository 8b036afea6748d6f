package docket

import (
	"html/template"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket/inert"
)

// textMap makes a deep copy of a trial with all its texts changed. It walks the types by reflection, so that a field that
// comes later can't be forgotten.
type textMap struct {
	text       func(string) string // strings and keys of maps
	vocabulary func(string) string // strings of a named type
	markup     func(string) string // template.HTML
}

// Inert gives a copy of the trial in which every text is inert (see package inert), for a writer that lays text out
// itself. The documents are left out.
func (t *Trial) Inert() *Trial {
	m := textMap{text: inert.Block, vocabulary: inert.Line, markup: inertMarkup}
	return m.trial(t)
}

// inertMarkup shows what does not show in the texts of trusted markup. A placeholder's angle brackets must not open a tag.
func inertMarkup(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || r == '\t' || inert.Shows(r) {
			b.WriteRune(r)
			continue
		}
		b.WriteString(strings.Trim(inert.Placeholder(r), "<>"))
	}
	return b.String()
}

func (m *textMap) trial(t *Trial) *Trial {
	compared := t.Compare()
	from := *t
	from.Case.Documents = nil
	if from.Beside != nil {
		beside := *from.Beside
		beside.Case.Documents = nil
		from.Beside = &beside
	}
	out := &Trial{}
	m.copy(reflect.ValueOf(out).Elem(), reflect.ValueOf(&from).Elem())
	out.Compared = &compared
	return out
}

var (
	stringType = reflect.TypeFor[string]()
	markupType = reflect.TypeFor[template.HTML]()
)

// copy puts a changed deep copy of from into to, which is zero.
func (m *textMap) copy(to, from reflect.Value) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(m.function(from.Type())(from.String()))
	case reflect.Struct:
		for i := range from.NumField() {
			m.copy(to.Field(i), from.Field(i))
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			m.copy(to.Elem(), from.Elem())
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				m.copy(to.Index(i), from.Index(i))
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			m.copyMap(to, from)
		}
	default:
		to.Set(from)
	}
}

func (m *textMap) function(t reflect.Type) func(string) string {
	switch t {
	case stringType:
		return m.text
	case markupType:
		return m.markup
	}
	return m.vocabulary
}

func (m *textMap) copyMap(to, from reflect.Value) {
	to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	keys := from.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		k := reflect.New(key.Type()).Elem()
		m.copy(k, key)
		for n, base := 2, k.String(); to.MapIndex(k).IsValid(); n++ {
			k = reflect.ValueOf(base + " " + strconv.Itoa(n)).Convert(key.Type())
		}
		v := reflect.New(from.Type().Elem()).Elem()
		m.copy(v, from.MapIndex(key))
		to.SetMapIndex(k, v)
	}
}
