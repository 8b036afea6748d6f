// Package rules reads the rules of a user: patterns over the lines of a case's documents, each with the label that it speaks for, a reason
// and an owner. A sandboxed module evaluates them; see [Set.Definition].
package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The bounds of a file of rules.
const (
	MaxFileBytes    = 128 << 10
	MaxRules        = 200
	MaxPatterns     = 8    // of a rule
	MaxPatternBytes = 1000 // each
	// MaxPatternSize is how many steps a pattern has at most, with its repetitions written out: a{50} has 50.
	MaxPatternSize = 10_000
	// MaxSize is the same for all patterns of a file.
	MaxSize      = 50_000
	maxNameBytes = 60
	maxTextBytes = 500 // of a reason or an owner
)

// DefaultConfidence is that of a rule which states none: a person saw the pattern with this cause, and saw no other cause with it.
const DefaultConfidence = 0.7

// CodeDuplicateName is the code of a name that two rules have.
const CodeDuplicateName abi.Code = "duplicate_name"

// Rule is one rule.
type Rule struct {
	// Name is unique in its file: small letters, digits, - and _.
	Name string `yaml:"name"`
	// Label that the rule speaks for, or its name in the pipeline.
	Label string `yaml:"label"`
	// Reason and Owner are for people. Owner is optional.
	Reason string `yaml:"reason"`
	Owner  string `yaml:"owner"`
	// Match are regular expressions (RE2) over single lines of the documents; each must match one. In the file a list, or one by itself.
	Match Patterns `yaml:"match"`
	// Test is a regular expression over the subject of the case, which names the test. Optional.
	Test string `yaml:"test"`
	// Confidence in (0, 1) that the label is right where the rule matches. Nil means [DefaultConfidence].
	Confidence *float64 `yaml:"confidence"`
}

// Believed is the confidence of the rule.
func (r *Rule) Believed() float64 {
	if r.Confidence == nil {
		return DefaultConfidence
	}
	return *r.Confidence
}

// Patterns are regular expressions.
type Patterns []string

// ReadYAML reads a list of texts, or one text.
func (p *Patterns) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	if v.Kind == yaml.SequenceNode {
		r.Into((*[]string)(p))(v, path)
		return
	}
	var one string
	r.Into(&one)(v, path)
	*p = Patterns{one}
}

// Set are the rules of a file. It is read-only.
type Set struct {
	// File is the name of the file without its folder.
	File string
	// Digest is the SHA-256 of the file, "sha256:" and 64 hex digits.
	Digest string
	Rules  []Rule
}

// Find gives the rule of a name; nil for none.
func (s *Set) Find(name string) *Rule {
	if i := slices.IndexFunc(s.Rules, func(r Rule) bool { return r.Name == name }); i >= 0 {
		return &s.Rules[i]
	}
	return nil
}

