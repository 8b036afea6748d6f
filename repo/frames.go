package repo

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

const (
	maxLogBytes = 4 << 20
	maxFrames   = 200
	maxPlaces   = 10_000
	maxLine     = 10_000_000
)

// Frame is a place of the module under test that a log points to.
type Frame struct {
	Path string // slash-separated, within the folder
	Line int    // from 1
	Role abi.SourceKind
	// Package is the name of a Go file's package, and the folder of any other file.
	Package string
	// Function is the enclosing one: of a Go file what stands there (F, T.F or (*T).F), of another what the log says.
	// FirstLine and LastLine are those of the function, with its decorators, where the language is known; else 0.
	Function            string
	FirstLine, LastLine int
	// Count is how often the log points there.
	Count int
	// Stale says that the file has no such line: it is another version than the one that failed.
	Stale bool
}

var (
	// at pkg.Class.method( of the JVM, at method ( of JavaScript.
	called = regexp.MustCompile(`\bat (?:async |new )?([\pL\d_$.<>#/]{1,200}) ?\((?:[a-z-]+:)?$`)
	// , in name of Python.
	inFunction = regexp.MustCompile(`^, in ([^\s]{1,200})`)
	colour     = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]`)
)

// Frames gives the places of the module under test that a log points to, in the order in which they come first, at most
// 200. Of a log over 4 MiB the end counts. Paths of other machines are found again by how they end; what could be several
// files is left out unless the log names the folder of one of them.
func (t *Source) Frames(text string) []Frame {
	if len(text) > maxLogBytes {
		text = text[len(text)-maxLogBytes:]
	}
	text = strings.ToValidUTF8(colour.ReplaceAllString(text, ""), "\uFFFD")
	found := map[string]int{}
	var frames []Frame
	places := 0
	for p := range sourcefile.Places(text) {
		if places++; places > maxPlaces {
			break
		}
		file := t.resolve(p.Path, text)
		if file == "" || p.Line > maxLine {
			continue
		}
		key := file + ":" + strconv.Itoa(p.Line)
		if i, ok := found[key]; ok {
			frames[i].Count++
			continue
		}
		if len(frames) == maxFrames {
			continue
		}
		found[key] = len(frames)
		function := ""
		if m := called.FindStringSubmatch(text[max(0, p.Start-300):p.Start]); m != nil {
			function = m[1]
		} else if m := inFunction.FindStringSubmatch(text[p.End:min(len(text), p.End+210)]); m != nil {
			function = m[1]
		}
		frames = append(frames, t.frame(file, p.Line, tidy(function)))
	}
	return frames
}

func (t *Source) frame(file string, line int, function string) Frame {
	f := Frame{Path: file, Line: line, Role: sourcefile.KindOf(file), Package: path.Dir(file), Function: function, Count: 1}
	parsed := t.parse(file)
	f.Stale = line > parsed.lines
	if parsed.name != "" {
		f.Package, f.Function = parsed.name, ""
	}
	if fn := parsed.at(line); fn != nil {
		f.FirstLine, f.LastLine = fn.first, fn.last
		if parsed.name != "" {
			f.Function = fn.name
		}
	}
	return f
}

// resolve finds the file of the tree that a path of a log means, and nothing if there is none or more than one.
func (t *Source) resolve(name, text string) string {
	name = strings.TrimPrefix(strings.ReplaceAll(name, `\`, "/"), "file://")
	for strings.HasPrefix(name, "./") {
		name = name[2:]
	}
	candidates := t.byBase[path.Base(name)]
	if len(candidates) == 0 || sourcefile.Installed(name) {
		return ""
	}
	var fits []string
	longest := 0
	for _, file := range candidates {
		n := t.fit(file, name)
		if n > longest {
			longest, fits = n, nil
		}
		if n == longest && n > 0 {
			fits = append(fits, file)
		}
	}
	if len(fits) == 1 {
		return fits[0]
	}
	return named(fits, text)
}

// fit is the number of path elements at the end that the file and the name have in common, 0 if one can't be the other.
func (t *Source) fit(file, name string) int {
	switch {
	case file == name:
		return 1 << 20
	case strings.HasSuffix(file, "/"+name): // the log names the end of the path, perhaps the file alone
		return strings.Count(name, "/") + 1
	case strings.HasSuffix(name, "/"+file):
		if strings.Contains(file, "/") || t.isRoot(path.Base(strings.TrimSuffix(name, "/"+file))) {
			return strings.Count(file, "/") + 1
		}
	}
	return 0
}

// isRoot says whether a folder elsewhere may be this tree, as sync, sync@v0.1.0 or the last part of a module's path.
func (t *Source) isRoot(dir string) bool {
	dir, _, _ = strings.Cut(dir, "@")
	return slices.Contains(t.names, dir)
}

// named picks of several files the one whose folder the text names, the longest such folder first.
func named(files []string, text string) string {
	slices.SortStableFunc(files, func(a, b string) int { return cmp.Compare(len(path.Dir(b)), len(path.Dir(a))) })
	var best []string
	for _, file := range files {
		dir := path.Dir(file)
		if dir == "." || len(best) > 0 && len(dir) < len(path.Dir(best[0])) {
			continue
		}
		if names(text, dir) {
			best = append(best, file)
		}
	}
	if len(best) != 1 {
		return ""
	}
	return best[0]
}

// names says whether a text names a folder: at the end of a path, or of more than one element by itself.
func names(text, dir string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], dir)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(dir)
		before := start > 0 && text[start-1] == '/' || strings.Contains(dir, "/") && (start == 0 || strings.IndexByte(" \t\n\"'(", text[start-1]) >= 0)
		after := end == len(text) || strings.IndexByte(".\n\t /\"':)", text[end]) >= 0 || strings.HasPrefix(text[end:], "_test.")
		if before && after || end < len(text) && text[end] == '/' {
			return true
		}
		at = start + 1
	}
}
