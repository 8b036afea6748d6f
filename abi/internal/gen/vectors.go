package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	lines := make([]string, len(s.vectors))
	for i, v := range s.vectors {
		line, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		lines[i] = string(line)
	}
	return fmt.Appendf(nil, "{\"type\":%q,\"vectors\":[\n%s\n]}\n", s.of.WireName, strings.Join(lines, ",\n")), nil
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

// token is what a decoder reads at once: the head of a value, what follows the head of a text, or all of another value.
type token struct {
	at     path
	bytes  int
	code   abi.Code // where they are not all there
	values int      // that follow, of a byte each at least
}

// tokens gives those of a value in their order.
func tokens(n mt.Node, at path) []token {
	switch n.Kind {
	case mt.String, mt.Binary:
		return []token{{at, n.HeaderBytes(), abi.CodeTruncated, 0}, {at, len(n.Text), abi.CodeBadLength, 0}}
	case mt.List, mt.Map:
		list := []token{{at, n.HeaderBytes(), abi.CodeTruncated, len(n.Items) + 2*len(n.Entries)}}
		for i, item := range n.Items {
			list = append(list, tokens(item, at.index(i))...)
		}
		for _, e := range n.Entries {
			inner := at.field(e.Key.Text)
			if n.Keyed {
				inner = at.key(e.Key.Text)
			}
			list = slices.Concat(list, tokens(e.Key, at), tokens(e.Value, inner))
		}
		return list
	default:
		return []token{{at, len(n.Bytes()), abi.CodeTruncated, 0}}
	}
}

// cut gives the problem of the first bytes of a valid message, up to an end.
func cut(n mt.Node, end int) problem {
	for _, t := range tokens(n, "") {
		switch left := end - t.bytes; {
		case left < 0:
			return t.at.is(t.code)
		case t.values > left:
			return t.at.is(abi.CodeBadLength)
		default:
			end = left
		}
	}
	return problem{}
}
