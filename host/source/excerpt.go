package source

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxContext   = 50
	maxLineBytes = 500
)

// Excerpt is a part of a file.
type Excerpt struct {
	Path  string
	First int // the number of the first line
	Lines []string
}

// Excerpt gives the lines of a file from n before a line, counted from 1, to n after it, at most 50 on either side. Lines
// are cut at 500 bytes, and what is not UTF-8 is replaced. Errors: ErrNoLine, ErrBinary, ErrTooLarge, and one that wraps
// fs.ErrNotExist for a path that is not the slash-separated path of a listed file.
func (t *Tree) Excerpt(path string, line, n int) (Excerpt, error) {
	data, err := t.read(path)
	if err != nil {
		return Excerpt{}, fmt.Errorf("source: %w", err)
	}
	lines := splitLines(string(data))
	if line < 1 || line > len(lines) {
		return Excerpt{}, fmt.Errorf("source: %s: %w: %d of %d", path, ErrNoLine, line, len(lines))
	}
	n = max(0, min(n, maxContext))
	first, last := max(1, line-n), min(len(lines), line+n)
	e := Excerpt{Path: path, First: first, Lines: make([]string, 0, last-first+1)}
	for _, text := range lines[first-1 : last] {
		e.Lines = append(e.Lines, tidy(text))
	}
	return e, nil
}

// splitLines gives the lines without their ends; a file that ends with a line end has no empty last line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

func tidy(line string) string {
	if len(line) > maxLineBytes {
		end := maxLineBytes
		for end > maxLineBytes-utf8.UTFMax && !utf8.RuneStart(line[end]) {
			end--
		}
		line = line[:end]
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}
