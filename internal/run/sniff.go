package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// sniffBytes is how much of an input is looked at to tell its format.
const sniffBytes = 64 << 10

// sniff tells the formats apart, and knows others that cannot be read. XML is told by its first element, an export of
// ReportPortal may begin with a list; otherwise the keys of the first line that begins with a brace tell: test events have
// an Action, cases have labels. It reads no further than it has to, so that a stream that comes slowly is not held up.
func sniff(r *bufio.Reader) (format string, other *foreign) {
	for {
		have := r.Buffered()
		_, err := r.Peek(min(have+1, sniffBytes))
		head, _ := r.Peek(r.Buffered())
		all := err != nil || len(head) == sniffBytes
		whole := head
		if !all {
			whole = head[:bytes.LastIndexByte(head, '\n')+1]
		}
		if other := foreignBytes(head); other != nil {
			return "", other
		}
		if format, other := formatOf(whole, all); format != "" || other != nil {
			return format, other
		}
		if all {
			return unknownFormat(whole)
		}
	}
}

// foreignDocument knows what can be no input of a format, by what the first read gives.
func foreignDocument(r *bufio.Reader, given string) *foreign {
	_, _ = r.Peek(1)
	head, _ := r.Peek(r.Buffered())
	if other := foreignBytes(head); other != nil {
		return other
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(markUTF8)))
	if first, _, _ := bytes.Cut(text, []byte("\n")); tapLine.Match(first) {
		return dropped("tap")
	}
	if !bytes.HasPrefix(text, []byte("<")) && !bytes.HasPrefix(text, []byte("{")) {
		return nil
	}
	format, other := formatOf(head, true)
	if given != DotNet && other == nil && format == DotNet {
		return &foreign{name: "a report of .NET tests", hint: "`shadowcourt try --from dotnet` reads it"}
	}
	return other
}

const markUTF8 = "\xef\xbb\xbf"

// unknownFormat is that of an input whose keys tell nothing: a docket, of which every line will be rejected, unless it
// is plainly something else.
func unknownFormat(head []byte) (string, *foreign) {
	if goTestLine.Match(head) {
		return GoTest, nil
	}
	if other := foreignText(head); other != nil {
		return "", other
	}
	if text := bytes.TrimSpace(head); len(text) > 0 && text[0] != '[' && text[0] != '"' && firstObject(head) == nil {
		return "", &foreign{name: "plain text", hint: readsHint}
	}
	return JSONL, nil
}

// formatOf tells the format of an input that begins so, or nothing while that is not known; all says that no more comes.
func formatOf(head []byte, all bool) (string, *foreign) {
	head = bytes.TrimPrefix(head, []byte(markUTF8))
	text := bytes.TrimSpace(head)
	if bytes.HasPrefix(text, []byte("<")) {
		return formatOfXML(text, all)
	}
	if inner, list := bytes.CutPrefix(text, []byte("[")); list {
		if inner = bytes.TrimSpace(inner); len(inner) == 0 || inner[0] == '{' {
			return formatOfList(inner, all)
		}
	}
	if bytes.HasPrefix(text, []byte("{")) {
		if keys, _ := keysOf(text); formatOfKeys(keys) == "" {
			if other := foreignJSON(keys, false, text); other != nil {
				return "", other
			}
		}
	}
	if first, _, whole := bytes.Cut(text, []byte("\n")); whole || all {
		switch {
		case goTestLine.Match(first):
			return GoTest, nil
		case tapLine.Match(first):
			return "", dropped("tap")
		}
	}
	for rest := head; ; {
		object := firstObject(rest)
		if object == nil {
			break
		}
		keys, cut := keysOf(object)
		if format := formatOfKeys(keys); format != "" {
			return format, nil
		}
		if keys["id"] && !cut {
			return JSONL, nil
		}
		line, after, whole := bytes.Cut(object, []byte("\n"))
		if _, over := keysOf(line); over || cut || !whole {
			break // it goes on in the next line
		}
		rest = after // what another program wrote into a stream
	}
	if !all {
		return "", nil
	}
	return unknownFormat(head)
}

// formatOfXML takes every document for a report of JUnit that is not known as another: its reader says what it begins with.
func formatOfXML(text []byte, all bool) (string, *foreign) {
	root := rootElement(text)
	if root == "" && !all {
		return "", nil
	}
	if format := formatOfRoot(root); format != "" {
		return format, nil
	}
	if other := foreignXML(root); other != nil {
		return "", other
	}
	return JUnit, nil
}

// formatOfList takes every list of objects for an export of ReportPortal that is not known as another. While the first
// object is not whole, it may be one.
func formatOfList(inner []byte, all bool) (string, *foreign) {
	keys, cut := keysOf(inner)
	if other := foreignJSON(keys, true, inner); other != nil {
		return "", other
	}
	if cut && !all {
		return "", nil
	}
	return ReportPortal, nil
}

// firstObject is what begins with the first line that begins with a brace,
// or nil.
func firstObject(head []byte) []byte {
	for at := 0; at < len(head); {
		line := head[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			return head[at:]
		}
		at += len(line)
	}
	return nil
}

// keysOf gives the keys of the object that a text begins with, as far as the
// text goes; cut says that it ends before the object.
func keysOf(text []byte) (keys map[string]bool, cut bool) {
	keys = map[string]bool{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	depth, key := 0, false // key: the next string at depth 1 is one
	for {
		token, err := decoder.Token()
		if err != nil {
			return keys, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
		name, isText := token.(string)
		switch delim, isDelim := token.(json.Delim); {
		case isDelim && (delim == '{' || delim == '['):
			depth++
			key = true
			continue
		case isDelim:
			depth--
		case depth == 1 && key && isText:
			keys[name] = true
			key = false
			continue
		}
		if depth == 0 {
			return keys, false
		}
		key = true // a value at depth 1 has ended, or it does not matter
	}
}
