package testcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
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

// script finds the test runner in what npm, yarn or pnpm run: a script of package.json or, of yarn and pnpm, a program.
func script(dir, manager string, words []string, depth int) (*invocation, error) {
	at := 1
	for at < len(words) && slices.Contains([]string{"--silent", "-s", "--if-present"}, words[at]) {
		at++
	}
	if at < len(words) && slices.Contains([]string{"run", "run-script"}, words[at]) {
		at++
	}
	if at == len(words) || strings.HasPrefix(words[at], "-") {
		return nil, fmt.Errorf("what %q runs can't be told: name the script right behind %s, or run the test runner itself", shorten(strings.Join(words, " ")), manager)
	}
	name := words[at]
	if alias := slices.Contains([]string{"t", "tst"}, name); alias && at == 1 {
		name = "test"
	}
	file, text, err := scriptOf(dir, name)
	if err != nil {
		return nil, err
	}
	if text == "" {
		if manager == "npm" || name == "test" {
			return nil, fmt.Errorf("%s has no script %q: run the test runner itself, as in: npx jest", file, name)
		}
		v, err := find(dir, words[at:], depth+1)
		if err == nil {
			v.words = words
			v.at += at
			v.start += at
		}
		return v, err
	}
	passed := words[at+1:]
	var dashes []string
	if manager == "npm" { // it takes options up to the first -- for its own
		if i := slices.Index(passed, "--"); i >= 0 {
			passed = passed[i+1:]
		} else {
			passed = slices.DeleteFunc(slices.Clone(passed), func(word string) bool { return strings.HasPrefix(word, "-") })
			dashes = []string{"--"}
		}
	}
	command, err := lastCommand(text)
	if err != nil {
		return nil, fmt.Errorf("%s: what the script %q runs can't be told: %w: run the test runner itself, as in: npx jest", file, name, err)
	}
	_, command = assignments(command)
	v, err := find(filepath.Dir(file), append(command, passed...), depth+1)
	if unknown, ok := errors.AsType[*unknownError](err); ok {
		return nil, fmt.Errorf("%s: the script %q: %w", file, name, unknown)
	}
	if err != nil {
		return nil, err
	}
	if v.script {
		dashes = append(dashes, v.dashes...)
	}
	v.words, v.start, v.at, v.dashes, v.script = words, 0, len(words), dashes, true
	return v, nil
}

// maxPackage is the longest package.json that is read.
const maxPackage = 4 << 20

// scriptOf gives a script of the package that a folder lies in, and the path of the package.json; an empty one if it is not there.
func scriptOf(dir, name string) (file, text string, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return "", "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		file = filepath.Join(dir, "package.json")
		f, err := os.Open(file)
		if errors.Is(err, os.ErrNotExist) {
			if filepath.Dir(dir) == dir {
				return "", "", errors.New("there is no package.json here: run the command in the folder of the package")
			}
			continue
		}
		if err != nil {
			return "", "", err
		}
		var manifest struct {
			Scripts map[string]string `json:"scripts"`
		}
		err = json.NewDecoder(io.LimitReader(f, maxPackage)).Decode(&manifest)
		_ = f.Close()
		if err != nil {
			return "", "", fmt.Errorf("%s: %w", file, err)
		}
		return file, manifest.Scripts[name], nil
	}
}

// lastCommand gives the words of the last command of a script. Arguments behind the script's name become those of this command.
func lastCommand(script string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false // open: a word has begun
	end := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for i, r := range script {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != '\'' && (r == '$' || r == '`' || r == '\\'), quote == 0 && strings.ContainsRune("<>()", r), r == '|' && quote == 0 && !pair(script, i, '|'):
			return nil, fmt.Errorf("%q has a %q", shorten(script), r)
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t':
			end()
		case r == ';' || r == '\n' || r == '|' || r == '&':
			if r == '&' && !pair(script, i, '&') {
				return nil, fmt.Errorf("%q has a command in the background", shorten(script))
			}
			end()
			words = nil
		default:
			word.WriteRune(r)
			open = true
		}
	}
	end()
	if quote != 0 || len(words) == 0 {
		return nil, fmt.Errorf("%q does not end with a command", shorten(script))
	}
	return words, nil
}

// pair says whether the byte at i stands beside one like it.
func pair(s string, i int, b byte) bool {
	return i+1 < len(s) && s[i+1] == b || i > 0 && s[i-1] == b
}
