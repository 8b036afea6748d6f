// Package moduledir keeps a folder of modules, NAME.wasm each, whose files are replaced as a whole and can be got back.
//
// What is replaced is kept in DIR/.history/NAME: one file for each content, DIGEST.wasm, and the file `order` with the digests of what
// stood in the place before, a line each, the last one being the one before. A rollback puts that one back and takes its line away, so that
// a second rollback goes back one step further. What was rolled back stays in the history under its digest, until [Dir.Prune] removes it.
//
// The file `.history/generation` says which change is under way, so that readers of several modules, and those that come after an
// interrupted change, never take a mix of two sets, see [Generation].
//
// A file appears under its name only when it is complete and on the disk. When the machine stops at any moment, the folder has the module
// before or the new one, and the history at most names the one that is in place, which a rollback passes over.
package moduledir

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// Errors that callers may tell apart.
var (
	// ErrNothingBefore: there is nothing to go back to.
	ErrNothingBefore = errors.New("nothing is known that was in place before")
	// ErrNotKept: the history has no such digest, or more than one that begins so.
	ErrNotKept = errors.New("is not in the history")
	// ErrChanged: a file of the history is not what its name says.
	ErrChanged = errors.New("is not what it was when it was kept")
)

const (
	historyDir = ".history"
	orderFile  = "order" // what was in place before
	extension  = ".wasm"
)

// Dir is a folder of modules. Its methods may be called by one at a time, in one process at a time. Readers of one
// module need no care, readers of several use [ReadGeneration].
type Dir struct{ path string }

// Open gives the folder of that path, which must be there.
func Open(path string) (*Dir, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is no folder", path)
	}
	return &Dir{path}, nil
}

// Change is what was done to one module. Digests are "sha256:" and 64 hex digits; Before is empty where there was no file.
type Change struct{ Name, Before, After string }

// Replace puts modules in their places, by name, and keeps what was there. All are on the disk before the first is put
// in place; a module that is there already is left alone. Its changes are sorted by name.
func (d *Dir) Replace(modules map[string][]byte) ([]Change, error) { return d.put(modules, true) }

// Put is Replace that keeps nothing of what was there.
func (d *Dir) Put(modules map[string][]byte) ([]Change, error) { return d.put(modules, false) }

func (d *Dir) put(modules map[string][]byte, history bool) ([]Change, error) {
	var changes []Change
	var steps []step
	defer func() { discard(steps) }() // those that were not taken
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		change := Change{Name: name, After: Digest(modules[name])}
		before, err := d.read(name)
		if err != nil {
			return nil, err
		}
		if before != nil {
			change.Before = Digest(before)
		}
		changes = append(changes, change)
		if change.Before == change.After {
			continue
		}
		if change.Before != "" && history {
			if err := d.keep(name, before); err != nil {
				return nil, err
			}
		}
		s, err := d.stage(change, modules[name])
		if err != nil {
			return nil, err
		}
		s.history = history && change.Before != ""
		steps = append(steps, s)
	}
	return changes, d.take(steps)
}

// step is a file that waits to be put in place.
type step struct {
	Change
	file    *disk.File // nil once it is in place
	history bool       // what was there goes into the order
}

// take puts files in place, once their history says what was there.
func (d *Dir) take(steps []step) error {
	if len(steps) == 0 {
		return nil
	}
	swaps := make(map[string]Swap, len(steps))
	for _, s := range steps {
		swaps[s.Name] = Swap{s.Before, s.After}
		if !s.history {
			continue
		}
		order, err := d.order(s.Name)
		if err == nil {
			err = d.setOrder(s.Name, append(order, s.Before))
		}
		if err != nil {
			return err
		}
	}
	end, err := d.begin(swaps)
	if err != nil {
		return err
	}
	for i := range steps {
		file := steps[i].file
		steps[i].file = nil
		if err := file.Commit(); err != nil {
			return err
		}
	}
	return errors.Join(disk.SyncFolder(d.path), end())
}

// discard removes files that were not put in place.
func discard(steps []step) {
	for _, s := range steps {
		if s.file != nil {
			s.file.Discard()
		}
	}
}