// Load reads a file. The error has all faults, each with file, line and column.
func Load(path string) (*Set, error) {
	data, err := strictyaml.ReadFile(path, MaxFileBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse is [Load] for bytes; file is the name for messages.
func Parse(file string, data []byte) (*Set, error) {
	r := &strictyaml.Reader{File: file}
	sum := sha256.Sum256(data)
	s := &Set{File: filepath.Base(file), Digest: "sha256:" + hex.EncodeToString(sum[:])}
	var read struct {
		Rules []Rule `yaml:"rules"`
	}
	if root := r.Document(data, MaxFileBytes); root != nil {
		r.Struct(root, "", &read, nil)
		s.Rules = read.Rules
		(&checker{Reader: r, set: s}).all()
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// checker finds what is wrong with the values of a file.
type checker struct {
	*strictyaml.Reader
	set   *Set
	steps int // of all patterns so far
}

var ruleName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

func (c *checker) all() {
	switch n := len(c.set.Rules); {
	case n == 0 && !c.AnyBroken("rules"):
		c.FailAt("rules", strictyaml.CodeMissing, "has no rule")
	case n > MaxRules:
		c.FailAt("rules", strictyaml.CodeOutOfRange, "has %d rules, and %d are allowed", n, MaxRules)
		return
	}
	first := make(map[string]int)
	for i := range c.set.Rules {
		at := strictyaml.IndexPath("rules", i)
		c.rule(at, &c.set.Rules[i])
		name := c.set.Rules[i].Name
		if before, twice := first[name]; twice && name != "" {
			c.FailAt(strictyaml.FieldPath(at, "name"), CodeDuplicateName, "%q is the name of the rule in line %d, too", strictyaml.Clip(name),
				c.Places.At(strictyaml.IndexPath("rules", before)).Line)
		} else {
			first[name] = i
		}
	}
}

func (c *checker) rule(at string, r *Rule) {
	field := func(name string) string { return strictyaml.FieldPath(at, name) }
	c.Required(field("name"), r.Name)
	if r.Name != "" && (len(r.Name) > maxNameBytes || !ruleName.MatchString(r.Name)) {
		c.FailAt(field("name"), strictyaml.CodeOutOfRange, "%q: use small letters, digits, - and _, at most %d", strictyaml.Clip(r.Name), maxNameBytes)
	}
	c.Required(field("label"), r.Label)
	c.Required(field("reason"), r.Reason)
	for _, of := range []struct{ name, text string }{{"label", r.Label}, {"reason", r.Reason}, {"owner", r.Owner}} {
		switch {
		case len(of.text) > maxTextBytes:
			c.FailAt(field(of.name), strictyaml.CodeOutOfRange, "has %d bytes, and %d are allowed", len(of.text), maxTextBytes)
		case strings.ContainsAny(of.text, "\r\n"):
			c.FailAt(field(of.name), strictyaml.CodeOutOfRange, "has more than one line")
		}
	}
	if p := r.Confidence; p != nil && !(*p > 0 && *p < 1) {
		c.FailAt(field("confidence"), strictyaml.CodeOutOfRange, "is %v: use a number above 0 and below 1", *p)
	}
	switch n := len(r.Match); {
	case n == 0:
		c.FailAt(field("match"), strictyaml.CodeMissing, "is missing or empty")
	case n > MaxPatterns:
		c.FailAt(field("match"), strictyaml.CodeOutOfRange, "has %d patterns, and %d are allowed", n, MaxPatterns)
	case n == 1:
		c.pattern(field("match"), r.Match[0])
	default:
		for i, p := range r.Match {
			c.pattern(strictyaml.IndexPath(field("match"), i), p)
		}
	}
	if r.Test != "" {
		c.pattern(field("test"), r.Test)
	}
}

// pattern checks that a pattern compiles, is no larger than allowed, and does not match everywhere.
func (c *checker) pattern(path, p string) {
	if len(p) > MaxPatternBytes {
		c.FailAt(path, strictyaml.CodeOutOfRange, "has %d bytes, and %d are allowed", len(p), MaxPatternBytes)
		return
	}
	parsed, err := syntax.Parse(p, syntax.Perl)
	if err != nil {
		c.FailAt(path, strictyaml.CodeSyntax, "%v", err)
		return
	}
	n, before := size(parsed), c.steps
	c.steps += n
	switch {
	case n > MaxPatternSize:
		c.FailAt(path, strictyaml.CodeOutOfRange, "has %d steps with its repetitions written out, and %d are allowed", n, MaxPatternSize)
		return
	case c.steps > MaxSize:
		if before <= MaxSize {
			c.FailAt(path, strictyaml.CodeOutOfRange, "the patterns of the file have more than %d steps up to here, with their repetitions written out", MaxSize)
		}
		return
	}
	if compiled, err := regexp.Compile(p); err != nil {
		c.FailAt(path, strictyaml.CodeSyntax, "%v", err)
	} else if compiled.MatchString("") {
		c.FailAt(path, strictyaml.CodeOutOfRange, "matches the empty text, so it would match everywhere")
	}
}

// size is about how many steps a pattern has, counted before anything repeats it in memory.
func size(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += size(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}
