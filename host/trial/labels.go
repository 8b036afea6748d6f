package trial

import (
	"regexp"
	"slices"
	"strings"
)

// LabelName is what people call a label: its name up to the first comma, or its whole name where another label shares that. A
// label without a name is called as it is.
func (t *Trial) LabelName(label string) string { return LabelName(t.LabelNames, label) }

// LabelName is what people call a label, of those with these names.
func LabelName(names map[string]string, label string) string {
	name := names[label]
	if name == "" {
		return label
	}
	short := shortName(name)
	whole := false
	for other, its := range names {
		if other == label || shortName(its) != short {
			continue
		}
		if its == name {
			return label // nothing but the label itself tells them apart
		}
		whole = true
	}
	if whole || short == "" {
		return name
	}
	return short
}

func shortName(name string) string {
	name, _, _ = strings.Cut(name, ",")
	return strings.TrimSpace(name)
}

// code is what a label looks like that no word of a text is.
var code = regexp.MustCompile(`[A-Za-z_]*[0-9][A-Za-z0-9_]*`)

// Named is a persona's text with the names of labels in place of labels that are codes, such as pb001. Other labels may be words.
func (t *Trial) Named(text string) string {
	if len(t.LabelNames) == 0 {
		return text
	}
	for label, name := range t.LabelNames { // what names both already
		for _, name := range [...]string{name, t.LabelName(label)} {
			text = strings.ReplaceAll(text, label+" ("+name+")", t.LabelName(label))
		}
	}
	return code.ReplaceAllStringFunc(text, func(word string) string {
		if !slices.Contains(t.Case.Labels, word) {
			return word
		}
		return t.LabelName(word)
	})
}
