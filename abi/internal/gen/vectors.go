package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/internal/model"
	mt "github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// vectors adds the test vectors of each type. They share no code with the codecs: what these must answer is worked out here a second time.
func (files contents) vectors(m *model.Model) error {
	for _, s := range m.Structs {
		set := &set{of: s, names: map[string]bool{}}
		set.valid()
		set.fields()
		set.message()
		set.rules()
		content, err := set.encode()
		if err != nil {
			return fmt.Errorf("%s: %w", s.WireName, err)
		}
		files["testdata/vectors/"+s.WireName+".json"] = content
	}
	return nil
}

// problem is what a decoder must find.
type problem struct {
	Path string   `json:"path"`
	Code abi.Code `json:"code"`
}

// vector is one message with what a decoder must make of it.
type vector struct {
	Name      string    `json:"name"`
	Hex       string    `json:"hex"`
	Limit     int       `json:"limit,omitempty"`
	Valid     bool      `json:"valid"`
	Canonical string    `json:"canonical,omitempty"`
	Problems  []problem `json:"problems,omitempty"`
	Omitted   int       `json:"omitted,omitempty"`
}

// set gathers the vectors of one type.
type set struct {
	of      *model.StructType
	vectors []vector
	names   map[string]bool
	err     error
}

func (s *set) add(v vector) {
	if s.names[v.Name] {
		s.err = fmt.Errorf("two vectors are called %q", v.Name)
	}
	s.names[v.Name] = true
	s.vectors = append(s.vectors, v)
}

// accept adds a valid message, with its canonical form.
func (s *set) accept(name string, message mt.Node) {
	s.add(vector{Name: name, Hex: hexOf(message), Valid: true, Canonical: hexOf(canonicalStruct(s.of, message))})
}

// reject adds a message with its problems in their order.
func (s *set) reject(name string, message mt.Node, problems ...problem) {
	s.rejectBytes(name, message.Bytes(), problems...)
}

func (s *set) rejectBytes(name string, message []byte, problems ...problem) {
	s.add(vector{Name: name, Hex: hex.EncodeToString(message), Problems: problems})
}

// encode writes the set, a vector a line.
func (s *set) encode() ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"type\":%q,\"vectors\":[\n", s.of.WireName)
	for i, v := range s.vectors {
		line, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		b.Write(line)
		if i < len(s.vectors)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}

// path is a data path as text.
type path string

// then goes on by another path.
func (p path) then(rest path) path {
	if p == "" || rest == "" || rest[0] == '[' {
		return p + rest
	}
	return p + "." + rest
}

func (p path) field(name string) path { return p.then(path(name)) }

func (p path) key(key string) path { return p + "[" + path(strconv.Quote(key)) + "]" }

func (p path) index(i int) path { return p + "[" + path(strconv.Itoa(i)) + "]" }

func (p path) is(code abi.Code) problem { return problem{Path: string(p), Code: code} }

func hexOf(n mt.Node) string { return hex.EncodeToString(n.Bytes()) }

// cutter finds what a decoder says of a valid message that ends too early.
type cutter struct {
	at, end int
	found   problem
}

// cut gives the problem of the first end bytes of a valid message.
func cut(n mt.Node, end int) problem {
	c := &cutter{end: end}
	c.value(n, "")
	return c.found
}

// value reports whether the value is there whole.
func (c *cutter) value(n mt.Node, at path) bool {
	switch n.Kind {
	case mt.String, mt.Binary, mt.List, mt.Map:
	default:
		return c.take(len(n.Bytes()), abi.CodeTruncated, at)
	}
	if !c.take(n.HeaderBytes(), abi.CodeTruncated, at) {
		return false
	}
	switch n.Kind {
	case mt.List:
		return c.list(n, at)
	case mt.Map:
		return c.entries(n, at)
	default:
		return c.take(len(n.Text), abi.CodeBadLength, at)
	}
}

func (c *cutter) list(n mt.Node, at path) bool {
	if !c.hasRoom(len(n.Items), at) {
		return false
	}
	for i, item := range n.Items {
		if !c.value(item, at.index(i)) {
			return false
		}
	}
	return true
}

func (c *cutter) entries(n mt.Node, at path) bool {
	if !c.hasRoom(2*len(n.Entries), at) {
		return false
	}
	for _, e := range n.Entries {
		if !c.value(e.Key, at) {
			return false
		}
		inner := at.field(e.Key.Text)
		if n.Keyed {
			inner = at.key(e.Key.Text)
		}
		if !c.value(e.Value, inner) {
			return false
		}
	}
	return true
}

// hasRoom checks a number of values against the bytes left, of which each needs one at least.
func (c *cutter) hasRoom(values int, at path) bool {
	if values <= c.end-c.at {
		return true
	}
	c.found = at.is(abi.CodeBadLength)
	return false
}

func (c *cutter) take(n int, code abi.Code, at path) bool {
	if c.at+n > c.end {
		c.found = at.is(code)
		return false
	}
	c.at += n
	return true
}