// Before gives the module to which a rollback would go: the one before, or with a digest ("sha256:" may be left out,
// and so may digits at its end) that one of the history.
func (d *Dir) Before(name, digest string) ([]byte, error) {
	if err := validName(name); err != nil {
		return nil, err
	}
	if digest == "" {
		before, _, err := d.last(name)
		if err != nil {
			return nil, err
		}
		return d.kept(name, before)
	}
	wanted := strings.TrimPrefix(digest, "sha256:")
	all, err := d.digests(name)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, digest := range all {
		if wanted != "" && strings.HasPrefix(digest, "sha256:"+wanted) {
			found = append(found, digest)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%s: %s %w (%d begin so)", name, digest, ErrNotKept, len(found))
	}
	return d.kept(name, found[0])
}

// Rollback puts in place what [Dir.Before] gives. Without a digest it takes
// that step out of the order; with one it is a replacement like others.
func (d *Dir) Rollback(name, digest string) (Change, error) {
	module, err := d.Before(name, digest)
	if err != nil {
		return Change{}, err
	}
	if digest != "" {
		changes, err := d.Replace(map[string][]byte{name: module})
		if err != nil {
			return Change{}, err
		}
		return changes[0], nil
	}
	// The step leaves the order, so that a second rollback goes further back. If it restored the module that the first one
	// replaced, as with Helm, a script that rolls back until a court works would alternate between two bad modules.
	_, rest, err := d.last(name)
	if err != nil {
		return Change{}, err
	}
	change := Change{Name: name, After: Digest(module)}
	now, err := d.read(name)
	if err != nil {
		return Change{}, err
	}
	if now != nil {
		change.Before = Digest(now)
		if err := d.keep(name, now); err != nil {
			return Change{}, err
		}
	}
	s, err := d.stage(change, module)
	if err != nil {
		return Change{}, err
	}
	steps := []step{s}
	defer discard(steps)
	if err := d.take(steps); err != nil {
		return Change{}, err
	}
	return change, d.setOrder(name, rest)
}

// DefaultKeep is how many modules the history of a name keeps where nobody says otherwise.
const DefaultKeep = 20

// mostSteps bounds the order, in which the same few modules may take turns.
const mostSteps = 1000

// Prune takes modules out of the history of a name until at most keep are left beside the one in place: first those that were rolled back,
// then those that were replaced longest ago, and never the one that a rollback would go to next. It gives the digests of what it removed, in
// that order. keep is at least 1.
func (d *Dir) Prune(name string, keep int) ([]string, error) {
	if keep < 1 {
		return nil, errors.New("a history keeps one module at least")
	}
	h, err := d.History(name)
	if err != nil {
		return nil, err
	}
	next, _, err := d.last(name)
	if err != nil && !errors.Is(err, ErrNothingBefore) {
		return nil, err
	}
	age := make(map[string]int)
	for i, digest := range h.Order {
		age[digest] = i + 1
	}
	age[next] = len(h.Order) + 1
	oldest := slices.DeleteFunc(slices.Clone(h.Kept), func(digest string) bool { return digest == h.Now })
	slices.SortStableFunc(oldest, func(a, b string) int { return age[a] - age[b] })
	removed := oldest[:max(0, len(oldest)-keep)]
	rest := slices.DeleteFunc(slices.Clone(h.Order), func(digest string) bool { return slices.Contains(removed, digest) })
	rest = rest[max(0, len(rest)-mostSteps):]
	if len(rest) != len(h.Order) { // no list names a module that is gone
		if err := d.setOrder(name, rest); err != nil {
			return nil, err
		}
	}
	for _, digest := range removed {
		if err := os.Remove(d.keptFile(name, digest)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if len(removed) == 0 {
		return nil, nil
	}
	return removed, disk.SyncFolder(d.history(name))
}

// History is what is known of one module.
type History struct {
	// Now is the digest of what is in place, empty where there is nothing.
	Now string
	// Order are the digests of what was in place before, oldest first.
	Order []string
	// Kept are all digests of the history, sorted: also those that were rolled back.
	Kept []string
}

// History of a module.
func (d *Dir) History(name string) (History, error) {
	var h History
	now, err := d.read(name)
	if err != nil {
		return h, err
	}
	if now != nil {
		h.Now = Digest(now)
	}
	if h.Order, err = d.order(name); err != nil {
		return h, err
	}
	h.Kept, err = d.digests(name)
	return h, err
}

// digests of all that the history of a module keeps, sorted.
func (d *Dir) digests(name string) ([]string, error) {
	entries, err := os.ReadDir(d.history(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []string
	for _, entry := range entries {
		if hexDigits, ok := strings.CutSuffix(entry.Name(), extension); ok && record.Digest("sha256:"+hexDigits).Valid() {
			list = append(list, "sha256:"+hexDigits)
		}
	}
	return list, nil
}

// last is the digest of what was in place before, and the order without it.
func (d *Dir) last(name string) (digest string, rest []string, err error) {
	now, err := d.read(name)
	if err != nil {
		return "", nil, err
	}
	order, err := d.order(name)
	if err != nil {
		return "", nil, err
	}
	for i, digest := range slices.Backward(order) {
		if now == nil || digest != Digest(now) { // what is in place was never replaced, or was restored
			return digest, order[:i], nil
		}
	}
	return "", nil, fmt.Errorf("%s: %w", name, ErrNothingBefore)
}

// read gives what is in place; nil where there is nothing.
func (d *Dir) read(name string) ([]byte, error) {
	if err := validName(name); err != nil {
		return nil, err
	}
	module, err := readBounded(d.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return module, err
}

// kept reads a module of the history, and checks it against its name.
func (d *Dir) kept(name, digest string) ([]byte, error) {
	path := d.keptFile(name, digest)
	module, err := readBounded(path)
	if err != nil {
		return nil, fmt.Errorf("history of %s: %w", name, err)
	}
	if Digest(module) != digest {
		return nil, fmt.Errorf("%s %w", path, ErrChanged)
	}
	return module, nil
}

func (d *Dir) file(name string) string    { return filepath.Join(d.path, name+extension) }
func (d *Dir) history(name string) string { return filepath.Join(d.path, historyDir, name) }
func (d *Dir) keptFile(name, digest string) string {
	return filepath.Join(d.history(name), strings.TrimPrefix(digest, "sha256:")+extension)
}

// Digest of a file's content: "sha256:" and 64 hex digits.
func Digest(content []byte) string { return string(record.DigestOf(content)) }

// validName rejects what would be a path.
func validName(name string) error {
	if name == "" || name != filepath.Base(name) || strings.HasPrefix(name, ".") {
		return fmt.Errorf("%q is no name of a module", name)
	}
	return nil
}

// readBounded reads a file that is no larger than a module may be.
func readBounded(path string) ([]byte, error) {
	data, err := disk.ReadBounded(path, abi.DefaultModuleBytes+1)
	if err == nil && len(data) > abi.DefaultModuleBytes {
		err = fmt.Errorf("%s is larger than %d bytes", path, abi.DefaultModuleBytes)
	}
	return data, err
}

// keep puts a module that leaves its place into the history, if it is not there.
func (d *Dir) keep(name string, module []byte) error {
	digest := Digest(module)
	if _, err := d.kept(name, digest); err == nil {
		return nil
	}
	if err := disk.MakeFolder(d.history(name), 0o755); err != nil {
		return err
	}
	return disk.Place(d.keptFile(name, digest), module, 0o644)
}

// order reads the digests of what was in place before, oldest first.
func (d *Dir) order(name string) ([]string, error) {
	path := filepath.Join(d.history(name), orderFile)
	text, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	digests := strings.Fields(string(text))
	for _, digest := range digests {
		if !record.Digest(digest).Valid() {
			return nil, fmt.Errorf("%s: %q is no digest", path, digest)
		}
	}
	return digests, nil
}

func (d *Dir) setOrder(name string, digests []string) error {
	var text strings.Builder
	for _, digest := range digests {
		text.WriteString(digest + "\n")
	}
	return disk.Place(filepath.Join(d.history(name), orderFile), []byte(text.String()), 0o644)
}

// stage writes a module beside its place, with the permissions of what is there.
func (d *Dir) stage(change Change, module []byte) (step, error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(d.file(change.Name)); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := disk.Stage(d.file(change.Name), module, mode)
	return step{Change: change, file: file}, err
}

// Lock keeps other processes from locking the folder until unlock is called, and waits for one that has it. Readers need no lock.
func (d *Dir) Lock() (unlock func(), err error) {
	if err := disk.MakeFolder(filepath.Join(d.path, historyDir), 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(d.path, historyDir, ".lock"), os.O_RDONLY|os.O_CREATE, 0o644) //nolint:gosec // other operators lock it, too
	if err != nil {
		return nil, err
	}
	if err := disk.Lock(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { _ = f.Close() }, nil // which unlocks
}

// With gives the folder as it would be with other modules, for a check before they are put in place.
func (d *Dir) With(modules map[string][]byte) fs.FS {
	files := make(map[string][]byte, len(modules))
	for name, wasm := range modules {
		files[name+extension] = wasm
	}
	return Over(os.DirFS(d.path), files)
}

// Over gives a file system with modules, by the names of their files, over what it has itself.
func Over(fsys fs.FS, files map[string][]byte) fs.FS { return overlay{fsys, files} }

type overlay struct {
	fs.FS
	files map[string][]byte
}

// Open opens a module that stands over the folder, or a file of the folder.
func (o overlay) Open(name string) (fs.File, error) {
	if module, ok := o.files[name]; ok {
		return &memory{bytes.NewReader(module), name}, nil
	}
	return o.FS.Open(name)
}

// memory is a file that is not on the disk yet.
type memory struct {
	*bytes.Reader
	name string
}

func (m *memory) Stat() (fs.FileInfo, error) { return m, nil }
func (*memory) Close() error                 { return nil }

// The methods of its fs.FileInfo; the size is the reader's.

func (m *memory) Name() string     { return m.name }
func (*memory) Mode() fs.FileMode  { return 0o444 }
func (*memory) ModTime() time.Time { return time.Time{} }
func (*memory) IsDir() bool        { return false }
func (*memory) Sys() any           { return nil }
