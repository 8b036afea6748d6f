package moduledir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// ErrMixed: a folder has some of the modules that a change put in place, and not the others. The change is under way, or was interrupted.
var ErrMixed = errors.New("a change of modules has not ended")

// Generation tells one state of a folder from the next. Readers of several modules read it before them and again behind:
// when both are equal and [Generation.Check] accepts what they read, no [Dir] changed the folder meanwhile. The zero value is
// that of a folder that no Dir has changed.
type Generation struct {
	// Serial grows with each change.
	Serial int64 `json:"serial"`
	// Pending are the changes that have begun and not ended, in their order.
	Pending []map[string]Swap `json:"pending,omitempty"`
}

// Swap is what a change does to a module: digests, Before empty where there was no file.
type Swap struct {
	Before string `json:"before"`
	After  string `json:"after"`
}

// generationFile has the Generation of a folder, as JSON.
const generationFile = "generation"

// maxGenerationBytes is far beyond a change of all modules that a pipeline can name.
const maxGenerationBytes = 1 << 20

// ReadGeneration reads the generation of a folder.
func ReadGeneration(fsys fs.FS) (Generation, error) {
	var g Generation
	name := path.Join(historyDir, generationFile)
	info, err := fs.Stat(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err == nil && info.Size() > maxGenerationBytes {
		err = fmt.Errorf("has %d bytes", info.Size())
	}
	var text []byte
	if err == nil {
		text, err = fs.ReadFile(fsys, name)
	}
	if err == nil {
		err = json.Unmarshal(text, &g)
	}
	if err != nil {
		return g, fmt.Errorf("%s: %w", name, err)
	}
	return g, nil
}

// Equal says whether nothing began or ended between two readings.
func (g Generation) Equal(other Generation) bool {
	return g.Serial == other.Serial && slices.EqualFunc(g.Pending, other.Pending, maps.Equal)
}

// Check rejects modules that are a mix of those before and behind a pending change. digest gives that of a module, or nothing for one that
// is not there or does not matter. A module that is neither was put in place by hand, and is accepted. The error is [ErrMixed].
func (g Generation) Check(digest func(name string) string) error {
	for _, change := range g.Pending {
		if before, after := sides(change, digest); len(before) > 0 && len(after) > 0 {
			return fmt.Errorf("%w: %s changed, %s not yet; if none is under way, one was interrupted: repeat it with `shadowcourt plugin swap`, or take it back with `shadowcourt plugin rollback`",
				ErrMixed, strings.Join(after, ", "), strings.Join(before, ", "))
		}
	}
	return nil
}

// sides are the modules that a change has not reached, and those that it has, sorted.
func sides(change map[string]Swap, digest func(name string) string) (before, after []string) {
	for _, name := range slices.Sorted(maps.Keys(change)) {
		swap := change[name]
		switch d := digest(name); {
		case swap.Before == swap.After || d == "":
		case d == swap.Before:
			before = append(before, name)
		case d == swap.After:
			after = append(after, name)
		}
	}
	return before, after
}

// begin notes a change before its first file is put in place, and end that all are. What an earlier change left as a mix
// stays noted until it is none.
func (d *Dir) begin(change map[string]Swap) (end func() error, err error) {
	if err := disk.MakeFolder(filepath.Join(d.path, historyDir), 0o755); err != nil {
		return nil, err
	}
	g, err := ReadGeneration(os.DirFS(d.path))
	if err != nil {
		return nil, err
	}
	g.Serial++
	g.Pending = append(g.Pending, change)
	if err := d.setGeneration(g); err != nil {
		return nil, err
	}
	return func() error {
		g.Pending = slices.DeleteFunc(g.Pending, func(change map[string]Swap) bool {
			one := Generation{Pending: []map[string]Swap{change}}
			return one.Check(d.digest) == nil
		})
		g.Serial++
		return d.setGeneration(g)
	}, nil
}

func (d *Dir) setGeneration(g Generation) error {
	text, err := json.Marshal(g)
	if err != nil {
		return err
	}
	return disk.Place(filepath.Join(d.path, historyDir, generationFile), append(text, '\n'), 0o644)
}

// digest is that of the module in place, empty where there is none that can be read.
func (d *Dir) digest(name string) string {
	module, err := d.read(name)
	if err != nil || module == nil {
		return ""
	}
	return Digest(module)
}
