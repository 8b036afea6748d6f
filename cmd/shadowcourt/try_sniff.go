package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
)

// sniffBytes is how much of an input is looked at to tell its format.
const sniffBytes = 64 << 10

// sniff tells the formats apart. XML begins with a tag, an export of
// ReportPortal may begin with a list; otherwise the keys of the first line
// that begins with a brace tell: test events have an Action, cases have
// labels. It reads no further than it has to, so that a stream that comes
// slowly is not held up.
func sniff(r *bufio.Reader) string {
	for {
		have := r.Buffered()
		_, err := r.Peek(min(have+1, sniffBytes))
		head, _ := r.Peek(r.Buffered())
		all := err != nil || len(head) == sniffBytes
		whole := head
		if !all {
			whole = head[:bytes.LastIndexByte(head, '\n')+1]
		}
		if format := formatOf(whole, all); format != "" {
			return format
		}
		if all {
			return unknownFormat(whole)
		}
	}
}

// goTestLine is a line that only `go test` for people writes.
var goTestLine = regexp.MustCompile(`(?m)^(=== RUN   \S|--- (FAIL|PASS|SKIP): \S+ \(|FAIL\t\S|ok  \t\S|\?   \t\S)`)

// unknownFormat is that of an input whose keys tell nothing: a docket, of which every line will be refused, unless it
// is plainly something else.
func unknownFormat(head []byte) string {
	if goTestLine.Match(head) {
		return formatGoText
	}
	return formatJSONL
}

// formatOf tells the format of an input that begins so, or nothing while
// that is not known; all says that no more comes.
func formatOf(head []byte, all bool) string {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	text := bytes.TrimSpace(head)
	for _, begin := range []string{"<?xml", "<testsuite", "<!--", "<!DOCTYPE"} {
		if bytes.HasPrefix(text, []byte(begin)) {
			return formatJUnit
		}
	}
	if inner, list := bytes.CutPrefix(text, []byte("[")); list {
		if inner = bytes.TrimSpace(inner); len(inner) == 0 || inner[0] == '{' {
			return formatReportPortal
		}
	}
	object := firstObject(head)
	if object == nil {
		return ""
	}
	keys, cut := keysOf(object)
	for _, kind := range []struct {
		format string
		keys   []string
	}{
		{formatGoTest, []string{"Action"}},
		{formatJSONL, []string{"subject", "labels", "evidence", "documents", "light"}},
		{formatReportPortal, []string{"content", "page", "items", "logs", "launch", "launchId", "subTypes", "statistics", "uuid", "codeRef"}},
	} {
		for _, key := range kind.keys {
			if keys[key] {
				return kind.format
			}
		}
	}
	if cut && !all {
		return ""
	}
	return unknownFormat(head)
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
