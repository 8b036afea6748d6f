package sourcefile

import (
	"strconv"
	"strings"
)

// Form says how a line names a place.
type Form int

// The forms.
const (
	// Mention: the place stands somewhere in the line.
	Mention Form = iota
	// Diagnostic: a compiler's "file:line:column: message", from the line's beginning.
	Diagnostic
	// Report: a message about a place, "    file:line: message".
	Report
	// Frame: a frame of a stack.
	Frame
)

// Place is a place in a source file, as compilers, runtimes and test frameworks print it: path:12, path:line 12, path(12), and
// Python's "path", line 12.
type Place struct {
	Path string
	Line int  // from 1
	Form Form // of what [Find] finds
	// Start is the offset of the path in the text, End that behind the number.
	Start, End int
}

const (
	maxPathBytes      = 500
	maxExtensionBytes = 10
	maxDigits         = 9
)

// Places finds the places in a text, whatever their files are, in order.
func Places(text string) func(yield func(Place) bool) {
	return func(yield func(Place) bool) {
		for at, last := 0, 0; at < len(text); at++ { // last is the end of the place before
			if text[at] != '.' { // a call for each of many dots takes longer than what it finds
				dot := strings.IndexByte(text[at:], '.')
				if dot < 0 {
					return
				}
				at += dot
			}
			if at+1 == len(text) || !isLetter(text[at+1]) {
				continue
			}
			if p, ok := around(text, last, at); ok {
				if !yield(p) {
					return
				}
				at, last = p.End-1, p.End
			}
		}
	}
}

// Find gives the first place in a line whose file is a program by its name, and its form.
func Find(line string) (Place, bool) {
	for p := range Places(line) {
		if !isProgram(p.Path[strings.LastIndexByte(p.Path, '.')+1:]) {
			continue
		}
		p.Path = strings.TrimPrefix(p.Path, "./")
		if p.Form != Frame {
			p.Form = formOf(line[:p.Start], line[p.End:])
		}
		return p, true
	}
	return Place{}, false
}

// around reads the place whose path has its last dot here, and begins at or behind from.
func around(text string, from, dot int) (Place, bool) {
	end := dot + 1
	for end < len(text) && (isLetter(text[end]) || end > dot+1 && isDigit(text[end])) {
		end++
	}
	// What follows is looked at before the path: most dots are no places, and paths are long.
	if end == dot+1 || end-dot > 1+maxExtensionBytes || end == len(text) || text[end] != ':' && text[end] != '(' && text[end] != '"' {
		return Place{}, false
	}
	p := Place{Start: dot}
	for p.Start > from && dot-p.Start < maxPathBytes && !endsPath(text[p.Start-1]) {
		p.Start--
	}
	digits, python := end+1, false
	switch rest := text[end:]; {
	case strings.HasPrefix(rest, "\", line "):
		digits, python = end+len("\", line "), true
		first := max(from, p.Start-maxPathBytes)
		if quote := strings.LastIndexAny(text[first:p.Start], "\"\n"); quote >= 0 && text[first+quote] == '"' {
			p.Start = first + quote + 1 // such a path may have blanks
		}
	case strings.HasPrefix(rest, ":line "):
		digits = end + len(":line ")
	case rest[0] == '"':
		return Place{}, false
	}
	p.Line, p.End = number(text, digits)
	if python {
		p.Form = Frame
	}
	p.Path = text[p.Start:end]
	return p, p.Line > 0 && p.Start < dot
}

// formOf tells a form by what stands before and after a place.
func formOf(before, after string) Form {
	column := false
	if len(after) > 1 && after[0] == ':' {
		if n, end := number(after, 1); n > 0 {
			column, after = true, after[end:]
		}
	}
	before = strings.TrimPrefix(before, "vet: ")
	blank := strings.TrimLeft(before, " \t") == ""
	switch {
	case before == "" && column && strings.HasPrefix(after, ": "):
		return Diagnostic
	case strings.HasPrefix(after, ":") && blank:
		return Report
	case after == "" || strings.HasPrefix(after, " +0x") || strings.HasPrefix(after, ")"):
		if blank && before != "" || strings.HasPrefix(strings.TrimLeft(before, " \t"), "at ") {
			return Frame
		}
	}
	return Mention
}

// number reads the digits at an offset, and gives the offset behind them.
func number(s string, at int) (n, end int) {
	end = at
	for end < len(s) && end-at < maxDigits && isDigit(s[end]) {
		end++
	}
	n, _ = strconv.Atoi(s[at:end])
	return n, end
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func endsPath(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`()[]{}<>=,;:|*?", c) >= 0
}

// isProgram tells the extensions of programs.
func isProgram(extension string) bool {
	switch extension {
	case "go", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "java", "kt", "scala", "groovy", "rb", "rs", "c", "h",
		"cc", "cpp", "cxx", "hpp", "cs", "php", "swift", "ex", "exs", "vue", "lua", "pl", "sh":
		return true
	}
	return false
}

// Same says whether two paths name the same file, where one may be the end of the other.
func Same(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && strings.HasSuffix(a, b) && (len(a) == len(b) || a[len(a)-len(b)-1] == '/')
}
