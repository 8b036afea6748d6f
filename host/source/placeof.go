package source

import (
	"path"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// Failing is a failing test as a report tells of it.
type Failing struct {
	Group string // its package, class or file
	Test  string // its name in it
	// Texts are what the failure says, that which tells most first: the message, then documents.
	Texts []string
}

// PlaceOf finds where a test failed: the first line of a test file that its texts point to, else the test's definition, else its file without a
// line (0), else the first line of another file of the tree. The path is slash-separated, within the folder; it is empty where nothing is found.
func (t *Tree) PlaceOf(f Failing) (file string, line int) {
	dir, _ := t.goModules().folderOf(f.Group)
	var first *Frame
	for _, text := range f.Texts {
		for _, frame := range t.places(f.Group+"\n"+text, dir) {
			if frame.Role == abi.SourceTest && !frame.Stale {
				return frame.Path, frame.Line
			}
			if first == nil && !frame.Stale {
				first = &frame
			}
		}
	}
	if file, line = t.defined(f, dir); file != "" {
		return file, line
	}
	if file = t.fileOf(f.Group); file != "" {
		return file, 0
	}
	if first != nil {
		return first.Path, first.Line
	}
	return "", 0
}

// places are the frames of a text. A file that is named without a folder is that of the package's folder, if there is such a one.
func (t *Tree) places(text, dir string) []Frame {
	frames := t.Frames(text)
	if dir == "" {
		return frames
	}
	for p := range sourcefile.Places(text) {
		file := path.Join(dir, p.Path)
		if strings.Contains(p.Path, "/") || !slices.Contains(t.byBase[p.Path], file) {
			continue
		}
		for i := range frames {
			if path.Base(frames[i].Path) == p.Path && frames[i].Line == p.Line {
				frames = slices.Delete(frames, i, i+1)
				break
			}
		}
		return slices.Insert(frames, 0, t.frame(map[string]*goFile{}, file, p.Line, ""))
	}
	return frames
}

// defined is the place where the test is defined.
func (t *Tree) defined(f Failing, dir string) (file string, line int) {
	name, _, _ := strings.Cut(f.Test, "/") // the test of a subtest
	name, _, _ = strings.Cut(name, "[")    // the function of a row
	name = name[strings.LastIndexAny(name, ".:")+1:]
	candidates := t.testIndex()[name]
	for _, candidate := range candidates {
		if dir != "" && path.Dir(candidate) == dir {
			file = candidate
		}
	}
	if file == "" && dir == "" {
		if files := t.definitions([]string{name}, f.Group+"\n"+strings.ReplaceAll(f.Group, ".", "/")); len(files) == 1 {
			file = files[0]
		}
	}
	if file == "" {
		return "", 0
	}
	for _, fn := range t.parse(file).functions {
		if fn.name == name {
			return file, fn.first
		}
	}
	return file, 0
}

// fileOf is the file that a group names: by its path, or by dots, as Python and Java have it.
func (t *Tree) fileOf(group string) string {
	for _, name := range []string{group, strings.ReplaceAll(group, ".", "/")} {
		for at := name; at != ""; {
			if sourcefile.KindOf(at) == abi.SourceTest {
				if file := t.resolve(at, group); file != "" {
					return file
				}
			}
			for _, extension := range []string{".py", ".java", ".kt", ".rb", ".ts", ".js"} {
				if file := t.resolve(at+extension, group); file != "" && sourcefile.KindOf(file) == abi.SourceTest {
					return file
				}
			}
			i := strings.LastIndexByte(at, '/') // a class within the file
			if i < 0 || at == group {
				break
			}
			at = at[:i]
		}
	}
	return ""
}
