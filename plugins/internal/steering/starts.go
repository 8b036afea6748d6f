package steering

import (
	"strings"
	"unicode"
)

// start stands among the words of a text where a sentence begins without a sign: at the beginning of a line, and behind what loggers write
// before a message.
const start = "\n"

// maxPrefix tokens at the beginning of a line may be a logger's.
const maxPrefix = 10

// markStarts puts a line break behind each token at the beginning of a line that a logger may have written.
func markStarts(s string) string {
	if s == "" {
		return ""
	}
	var b strings.Builder
	b.Grow(len(s) + 32)
	for line := range strings.SplitAfterSeq(s, "\n") {
		at := 0
		for range maxPrefix {
			from, to := token(line, at)
			if from == to {
				break
			}
			b.WriteString(line[at:to])
			if at = to; logged(line[from:to]) {
				b.WriteString(start)
			}
		}
		b.WriteString(line[at:])
	}
	return b.String()
}

// Body is a line without what a logger wrote before its message.
func Body(line string) string {
	for at, i := 0, 0; ; i++ {
		from, to := token(line, at)
		if i == maxPrefix || from == to || !logged(line[from:to]) {
			return line[from:]
		}
		at = to
	}
}

// token is the next one from a place on.
func token(line string, at int) (from, to int) {
	from = len(line) - len(strings.TrimLeftFunc(line[at:], unicode.IsSpace))
	if i := strings.IndexFunc(line[from:], unicode.IsSpace); i >= 0 {
		return from, from + i
	}
	return from, len(line)
}

// maxLogged is the most bytes of a logger's token.
const maxLogged = 64

// logged tells times, levels, names of loggers and of files, marks of changes and of comments.
func logged(token string) bool {
	if len(token) > maxLogged {
		return false
	}
	last := token[len(token)-1]
	if last == ':' || last == ']' || last == '|' || last == '>' {
		return true
	}
	letters, digits, within := false, false, false
	for i, c := range token {
		switch {
		case unicode.IsLetter(c):
			letters = true
		case unicode.IsDigit(c):
			digits = true
		case c == '"':
			return false
		case i > 0 && i < len(token)-1 && strings.ContainsRune("./_-=@$", c):
			within = true
		}
	}
	return !letters || digits || within || levels[strings.ToLower(strings.Trim(token, "[](){}<>|,;-"))]
}

var levels = set("trace debug info information notice log warn warning error err fatal critical crit panic severe fine finer finest verbose emerg alert " +
	"stdout stderr main")
