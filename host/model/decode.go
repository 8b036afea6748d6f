package model

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// maxFaults is how many faults of a file are reported.
const maxFaults = 100

// maxNames is how many providers, or models, a file may have.
const maxNames = 256

type node = yaml.Node

// setter takes the value at a path.
type setter func(n *node, path string)

// fault is one of a file.
type fault struct {
	line int
	text string
}

// reader turns YAML into a definition and collects what is wrong with it.
type reader struct {
	file   string
	faults []fault
	checks []func() // that need all of the file
}

func (r *reader) after(check func()) { r.checks = append(r.checks, check) }

func (r *reader) later() {
	for _, check := range r.checks {
		check()
	}
}

func (r *reader) fail(n *node, path, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if path = strings.TrimPrefix(path, "."); path != "" {
		text = path + ": " + text
	}
	r.faults = append(r.faults, fault{n.Line, text})
}

// err has the faults in the order of their lines.
func (r *reader) err() error {
	if len(r.faults) == 0 {
		return nil
	}
	slices.SortStableFunc(r.faults, func(a, b fault) int { return cmp.Compare(a.line, b.line) })
	var all []error
	for i, f := range r.faults {
		if i == maxFaults {
			all = append(all, fmt.Errorf("%s: %d more faults are not shown", r.file, len(r.faults)-i))
			break
		}
		at := r.file
		if f.line > 0 {
			at += ":" + strconv.Itoa(f.line)
		}
		all = append(all, fmt.Errorf("%s: %s", at, f.text))
	}
	return errors.Join(all...)
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// document parses the one document of a file; nil if there is none.
func (r *reader) document(data []byte) *node {
	whole := func(line int, text string) *node {
		r.fail(&node{Line: line}, "", "%s", text)
		return nil
	}
	if len(data) > MaxFileBytes {
		return whole(0, fmt.Sprintf("is larger than %d bytes", MaxFileBytes))
	}
	if !utf8.Valid(data) {
		return whole(0, "is not UTF-8")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc node
	err := decoder.Decode(&doc)
	if err == nil {
		if err = decoder.Decode(&node{}); err == nil {
			return whole(0, "has a second document")
		}
	} else if errors.Is(err, io.EOF) {
		return whole(0, "is empty")
	}
	if !errors.Is(err, io.EOF) {
		line, text := 0, err.Error()
		if m := yamlLine.FindStringSubmatch(text); m != nil {
			line, _ = strconv.Atoi(m[1])
		}
		return whole(line, "is not YAML") // what yaml says besides may quote the line
	}
	if !r.plain(doc.Content[0], 0) {
		return nil
	}
	return doc.Content[0]
}

// plain rejects aliases, which can blow up a small file, and what is nested too deep.
func (r *reader) plain(n *node, depth int) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.fail(n, "", "anchors and aliases are not allowed; write the value out")
		return false
	}
	if depth > 16 {
		r.fail(n, "", "is nested deeper than 16")
		return false
	}
	for _, child := range n.Content {
		if !r.plain(child, depth+1) {
			return false
		}
	}
	return true
}

// pairs goes through a mapping, without keys that occur a second time.
func (r *reader) pairs(n *node, path string, each func(key, value *node, path string)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, path, "want a mapping, not %s", describe(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		sub := path + "." + clip(key.Value)
		switch line, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			r.fail(key, path, "want a text as key, not %s", describe(key))
		case twice:
			r.fail(key, sub, "is given in line %d already", line)
		default:
			seen[key.Value] = key.Line
			each(key, value, sub)
		}
	}
}

// fields reads a mapping with fixed keys, and gives the values by their keys.
func (r *reader) fields(n *node, path string, known map[string]setter) map[string]*node {
	at := map[string]*node{}
	r.pairs(n, path, func(key, value *node, sub string) {
		set, ok := known[key.Value]
		switch {
		case !ok && strings.HasPrefix(path, ".providers") && strings.Contains(strings.ToLower(key.Value), "key"):
			r.fail(key, sub, "unknown key; a provider's key never stands in this file: key_env names the variable that holds it, key_file the file")
		case !ok:
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			r.fail(key, sub, "unknown key; known are %s", strings.Join(names, ", "))
		default:
			at[key.Value] = value
			set(value, sub)
		}
	})
	return at
}

