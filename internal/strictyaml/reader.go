package strictyaml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxDepth is far more than the levels of any format here.
const maxDepth = 32

// Node of a document.
type Node = yaml.Node

// Reader turns nodes into values. It goes on behind what is wrong, and collects all faults. The zero value is ready.
type Reader struct {
	// File is the name in messages.
	File string
	// Secret leaves the values of the file out of messages.
	Secret bool
	// Hint says what to do about an unknown key. Where it is nil or empty, the message lists the keys that are known.
	Hint   func(path, key string) string
	Faults Errors
	Places Places

	broken map[string]bool // paths of values that were rejected
}

// Document gives the root of the file's only document, or nil with the fault for which there is none. Each alias, merge key and
// value that is nested too deep is a fault; what reads the values passes over aliases.
func (r *Reader) Document(data []byte, maxBytes int) *Node {
	root, fault := parse(data, maxBytes)
	if fault != nil {
		fault.File = r.File
		if r.Secret && fault.Code == CodeSyntax && strings.HasPrefix(fault.Message, "not YAML") {
			fault.Message = unquoted(fault.Message)
		}
		r.Faults = append(r.Faults, fault)
		return nil
	}
	r.rejectAliases(root, 0)
	return root
}

func parse(data []byte, maxBytes int) (*Node, *Error) {
	if len(data) > maxBytes {
		return nil, &Error{Code: CodeTooLarge, Message: fmt.Sprintf("is larger than %d bytes", maxBytes)}
	}
	if at, message := badCharacter(data); message != "" {
		return nil, &Error{Line: at.Line, Column: at.Column, Code: CodeEncoding, Message: message}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second Node
	err := decoder.Decode(&doc)
	if err == nil && doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		again := decoder.Decode(&second)
		switch {
		case errors.Is(again, io.EOF):
			root := doc.Content[0]
			// Whoever writes the root again keeps the comments at both ends of the file.
			root.HeadComment, root.FootComment = cmp.Or(root.HeadComment, doc.HeadComment), cmp.Or(root.FootComment, doc.FootComment)
			return root, nil
		case again == nil:
			return nil, &Error{Line: second.Line, Column: second.Column, Code: CodeSyntax, Message: "a second document; a file holds one"}
		}
		err = again
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, &Error{Line: 1, Column: 1, Code: CodeSyntax, Message: "the file is empty"}
	}
	return nil, syntaxFault(err)
}

// badCharacter finds the first byte that is not UTF-8, or a character that YAML does not allow.
func badCharacter(data []byte) (at Position, message string) {
	at = Position{1, 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return at, "not UTF-8 (byte 0x" + strconv.FormatUint(uint64(data[i]), 16) + ")"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return at, "control character " + strconv.QuoteRuneToASCII(r) + " is not allowed"
		case r == '\n':
			at = Position{at.Line + 1, 1}
		default:
			at.Column++
		}
		i += size
	}
	return at, ""
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// syntaxFault takes the line out of a message of the YAML library, whose errors have no types and know no column.
func syntaxFault(err error) *Error {
	f := &Error{Line: 1, Column: 1, Code: CodeSyntax}
	message := strings.TrimPrefix(strings.TrimSpace(err.Error()), "yaml: ")
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		f.Line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	f.Message = "not YAML: " + message
	if strings.HasPrefix(message, "exceeded max depth") {
		f.Message = fmt.Sprintf("nested deeper than %d levels", maxDepth)
	}
	return f
}

// unquoted is a message of the library if it is one of those that quote nothing of the file.
func unquoted(message string) string {
	for _, plain := range []string{"did not find", "found character that cannot start any token", "found unexpected end of stream", "mapping values are not allowed", "could not find expected"} {
		if strings.HasPrefix(message, "not YAML: "+plain) {
			return message
		}
	}
	return "not YAML"
}

