package testcmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

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
