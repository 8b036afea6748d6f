package testcmd

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxDepth is how deep wrappers and scripts may nest.
const maxDepth = 16

// wrappers are commands that run the command behind them and their options. With a last option, the command is what follows it.
var wrappers = []struct{ words, last string }{
	{"env", ""},
	{"cross-env", ""},
	{"time", ""},
	{"nice", ""},
	{"timeout", ""},
	{"npx", ""},
	{"bunx", ""},
	{"pnpm exec", ""},
	{"pnpm dlx", ""},
	{"node", ""},
	{"uvx", ""},
	{"pipx run", ""},
	{"uv run", ""},
	{"poetry run", ""},
	{"pipenv run", ""},
	{"pdm run", ""},
	{"hatch run", ""},
	{"rye run", ""},
	{"coverage run", "-m"},
}

// python is what interpreters are called.
var python = regexp.MustCompile(`^(python|pypy)[\d.]*$|^py$`)

// program is the name of a program that a word calls, without its folder, its version, and the suffixes of Windows and of JavaScript.
func program(word string) string {
	name, _, _ := strings.Cut(path.Base(strings.ReplaceAll(word, `\`, "/")), "@")
	for _, suffix := range []string{".exe", ".cmd", ".bat", ".mjs", ".cjs", ".js"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return name
}

// find finds the test runner in the words of a command.
func find(dir string, words []string, depth int) (*invocation, error) {
	if len(words) == 0 || depth > maxDepth {
		return nil, &unknownError{words}
	}
	name := program(words[0])
	for i := range runners {
		if r := &runners[i]; slices.Contains(r.programs, name) {
			return r.invocation(words)
		}
	}
	if python.MatchString(name) {
		return behind(dir, words, 1, "-m", depth)
	}
	for _, wrapper := range wrappers {
		w := strings.Fields(wrapper.words)
		if name == w[0] && len(words) >= len(w) && slices.Equal(words[1:len(w)], w[1:]) {
			return behind(dir, words, len(w), wrapper.last, depth)
		}
	}
	switch name {
	case "npm", "yarn", "pnpm":
		return script(dir, name, words, depth)
	}
	return nil, &unknownError{words}
}

// behind finds the test runner behind a wrapper. Which options of a wrapper take a value is not known, so that a word behind one may
// be its value or the command.
func behind(dir string, words []string, from int, last string, depth int) (*invocation, error) {
	for at := from; at < len(words); at++ {
		word, before := words[at], words[at-1]
		if strings.HasPrefix(word, "-") || isAssignment(word) || last != "" && before != last {
			continue
		}
		v, err := find(dir, words[at:], depth+1)
		if err == nil {
			v.words = words
			v.at += at
			v.start += at
			return v, nil
		}
		if _, unknown := errors.AsType[*unknownError](err); !unknown {
			return nil, err
		}
		if value := strings.HasPrefix(before, "-") && before != "--" && before != last; !value && !number.MatchString(word) {
			break
		}
	}
	return nil, &unknownError{words}
}

// number is an argument of timeout or nice.
var number = regexp.MustCompile(`^\d[\d.]*[smhd]?$`)

// unknownError says that a command is not known, and what to do.
type unknownError struct{ words []string }

func (e *unknownError) Error() string {
	return fmt.Sprintf("%q runs no known test runner (%s); run its tests yourself, and pass the report, in JUnit XML or of go test -json: shadowcourt alibi REPORT",
		shorten(strings.Join(e.words, " ")), strings.Join(Runners(), ", "))
}
