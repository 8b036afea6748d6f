package quarantine

import (
	"bytes"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
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
	tests.Content = slices.Insert(tests.Content, at, e.node())
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
			failures.write(m)
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
	err := enc.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{e.node()}})
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

// word is a key or another text that needs no quotes.
func word(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// text is a text; the library quotes what would read as another type. One with a line break is quoted, too: nobody may take it for lines of the file.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	for _, r := range s {
		if !strconv.IsPrint(r) {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	return n
}

func number(n int) *yaml.Node { return word(strconv.Itoa(n)) }

// mapping is a mapping of keys and values; a nil value leaves its key out.
func mapping(pairs ...any) *yaml.Node {
	m := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		if v, _ := pairs[i+1].(*yaml.Node); v != nil {
			m.Content = append(m.Content, word(key), v)
		}
	}
	return m
}

func optional(s string) *yaml.Node {
	if s == "" {
		return nil
	}
	return text(s)
}

func day(d Day) *yaml.Node {
	if d == "" {
		return nil
	}
	return word(string(d))
}

func instant(t Time) *yaml.Node {
	if t.IsZero() {
		return nil
	}
	return word(t.String())
}

func (e *Entry) node() *yaml.Node {
	failures := &yaml.Node{Kind: yaml.MappingNode}
	e.Failures.write(failures)
	if len(failures.Content) == 0 {
		failures = nil
	}
	return mapping("test", text(e.Test), "group", optional(e.Group), "reason", text(e.Reason), "proof", e.Proof.node(), "owner", text(e.Owner),
		"since", day(e.Since), "expires", day(e.Expires), "failures", failures)
}

func (p *Proof) node() *yaml.Node {
	var confidence, base *yaml.Node
	if p.Confidence > 0 {
		confidence = word(strconv.FormatFloat(p.Confidence, 'g', -1, 64))
	}
	if p.Base.Runs > 0 {
		base = mapping("failed", number(p.Base.Failed), "runs", number(p.Base.Runs))
		base.Style = yaml.FlowStyle
	}
	return mapping("attribution", optional(p.Attribution), "confidence", confidence, "runs", optional(p.Runs), "base", base,
		"base_code", optional(p.BaseCode), "commit", optional(p.Commit), "date", day(p.Date), "link", optional(p.Link))
}

// write changes the mapping of failures.
func (f *Failures) write(m *yaml.Node) {
	if f.Count == 0 {
		return
	}
	set(m, "count", number(f.Count))
	set(m, "first", instant(f.First))
	set(m, "last", instant(f.Last))
	set(m, "head", optional(f.Head))
	var longest, documents *yaml.Node
	if f.Longest > 0 {
		longest = word(f.Longest.String())
	}
	if len(f.Documents) > 0 {
		documents = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, d := range f.Documents {
			documents.Content = append(documents.Content, text(d))
		}
	}
	set(m, "longest", longest)
	set(m, "documents", documents)
}

func (f *File) writeRemoved() {
	if len(f.Removed) == 0 {
		set(f.root, "removed", nil)
		return
	}
	removed := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range f.Removed {
		r := &f.Removed[i]
		item := mapping("test", text(r.Test), "on", instant(r.On), "why", optional(r.Why))
		item.Style = yaml.FlowStyle
		removed.Content = append(removed.Content, item)
	}
	set(f.root, "removed", removed)
}