func (r *Reader) rejectAliases(v *Node, depth int) {
	if depth > maxDepth {
		r.Fail(v, "", CodeTooDeep, "nested deeper than %d levels", maxDepth)
		return
	}
	if v.Kind == yaml.AliasNode {
		r.Fail(v, "", CodeAlias, "aliases are not allowed; write the value out")
		return
	}
	for i, child := range v.Content {
		if v.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() == "!!merge" {
			r.Fail(child, "", CodeAlias, "merge keys are not allowed; write the values out")
			continue
		}
		r.rejectAliases(child, depth+1)
	}
}

// Fail notes a fault at a node.
func (r *Reader) Fail(v *Node, path string, code abi.Code, format string, args ...any) {
	if code != CodeUnknownKey {
		if r.broken == nil {
			r.broken = make(map[string]bool)
		}
		r.broken[path] = true
	}
	r.add(Position{v.Line, v.Column}, path, code, fmt.Sprintf(format, args...))
}

func (r *Reader) add(at Position, path string, code abi.Code, message string) {
	if r.Secret {
		path = longWord.ReplaceAllString(path, "…")
	}
	r.Faults = append(r.Faults, &Error{File: r.File, Line: at.Line, Column: at.Column, Path: path, Code: code, Message: message})
}

// longWord is longer than any key of a format with secrets, and may be one that stands in the wrong place.
var longWord = regexp.MustCompile(`[^.,\[\]" ]{17,}`)

// Word shows a key or a name of the file, short enough for a message. Of a file with secrets it shows no long one.
func (r *Reader) Word(s string) string {
	if r.Secret {
		s = longWord.ReplaceAllString(s, "…")
	}
	return Clip(s)
}

// FailAt notes a fault of what values mean at the place of a path, unless the value there, or what holds it, was rejected before.
func (r *Reader) FailAt(path string, code abi.Code, format string, args ...any) {
	if r.Broken(path) {
		return
	}
	r.add(r.Places.At(path), path, code, fmt.Sprintf(format, args...))
}

// Broken says whether the value at a path, or what holds it below the whole file, was rejected by [Reader.Fail].
func (r *Reader) Broken(path string) bool {
	for ; path != ""; path = ParentPath(path) {
		if r.broken[path] {
			return true
		}
	}
	return false
}

// AnyBroken says whether [Reader.Fail] rejected the whole file, or a value whose path begins with one of the prefixes.
func (r *Reader) AnyBroken(prefixes ...string) bool {
	for path := range r.broken {
		if path == "" || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(path, p) }) {
			return true
		}
	}
	return false
}

// Required checks that a text is there.
func (r *Reader) Required(path, value string) {
	if value == "" {
		r.FailAt(path, CodeMissing, "is missing or empty")
	}
}

// Err gives the faults by their places, at most [MaxErrors]; nil where there are none.
func (r *Reader) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return r.Faults.Sorted()
}

// Mark notes where the value of a path stands.
func (r *Reader) Mark(v *Node, path string) {
	if r.Places == nil {
		r.Places = Places{}
	}
	r.Places[path] = Position{v.Line, v.Column}
}

// Wrong notes that a value is not what was wanted.
func (r *Reader) Wrong(v *Node, path, want string) {
	r.Fail(v, path, CodeWrongType, "want %s, not %s", want, r.describe(v))
}

// describe says what a value is, for a message.
func (r *Reader) describe(v *Node) string {
	value := func(kind, format string) string {
		if r.Secret {
			return kind
		}
		return fmt.Sprintf(format, Clip(v.Value))
	}
	switch tag := v.ShortTag(); {
	case v.Kind == yaml.MappingNode:
		return "a mapping"
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Kind == yaml.AliasNode:
		return "an alias"
	case v.Kind != yaml.ScalarNode || tag == "!!null":
		return "nothing"
	case tag == "!!str":
		return value("a text", "the text %q")
	case tag == "!!int" || tag == "!!float":
		return value("a number", "the number %s")
	case tag == "!!bool":
		return value("true or false", "the flag %s (quote it to make it a text)")
	case tag == "!!timestamp":
		return value("a date; quote it to make it a text", "the date %s (quote it to make it a text)")
	default:
		return value("a value with a tag of its own", "%q with the tag "+Clip(strings.ReplaceAll(tag, "%", "%%")))
	}
}