func (r *reader) required(n *node, path string, at map[string]*node, names ...string) {
	for _, name := range names {
		if n.Kind == yaml.MappingNode && at[name] == nil {
			r.fail(n, path+"."+name, "is missing")
		}
	}
}

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$`)

// names reads a mapping whose keys are names of the author's choice.
func (r *reader) names(each func(name string) setter) setter {
	return func(n *node, path string) {
		count := 0
		r.pairs(n, path, func(key, value *node, sub string) {
			if count++; count > maxNames {
				return
			}
			if !name.MatchString(key.Value) {
				r.fail(key, sub, "use a name of letters, digits and . _ - : /, at most 64 of them")
				return
			}
			each(key.Value)(value, sub)
		})
		if count > maxNames {
			r.fail(n, path, "has %d entries; there may be %d", count, maxNames)
		}
		if n.Kind == yaml.MappingNode && count == 0 {
			r.fail(n, path, "is empty")
		}
	}
}

func (r *reader) scalar(n *node, path, want string, tags ...string) bool {
	if n.Kind == yaml.ScalarNode && slices.Contains(tags, n.ShortTag()) {
		return true
	}
	r.fail(n, path, "want %s, not %s", want, describe(n))
	return false
}

func (r *reader) text(target *string) setter {
	return func(n *node, path string) {
		switch {
		case !r.scalar(n, path, "a text", "!!str"):
		case n.Value == "":
			r.fail(n, path, "is empty")
		case len(n.Value) > 4096 || strings.ContainsFunc(n.Value, func(c rune) bool { return c < ' ' || c == 0x7f }):
			r.fail(n, path, "is longer than 4096 bytes or has control characters")
		default:
			*target = n.Value
		}
	}
}

func (r *reader) oneOf(target *string, values ...string) setter {
	return func(n *node, path string) {
		if r.scalar(n, path, "a text", "!!str") {
			if !slices.Contains(values, n.Value) {
				r.fail(n, path, "use %s", strings.Join(values, " or "))
				return
			}
			*target = n.Value
		}
	}
}

func (r *reader) integer(target *int, low, high int) setter {
	return func(n *node, path string) {
		if !r.scalar(n, path, "a number", "!!int") {
			return
		}
		var v int
		if err := n.Decode(&v); err != nil || v < low || v > high {
			r.fail(n, path, "use a number from %d to %d", low, high)
			return
		}
		*target = v
	}
}

func (r *reader) number(target *float64, high float64) setter {
	return func(n *node, path string) {
		if !r.scalar(n, path, "a number", "!!int", "!!float") {
			return
		}
		var v float64
		if err := n.Decode(&v); err != nil || math.IsNaN(v) || v < 0 || v > high {
			r.fail(n, path, "use a number from 0 to %g", high)
			return
		}
		*target = v
	}
}

func (r *reader) duration(target *time.Duration) setter {
	return func(n *node, path string) {
		if !r.scalar(n, path, "a duration such as 90s", "!!str") {
			return
		}
		d, err := time.ParseDuration(n.Value)
		if err != nil || d <= 0 || d > time.Hour {
			r.fail(n, path, "use a duration above 0 and up to 1h, such as 90s")
			return
		}
		*target = d
	}
}

// describe says what a value is, and not the value: it may be a key.
func describe(n *node) string {
	switch n.ShortTag() {
	case "!!map":
		return "a mapping"
	case "!!seq":
		return "a list"
	case "!!null":
		return "nothing"
	case "!!str":
		return "a text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	default:
		return "another value; quote it to make it a text"
	}
}

// clip keeps a name of the file short enough for a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

// plainPathError is the error of a file without its name.
func plainPathError(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
