// Package strictyaml reads YAML files whose keys and types are known: nothing is coerced, aliases are rejected, and every fault has its
// place. What values mean is the caller's to check.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// The codes of faults.
const (
	CodeTooLarge     = "too_large"     // the file has more bytes than allowed
	CodeSyntax       = "syntax"        // not YAML, or not one document
	CodeEncoding     = "encoding"      // not UTF-8, or a control character
	CodeAlias        = "alias"         // an alias or a merge key: they can blow up a small file
	CodeTooDeep      = "too_deep"      // nested deeper than 32 levels
	CodeUnknownKey   = "unknown_key"   // a key that the format does not have
	CodeDuplicateKey = "duplicate_key" // a key given twice
	CodeWrongType    = "wrong_type"    // a number for a text and the like
	CodeOutOfRange   = "out_of_range"  // a number that does not fit
)

// maxDepth is far more than the levels of any format here.
const maxDepth = 32

// Node of a document.
type Node = yaml.Node

// Position is a place in a file. Lines and columns count from 1, columns in characters; 0 is unknown.
type Position struct{ Line, Column int }

// Fault is what is wrong at a place.
type Fault struct {
	Position
	Path    string // such as edges[3].to; empty for the whole file
	Code    string
	Message string // for people, without the path
}

// Parse gives the root of the file's only document, or the fault for which there is none.
func Parse(data []byte, maxBytes int) (*Node, *Fault) {
	if len(data) > maxBytes {
		return nil, &Fault{Code: CodeTooLarge, Message: fmt.Sprintf("is larger than %d bytes", maxBytes)}
	}
	if at, message := badCharacter(data); message != "" {
		return nil, &Fault{Position: at, Code: CodeEncoding, Message: message}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second Node
	err := decoder.Decode(&doc)
	if err == nil && doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		again := decoder.Decode(&second)
		switch {
		case errors.Is(again, io.EOF):
			return doc.Content[0], nil
		case again == nil:
			return nil, &Fault{Position: Position{second.Line, second.Column}, Code: CodeSyntax, Message: "a second document; a file holds one"}
		}
		err = again
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil, &Fault{Position: Position{1, 1}, Code: CodeSyntax, Message: "the file is empty"}
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
func syntaxFault(err error) *Fault {
	f := &Fault{Position: Position{1, 1}, Code: CodeSyntax}
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
