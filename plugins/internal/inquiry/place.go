package inquiry

import (
	"strconv"
	"strings"
)

// form says how a line names a place, as compilers, runtimes and test frameworks print one.
type form int

// The forms.
const (
	mention    form = iota // the place stands somewhere in the line
	diagnostic             // a compiler's "file:line:column: message", from the line's beginning
	reported               // a message about a place, "    file:line: message"
	frame                  // a frame of a stack
)

// Place is a place in a source file.
type Place struct {
	Path string
	Line int
	form form
}

// maxPathBytes bounds what is taken for a path.
const maxPathBytes = 400

// findPlace gives the first place that a line names.
func findPlace(line string) (Place, bool) {
	for at := 0; ; {
		dot := strings.IndexByte(line[at:], '.')
		if dot < 0 {
			return Place{}, false
		}
		dot += at
		if p, ok := around(line, dot); ok {
			return p, true
		}
		at = dot + 1
	}
}

// around reads the place whose path has its last dot here.
func around(line string, dot int) (Place, bool) {
	end := dot + 1
	for end < len(line) && isLetter(line[end]) {
		end++
	}
	if !isSource(line[dot+1 : end]) {
		return Place{}, false
	}
	start := dot
	for start > 0 && dot-start < maxPathBytes && !endsPath(line[start-1]) {
		start--
	}
	if start == dot {
		return Place{}, false
	}
	p := Place{Path: strings.TrimPrefix(line[start:end], "./")}
	rest := line[end:]
	if strings.HasPrefix(rest, "\", line ") { // Python's frames
		p.Line, _ = number(rest[len("\", line "):])
		p.form = frame
		return p, p.Line > 0
	}
	if len(rest) < 2 || rest[0] != ':' {
		return Place{}, false
	}
	var after string
	p.Line, after = number(rest[1:])
	p.form = formOf(line[:start], after)
	return p, p.Line > 0
}

// formOf tells a form by what stands before and after a place.
func formOf(before, after string) form {
	column := false
	if len(after) > 1 && after[0] == ':' {
		if n, rest := number(after[1:]); n > 0 {
			column, after = true, rest
		}
	}
	before = strings.TrimPrefix(strings.TrimPrefix(before, "vet: "), "./")
	blank := strings.TrimLeft(before, " \t") == ""
	switch {
	case before == "" && column && strings.HasPrefix(after, ": "):
		return diagnostic
	case strings.HasPrefix(after, ":") && blank:
		return reported
	case after == "" || strings.HasPrefix(after, " +0x") || strings.HasPrefix(after, ")"):
		if blank && before != "" || strings.HasPrefix(strings.TrimLeft(before, " \t"), "at ") {
			return frame
		}
	}
	return mention
}

func number(s string) (n int, rest string) {
	end := 0
	for end < len(s) && end < 9 && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	n, _ = strconv.Atoi(s[:end])
	return n, s[end:]
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

func endsPath(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"'`()[]{}<>=,;:|", c) >= 0
}

func isSource(extension string) bool {
	switch extension {
	case "go", "py", "js", "jsx", "ts", "tsx", "mjs", "cjs", "java", "kt", "scala", "groovy", "rb", "rs", "c", "h",
		"cc", "cpp", "cxx", "hpp", "cs", "php", "swift", "ex", "exs", "vue", "lua", "pl", "sh":
		return true
	}
	return false
}

// SamePath says whether two paths name the same file, where one may be the end of the other.
func SamePath(a, b string) bool {
	if len(a) < len(b) {
		a, b = b, a
	}
	return b != "" && strings.HasSuffix(a, b) && (len(a) == len(b) || a[len(a)-len(b)-1] == '/')
}
