package repo

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/repo/testcode"
)

// parsedFile is what frames need to know of a file. The name of the package is empty if it is not Go, or too broken.
type parsedFile struct {
	name      string
	lines     int
	functions []function
}

// function is a function of a file, or a test that is a block, with the decorators and annotations that belong to it.
type function struct {
	name        string
	key         string // tells functions of one file apart, with what stands around them
	first, last int
}

// parse never fails: a file that can't be read has no lines.
func (t *Source) parse(file string) *parsedFile {
	return t.parsed.of(file, func() *parsedFile {
		data, err := t.read(file)
		if err != nil {
			return &parsedFile{}
		}
		p := &parsedFile{lines: strings.Count(string(data), "\n") + 1}
		p.name, p.functions = functionsIn(file, data)
		return p
	})
}

// at is the innermost function at a line, nil for none.
func (p *parsedFile) at(line int) *function {
	var inner *function
	for i := range p.functions {
		if f := &p.functions[i]; f.first <= line && line <= f.last {
			inner = f // inner ones come last
		}
	}
	return inner
}

// functionsIn lists the functions of a file, inner ones last, and gives the name of a Go file's package.
func functionsIn(file string, data []byte) (name string, list []function) {
	seen := map[string]int{}
	add := func(f function) {
		seen[f.key]++
		f.key = strings.Repeat("\x00", seen[f.key]-1) + f.key
		list = append(list, f)
	}
	if path.Ext(file) != ".go" {
		code := testcode.Parse(file, data)
		if code == nil {
			return "", nil
		}
		for i := range code.Blocks {
			b := &code.Blocks[i]
			if !b.Callable {
				continue
			}
			names := []string{b.Name}
			for k := b.Parent; k >= 0; k = code.Blocks[k].Parent {
				names = append(names, code.Blocks[k].Name)
			}
			add(function{b.Name, strings.Join(names, " in "), b.First, b.Last})
		}
		return "", list
	}
	set := token.NewFileSet()
	// What could be parsed of a broken file is as good as nothing is: build failures are failures too.
	parsed, _ := parser.ParseFile(set, file, data, parser.SkipObjectResolution)
	if parsed == nil || parsed.Name == nil || parsed.Name.Name == "_" {
		return "", nil
	}
	for _, decl := range parsed.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok {
			// Not PositionFor's adjusted lines: //line comments are the file's own words.
			name := functionName(f)
			add(function{name, name, set.PositionFor(f.Pos(), false).Line, set.PositionFor(f.End(), false).Line})
		}
	}
	return parsed.Name.Name, list
}

func functionName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type
	star, pointer := receiver.(*ast.StarExpr)
	if pointer {
		receiver = star.X
	}
	switch generic := receiver.(type) {
	case *ast.IndexExpr:
		receiver = generic.X
	case *ast.IndexListExpr:
		receiver = generic.X
	}
	name, ok := receiver.(*ast.Ident)
	switch {
	case !ok:
		return f.Name.Name
	case pointer:
		return "(*" + name.Name + ")." + f.Name.Name
	}
	return name.Name + "." + f.Name.Name
}

// unchanged are the functions of a changed test file that the revision has with the same code, by their keys; nil for other files. Lines
// that a diff shows as added or removed may belong to a neighbour: a function has changed only if its own code differs.
func (t *Source) unchanged(file string) map[string]bool {
	before, changed := t.oldTests[file]
	if !changed {
		return nil
	}
	return t.same.of(file, func() map[string]bool {
		data, err := t.read(file)
		if err != nil {
			return nil
		}
		now, old := splitLines(string(data)), splitLines(string(before))
		text := func(lines []string, f *function) string {
			return strings.Join(lines[f.first-1:min(f.last, len(lines))], "\n")
		}
		same := map[string]bool{}
		_, earlier := functionsIn(file, before)
		for i := range t.parse(file).functions {
			f := &t.parse(file).functions[i]
			at := slices.IndexFunc(earlier, func(g function) bool { return g.key == f.key })
			if at >= 0 && sameCode(file, text(now, f), text(old, &earlier[at])) {
				same[f.key] = true
			}
		}
		return same
	})
}

// sameCode says whether two functions of a file are the same but for comments and formatting.
func sameCode(file, a, b string) bool {
	if a == b {
		return true
	}
	before, ok := tokensOf(file, []byte(a))
	after, also := tokensOf(file, []byte(b))
	return ok && also && sameText(before, after)
}

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
