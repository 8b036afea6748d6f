package experiment

import (
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// jestCoverage is the file in which jest writes what was executed.
const jestCoverage = "coverage-final.json"

// coverJest has jest measure the changed files, and write that into a folder.
func coverJest(args []string, folder string, c changes) ([]string, error) {
	var patterns []string
	quote := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`, "(", `\(`, ")", `\)`, "!", `\!`, "+", `\+`, "@", `\@`)
	for name := range c {
		if pattern := "**/" + quote.Replace(path.Base(name)); !slices.Contains(patterns, pattern) { // jest's folder may be another one
			patterns = append(patterns, pattern)
		}
	}
	slices.Sort(patterns)
	list, err := json.Marshal(patterns)
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == "--coverage=false" })
	return slices.Insert(args, 1, "--coverage", "--coverageReporters=json", "--coverageDirectory="+folder, "--collectCoverageFrom="+string(list)), err
}

// jestFile is what jest writes of a file: its functions and statements by their numbers, and how often each was executed.
type jestFile struct {
	Statements map[string]jestRange `json:"statementMap"`
	Functions  map[string]struct {
		Declared jestRange `json:"decl"`
		Body     jestRange `json:"loc"`
	} `json:"fnMap"`
	Ran    map[string]int64 `json:"s"`
	Called map[string]int64 `json:"f"`
}

type jestRange struct {
	Start struct {
		Line int `json:"line"`
	} `json:"start"`
	End struct {
		Line int `json:"line"`
	} `json:"end"`
}

// jestSeen tells which changed pieces were executed, of a tree that is seen at top. What is not as jest writes it tells nothing.
func jestSeen(written []byte, top string, c changes) *seen {
	var files map[string]jestFile
	if json.Unmarshal(written, &files) != nil {
		return &seen{}
	}
	s := &seen{}
	for name, pieces := range c {
		f := files[filepath.Join(top, filepath.FromSlash(name))]
		functions, statements := f.blocks()
		if len(functions)+len(statements) == 0 {
			s.Unknown += len(pieces)
			continue
		}
		ran := func(b block) bool { return b.ran }
		called := slices.ContainsFunc(functions, ran)
		if !called && !slices.ContainsFunc(statements, ran) { // it was not loaded
			s.Missed += len(pieces)
			continue
		}
		s.add(pieces, called, func(line int) sight {
			function, inside := innermost(functions, line, block{})
			statement, known := innermost(statements, line, function)
			switch {
			case !known && !inside:
				return silent
			case !inside: // it runs when the file is loaded
				return unknown
			case known && statement.ran, !known && function.ran:
				return executed
			}
			return missed
		})
	}
	return s
}

func (f *jestFile) blocks() (functions, statements []block) {
	for id, at := range f.Functions {
		functions = append(functions, block{min(at.Declared.Start.Line, at.Body.Start.Line), at.Body.End.Line, f.Called[id] > 0})
	}
	for id, at := range f.Statements {
		statements = append(statements, block{at.Start.Line, at.End.Line, f.Ran[id] > 0})
	}
	return functions, statements
}

// innermost is the shortest block around a line that lies in another one, of which some that was executed counts before others.
func innermost(blocks []block, line int, in block) (found block, ok bool) {
	for _, b := range blocks {
		if b.first > line || line > b.last || in.last > 0 && (b.first < in.first || b.last > in.last) {
			continue
		}
		length, best := b.last-b.first, found.last-found.first
		if !ok || length < best || length == best && b.ran {
			found, ok = b, true
		}
	}
	return found, ok
}
