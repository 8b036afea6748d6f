package quarantine

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

const heading = "Tests that are proven flaky and do not block. Review changes as code; validate with: shadowcourt quarantine check"

// New is a file without entries.
func New(name string) *File {
	return &File{Name: name, MaxDays: DefaultMaxDays, root: &yaml.Node{Kind: yaml.MappingNode, HeadComment: "# " + heading}}
}

// Add adds an entry: before the first one with a later name, or at the end.
func (f *File) Add(e Entry) {
	at := slices.IndexFunc(f.Tests, func(other Entry) bool { return other.Test > e.Test })
	if at < 0 {
		at = len(f.Tests)
	}
	f.Tests = slices.Insert(f.Tests, at, e)
	tests := f.list()
	tests.Content = slices.Insert(tests.Content, at, nodeOf(&e))
	f.Removed = slices.DeleteFunc(f.Removed, func(r Removal) bool { return r.Test == e.Test })
	f.writeRemoved()
}

// Remove removes the entry of a test with its comments, and remembers when and why.
func (f *File) Remove(test string, now time.Time, why string) {
	for i := range f.Tests {
		if f.Tests[i].Test == test {
			f.Tests = slices.Delete(f.Tests, i, i+1)
			tests := f.list()
			tests.Content = slices.Delete(tests.Content, i, i+1)
			f.Removed = append(f.Removed, Removal{test, TimeOf(now), why})
			f.writeRemoved()
			return
		}
	}
}

// Forget drops removals from before a time.
func (f *File) Forget(before time.Time) {
	kept := slices.DeleteFunc(slices.Clone(f.Removed), func(r Removal) bool { return r.On.Before(before) })
	if len(kept) < len(f.Removed) {
		f.Removed = kept
		f.writeRemoved()
	}
}

// SetFailures changes what is known of the failures of a test.
func (f *File) SetFailures(test string, failures Failures) {
	for i := range f.Tests {
		if f.Tests[i].Test == test {
			f.Tests[i].Failures = failures
			entry := f.list().Content[i]
			m := value(entry, "failures")
			if m == nil {
				m = &yaml.Node{Kind: yaml.MappingNode}
				entry.Content = append(entry.Content, word("failures"), m)
			}
			known := nodeOf(&failures)
			for at := len(m.Content) - 2; at >= 0; at -= 2 {
				if key := m.Content[at].Value; value(known, key) == nil {
					set(m, key, nil)
				}
			}
			for at := 0; at < len(known.Content); at += 2 {
				set(m, known.Content[at].Value, known.Content[at+1])
			}
			return
		}
	}
}

// Bytes is the file as it is written. Comments and the order of keys stay; equal files give equal bytes.
func (f *File) Bytes() ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if len(f.root.Content) == 0 {
		f.list()
	}
	if err := enc.Encode(f.root); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// Text is one entry as it is written.
func (e *Entry) Text() (string, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{nodeOf(e)}})
	return out.String(), err
}

// value is the value of a key; nil for none.
func value(m *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1]
		}
	}
	return nil
}

// list is the list of tests, which is added where it is missing.
func (f *File) list() *yaml.Node {
	v := value(f.root, "tests")
	if v == nil {
		v = &yaml.Node{Kind: yaml.SequenceNode}
		f.root.Content = append(f.root.Content, word("tests"), v)
	}
	if v.Style&yaml.FlowStyle != 0 { // as tests: []
		v.Style &^= yaml.FlowStyle
	}
	return v
}

// set changes the value of a key, and keeps comments; nil removes the key.
func set(m *yaml.Node, key string, v *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != key {
			continue
		}
		if v == nil {
			m.Content = slices.Delete(m.Content, i, i+2)
			return
		}
		old := m.Content[i+1]
		v.HeadComment, v.LineComment, v.FootComment = old.HeadComment, old.LineComment, old.FootComment
		m.Content[i+1] = v
		return
	}
	if v != nil {
		m.Content = append(m.Content, word(key), v)
	}
}

// word is a key.
func word(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// nodeOf is a struct as it is written. Dates and times have no quotes, and a text with a line break has: nobody may take it for lines of the file.
func nodeOf(v any) *yaml.Node {
	n := strictyaml.NodeOf(v)
	restyle(n, "")
	return n
}

func restyle(n *yaml.Node, key string) {
	switch {
	case slices.Contains([]string{"since", "expires", "date", "first", "last", "on"}, key):
		n.Tag, n.Style = "", 0
	case n.Kind == yaml.ScalarNode && !strings.ContainsFunc(n.Value, func(r rune) bool { return !strconv.IsPrint(r) }):
		n.Style = 0 // the library quotes what would read as another type
	case key == "base":
		n.Style = yaml.FlowStyle
	}
	for i, child := range n.Content {
		switch {
		case n.Kind == yaml.SequenceNode:
			restyle(child, "")
		case i%2 == 1:
			restyle(child, n.Content[i-1].Value)
		}
	}
}

func (f *File) writeRemoved() {
	var removed *yaml.Node
	if len(f.Removed) > 0 {
		removed = &yaml.Node{Kind: yaml.SequenceNode}
	}
	for i := range f.Removed {
		item := nodeOf(&f.Removed[i])
		item.Style = yaml.FlowStyle
		removed.Content = append(removed.Content, item)
	}
	set(f.root, "removed", removed)
}
