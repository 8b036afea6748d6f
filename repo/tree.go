package repo

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// Mode is what a file of a tree is.
type Mode string

// The modes. Submodules are trees of their own, which paths don't lead into.
const (
	Regular    Mode = "100644"
	Executable Mode = "100755"
	Symlink    Mode = "120000"
	submodule  Mode = "160000"
)

// File is a file of a tree.
type File struct {
	Mode Mode
	// Blob is the file's content as git names it, in hexadecimal. Equal blobs are equal contents.
	Blob string
	// work says that the content is in the working tree, and perhaps not in the repository; untracked, that git does not know the file.
	work, untracked bool
	// commit is that by whose attributes it is checked out; empty for files of the working tree.
	commit string
}

// Tree is the files of a tree by their slash-separated paths. It is not changed after it was made.
type Tree struct {
	repository *Repository
	files      map[string]File
	modules    map[string]string // commits of submodules
	subs       map[string]sub    // submodules that are, or should be, checked out
}

// Digest names the tree by all that is in it.
func (t *Tree) Digest() string {
	h := sha256.New()
	for _, path := range t.Paths() {
		fmt.Fprintf(h, "%s %s %s\x00", t.files[path].Mode, t.files[path].Blob, path)
	}
	for _, path := range slices.Sorted(maps.Keys(t.subs)) {
		digest := t.subs[path].why
		if of := t.subs[path].tree; of != nil {
			digest = of.Digest()
		}
		fmt.Fprintf(h, "%s %s %s\x00", submodule, digest, path)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// File gives a file by its path.
func (t *Tree) File(path string) (File, bool) {
	f, ok := t.files[path]
	return f, ok
}

// Untracked says whether git does not know the file, which only the working tree has.
func (f File) Untracked() bool { return f.untracked }

// HasFolder says whether git knows a file of the tree in a folder.
func (t *Tree) HasFolder(folder string) bool {
	for path, f := range t.files {
		if !f.untracked && strings.HasPrefix(path, folder+"/") {
			return true
		}
	}
	return false
}

// Paths are the paths of all files, sorted.
func (t *Tree) Paths() []string { return slices.Sorted(maps.Keys(t.files)) }

// Read reads up to limit bytes of a file.
func (t *Tree) Read(ctx context.Context, path string, limit int64) (data []byte, err error) {
	if _, ok := t.files[path]; !ok {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fs.ErrNotExist}
	}
	err = t.ReadAll(ctx, []string{path}, limit, func(_ string, text []byte) { data = text })
	return data, err
}

// ReadAll reads up to limit bytes of each of some files, one after the other, without those that the tree has not.
func (t *Tree) ReadAll(ctx context.Context, paths []string, limit int64, use func(path string, data []byte)) (err error) {
	b := &blobs{repository: t.repository}
	defer func() {
		if ended := b.close(); err == nil {
			err = ended
		}
	}()
	for _, path := range paths {
		f, ok := t.files[path]
		if !ok {
			continue
		}
		content, err := t.open(ctx, b, path, f)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(io.LimitReader(content, limit))
		if err := errors.Join(err, content.Close()); err != nil {
			return err
		}
		use(path, data)
	}
	return nil
}

// Changed lists the paths at which two trees differ, sorted.
func (t *Tree) Changed(other *Tree) []string {
	var changed []string
	for path, f := range t.files {
		if g, ok := other.files[path]; !ok || f.Blob != g.Blob || f.Mode != g.Mode {
			changed = append(changed, path)
		}
	}
	for path := range other.files {
		if _, ok := t.files[path]; !ok {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	return changed
}

// Differ says whether two trees differ in a path that the function selects.
func (t *Tree) Differ(other *Tree, selected func(path string) bool) bool {
	return slices.ContainsFunc(t.Changed(other), selected)
}

// Mix gives the tree that has the tests and fixtures of one tree and everything else of another.
func Mix(product, tests *Tree) *Tree {
	mixed := &Tree{repository: product.repository, files: map[string]File{}, modules: product.modules, subs: product.subs}
	for path, f := range product.files {
		if !sourcefile.IsTest(path) {
			mixed.files[path] = f
		}
	}
	for path, f := range tests.files {
		if sourcefile.IsTest(path) {
			mixed.files[path] = f
		}
	}
	return mixed
}

// At reads the tree of a revision, with submodules at the commits that it names. What is read of files is what the working tree has where that is the
// same, as it is checked out, and else what was committed.
func (r *Repository) At(ctx context.Context, revision string) (*Tree, error) {
	commit, err := r.Commit(ctx, revision)
	if err != nil {
		return nil, err
	}
	listed, err := r.git(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, fmt.Errorf("%w: %w: run git fetch --refetch --no-filter", ErrIncomplete, err)
	}
	t := &Tree{repository: r, modules: map[string]string{}}
	if t.files, err = parse(listed, 2, t.modules); err != nil {
		return nil, err
	}
	now := map[string]string{}
	checkedOut, _, err := r.unmodified(ctx, now)
	if err != nil {
		return nil, err
	}
	for path, f := range t.files {
		f.work, f.commit = checkedOut[path] == f, commit
		t.files[path] = f
	}
	return t, t.addSubmodules(ctx, false, now)
}

// advice says what to do about a revision that a shallow clone lacks.
func (r *Repository) advice(ctx context.Context) string {
	if out, err := r.git(ctx, "rev-parse", "--is-shallow-repository"); err == nil && strings.TrimSpace(string(out)) == "true" {
		return ": the clone is shallow: run `git fetch --deepen 50`, or clone with fetch-depth: 0"
	}
	return ""
}

// unmodified are the tracked files that stand in the working tree as they are in the index. Those whose changes git shall not look for
// (update-index --assume-unchanged, --skip-worktree) are not among them; skipped are the latter, which a sparse checkout does not write.
func (r *Repository) unmodified(ctx context.Context, modules map[string]string) (files, skipped map[string]File, err error) {
	listed, err := r.git(ctx, "ls-files", "-z", "-v", "--stage")
	if err != nil {
		return nil, nil, err
	}
	if files, err = parse(tagged(listed, "H "), 1, modules); err != nil {
		return nil, nil, err
	}
	if skipped, err = parse(tagged(listed, "S "), 1, modules); err != nil {
		return nil, nil, err
	}
	modified, err := r.git(ctx, "diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all")
	if err != nil {
		return nil, nil, err
	}
	for path := range strings.SplitSeq(string(modified), "\x00") {
		delete(files, path)
	}
	return files, skipped, nil
}

// tagged are the lines of `git ls-files -v` that begin with a tag, without it.
func tagged(listed []byte, tag string) []byte {
	var lines []byte
	for line := range bytes.SplitAfterSeq(listed, []byte{0}) {
		if text, ok := bytes.CutPrefix(line, []byte(tag)); ok {
			lines = append(lines, text...)
		}
	}
	return lines
}

// Head reads the working tree: tracked files and untracked ones that are not ignored, as they are now.
func (r *Repository) Head(ctx context.Context) (*Tree, error) {
	t := &Tree{repository: r, modules: map[string]string{}}
	files, skipped, err := r.unmodified(ctx, t.modules)
	if err != nil {
		return nil, err
	}
	t.files = files
	listed, err := r.git(ctx, "ls-files", "-z", "-t", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		tag, path, _ := strings.Cut(line, " ")
		if f, ok := files[path]; ok {
			f.work = true
			files[path] = f
			continue
		}
		f, err := r.working(path)
		absent, ok := skipped[path]
		switch {
		case err == nil:
			f.untracked = tag == "?"
			files[path] = f
		case errors.Is(err, fs.ErrNotExist) && ok:
			files[path] = absent
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return t, t.addSubmodules(ctx, true, nil)
}

// working describes a file of the working tree that may not be as git knows it: only its time may differ. Folders, such as
// submodules, and special files do not exist for it.
func (r *Repository) working(path string) (File, error) {
	name := filepath.Join(r.top, filepath.FromSlash(path))
	info, err := os.Lstat(name)
	if err != nil {
		return File{}, err
	}
	f := File{work: true}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		f.Mode = Symlink
	case !info.Mode().IsRegular():
		return File{}, fs.ErrNotExist
	case info.Mode()&0o100 != 0:
		f.Mode = Executable
	default:
		f.Mode = Regular
	}
	content, err := r.workingContent(path, f.Mode)
	if err != nil {
		return File{}, err
	}
	defer content.Close()
	h := r.newHash()
	fmt.Fprintf(h, "blob %d\x00", info.Size())
	if _, err := io.Copy(h, content); err != nil {
		return File{}, err
	}
	f.Blob = hex.EncodeToString(h.Sum(nil))
	return f, nil
}

// workingContent opens a file of the working tree, or gives the target of a link.
func (r *Repository) workingContent(path string, mode Mode) (io.ReadCloser, error) {
	name := filepath.Join(r.top, filepath.FromSlash(path))
	if mode != Symlink {
		return os.Open(name)
	}
	target, err := os.Readlink(name)
	return io.NopCloser(strings.NewReader(target)), err
}

// parse reads "mode ... blob ...\tpath\0" lines of git; at is where the blob stands. Submodules go to modules, unless it is nil.
func parse(listed []byte, at int, modules map[string]string) (map[string]File, error) {
	files := map[string]File{}
	for line := range bytes.SplitSeq(bytes.TrimSuffix(listed, []byte{0}), []byte{0}) {
		if len(line) == 0 {
			continue
		}
		meta, path, ok := strings.Cut(string(line), "\t")
		fields := strings.Fields(meta)
		if !ok || len(fields) <= at || !filepath.IsLocal(filepath.FromSlash(path)) {
			return nil, fmt.Errorf("git lists %q", line)
		}
		switch mode := Mode(fields[0]); {
		case mode != submodule:
			files[path] = File{Mode: mode, Blob: fields[at]}
		case modules != nil:
			modules[path] = fields[at]
		}
	}
	return files, nil
}

// open gives the content of a file, which has to be closed before the next one is opened.
func (t *Tree) open(ctx context.Context, blobs *blobs, path string, f File) (io.ReadCloser, error) {
	if f.work {
		return t.repository.workingContent(path, f.Mode)
	}
	return blobs.open(ctx, f.Blob)
}

// blobs reads contents from the repository through one git process.
type blobs struct {
	repository *Repository
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
}

func (b *blobs) start(ctx context.Context) error {
	b.cmd = b.repository.command(ctx, "cat-file", "--batch")
	in, err := b.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	b.in, b.out = in, bufio.NewReader(out)
	return b.cmd.Start()
}

// open gives a blob's content, which has to be closed before the next one is opened.
func (b *blobs) open(ctx context.Context, blob string) (io.ReadCloser, error) {
	if b.cmd == nil {
		if err := b.start(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(b.in, blob+"\n"); err != nil {
		return nil, err
	}
	header, err := b.out.ReadString('\n') // "<blob> blob <size>", or "<blob> missing"; in a partial clone git ends instead
	fields := strings.Fields(header)
	if err != nil || len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("%w: it lacks %s: run git fetch --refetch --no-filter", ErrIncomplete, blob)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return nil, err
	}
	return &blobReader{LimitedReader: io.LimitedReader{R: b.out, N: size}, out: b.out}, nil
}

type blobReader struct {
	io.LimitedReader
	out *bufio.Reader
}

// Close reads the rest, and the line feed behind it.
func (r *blobReader) Close() error {
	_, err := io.Copy(io.Discard, &r.LimitedReader)
	_, lineFeed := r.out.ReadByte()
	return errors.Join(err, lineFeed)
}

func (b *blobs) close() error {
	if b.cmd == nil {
		return nil
	}
	return errors.Join(b.in.Close(), b.cmd.Wait())
}
