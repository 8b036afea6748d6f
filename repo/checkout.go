package repo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Write writes the tree into an empty folder: what the working tree has as it is there, all else as git would check it out, by the attributes of
// its own revision. Filters are not run: a file that needs one is taken from the working tree, or from the local objects of Git LFS. Unmade are
// the files and submodules for which that can't be done, each with the reason; such a file is as it was committed, such a submodule an empty folder.
// For as long as it writes, there is another folder beside this one.
func (t *Tree) Write(ctx context.Context, folder string) (unmade []string, err error) {
	scratch, err := os.MkdirTemp(filepath.Dir(folder), "checkout-")
	if err != nil {
		return nil, err
	}
	unmade, err = t.write(ctx, folder, scratch)
	return unmade, errors.Join(err, os.RemoveAll(scratch))
}

func (t *Tree) write(ctx context.Context, folder, scratch string) (unmade []string, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	byCommit := map[string][]string{}
	for _, name := range t.Paths() {
		byCommit[t.files[name].commit] = append(byCommit[t.files[name].commit], name)
	}
	own := byCommit[""]
	delete(byCommit, "")
	for _, commit := range slices.Sorted(maps.Keys(byCommit)) {
		c, err := t.checkOut(ctx, folder, scratch, commit, byCommit[commit])
		if err != nil {
			return nil, err
		}
		own, unmade = append(own, c.working...), append(unmade, c.unmade...)
		for name, object := range c.objects {
			if err := copyObject(root, name, object, t.files[name].Mode); err != nil {
				return nil, err
			}
		}
	}
	blobs := &blobs{repository: t.repository}
	for _, name := range own {
		if err := errors.Join(ctx.Err(), t.writeFile(ctx, root, blobs, name)); err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", name, err), blobs.close())
		}
	}
	if err := blobs.close(); err != nil {
		return nil, err
	}
	for name := range t.modules {
		if err := root.MkdirAll(filepath.FromSlash(name), 0o777); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.subs)) {
		sub := t.subs[name]
		if sub.tree == nil {
			unmade = append(unmade, name+": "+sub.why)
			continue
		}
		of, err := sub.tree.write(ctx, filepath.Join(folder, filepath.FromSlash(name)), scratch)
		if err != nil {
			return nil, fmt.Errorf("submodule %s: %w", name, err)
		}
		for _, what := range of {
			unmade = append(unmade, path.Join(name, what))
		}
	}
	return unmade, nil
}

// checkedOut is what git has not checked out as it would with its filters.
type checkedOut struct {
	working []string          // are the same in the working tree
	objects map[string]string // files of Git LFS, by the paths of those that they are for
	unmade  []string
}

// checkOut has git write files of a commit, from a repository that has nothing of the configuration of this one but how lines end, and is made in a
// scratch folder.
func (t *Tree) checkOut(ctx context.Context, folder, scratch, commit string, names []string) (*checkedOut, error) {
	git, err := os.MkdirTemp(scratch, "git-")
	if err != nil {
		return nil, err
	}
	index, err := t.repository.besides(ctx, git)
	if err != nil {
		return nil, err
	}
	if err := t.repository.inCheckout().copyOwn(ctx, "info/attributes", git); err != nil {
		return nil, err
	}
	index.index, index.work = filepath.Join(git, "index"), folder
	if _, err := index.git(ctx, "read-tree", commit); err != nil {
		return nil, err
	}
	c, err := t.filtered(ctx, index, names)
	if err != nil {
		return nil, err
	}
	elsewhere := maps.Clone(c.objects)
	for _, name := range c.working {
		elsewhere[name] = name
	}
	names = slices.DeleteFunc(names, func(name string) bool { return elsewhere[name] != "" })
	if _, err := index.fed(ctx, names, "checkout-index", "-z", "--stdin"); err != nil {
		return nil, t.lacking(ctx, names, err)
	}
	return c, nil
}

// Permissions are those of the checkout's files and folders, by their paths, that git does not keep: others than new files and folders get by the umask.
// Of none the owner's own are missing. Submodules are left out.
func (t *Tree) Permissions(file, folder fs.FileMode) map[string]fs.FileMode {
	odd := map[string]fs.FileMode{}
	look := func(name string, usual, owner, kind fs.FileMode) {
		info, err := os.Lstat(filepath.Join(t.repository.top, filepath.FromSlash(name)))
		if err == nil && info.Mode().Type() == kind && info.Mode().Perm()|owner != usual {
			odd[name] = info.Mode().Perm() | owner
		}
	}
	for name := range t.folders() {
		look(name, folder, 0o700, fs.ModeDir)
	}
	for name, f := range t.files {
		switch {
		case !f.work: // a checkout would write it
		case f.Mode == Executable:
			look(name, folder, 0o700, 0)
		default:
			look(name, file, 0o600, 0)
		}
	}
	return odd
}

// Keeps leaves of the permissions of a tree those that a checkout of this one in its place would keep: of equal files, and of folders.
func (t *Tree) Keeps(of *Tree, permissions map[string]fs.FileMode) map[string]fs.FileMode {
	folders, kept := t.folders(), maps.Clone(permissions)
	maps.DeleteFunc(kept, func(name string, _ fs.FileMode) bool {
		was, isFile := of.files[name]
		now, has := t.files[name]
		return !folders[name] && (!isFile || !has || was.Blob != now.Blob || was.Mode != now.Mode)
	})
	return kept
}

// folders are those with files, and all around them.
func (t *Tree) folders() map[string]bool {
	list := map[string]bool{}
	for name := range t.files {
		for in := path.Dir(name); !list[in]; in = path.Dir(in) {
			list[in] = true
		}
	}
	return list
}

// inCheckout is the user's repository, of one that is beside it, too.
func (r *Repository) inCheckout() *Repository {
	here := *r
	here.apart = ""
	return &here
}

// lacking is why files could not be written: an object that the clone does not have, or else what git says.
func (t *Tree) lacking(ctx context.Context, names []string, err error) error {
	if missing := t.ReadAll(ctx, names, 0, func(string, []byte) {}); missing != nil {
		return missing
	}
	return err
}

// filtered finds the files for which filters are configured. A file that the working tree has under the same filter is what that would make.
func (t *Tree) filtered(ctx context.Context, index *Repository, names []string) (*checkedOut, error) {
	c := &checkedOut{objects: map[string]string{}}
	r := t.repository
	if len(r.filters) == 0 {
		return c, nil
	}
	of, err := index.filtersOf(ctx, names, "--cached")
	if err != nil {
		return nil, err
	}
	now, err := r.inCheckout().filtersOf(ctx, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		switch filter := of[name]; {
		case !slices.Contains(r.filters, filter):
		case t.files[name].work && now[name] == filter:
			c.working = append(c.working, name)
		case filter == "lfs":
			object, err := t.largeObject(ctx, name)
			if err != nil {
				return nil, err
			}
			if object == "" {
				c.unmade = append(c.unmade, name+": its content is not among the local objects of Git LFS: run git lfs fetch --all")
			} else if object != name {
				c.objects[name] = object
			}
		default:
			c.unmade = append(c.unmade, name+": it needs the filter "+filter+", and filters are not run")
		}
	}
	return c, nil
}

// filtersOf are the filters that attributes name for files.
func (r *Repository) filtersOf(ctx context.Context, names []string, flags ...string) (map[string]string, error) {
	out, err := r.fed(ctx, names, append([]string{"check-attr", "-z", "--stdin"}, append(flags, "filter")...)...)
	fields := strings.Split(string(out), "\x00")
	of := map[string]string{}
	for i := 0; i+2 < len(fields); i += 3 {
		of[fields[i]] = fields[i+2]
	}
	return of, err
}

// maxPointer bounds a file that points to an object of Git LFS, in bytes.
const maxPointer = 1024

// largeObject is the file of the object that a file of Git LFS stands for; the file itself where it is no pointer, and empty where the object is
// not here.
func (t *Tree) largeObject(ctx context.Context, name string) (string, error) {
	var pointer []byte
	raw := *t
	raw.files = map[string]File{name: {Mode: Regular, Blob: t.files[name].Blob}}
	if err := raw.ReadAll(ctx, []string{name}, maxPointer+1, func(_ string, text []byte) { pointer = text }); err != nil {
		return "", err
	}
	_, id, isPointer := strings.Cut(string(pointer), "\noid sha256:")
	if !bytes.HasPrefix(pointer, []byte("version https://git-lfs.github.com/spec/")) || !isPointer || len(pointer) > maxPointer {
		return name, nil
	}
	id, _, _ = strings.Cut(id, "\n")
	if digest, err := hex.DecodeString(id); err != nil || len(digest) != 32 {
		return name, nil //nolint:nilerr // no pointer
	}
	objects, err := t.repository.inCheckout().gitPath(ctx, "objects") // in the folder that linked working trees share
	if err != nil {
		return "", err
	}
	object := filepath.Join(filepath.Dir(objects), "lfs", "objects", id[:2], id[2:4], id)
	if info, err := os.Lstat(object); err != nil || !info.Mode().IsRegular() {
		return "", nil //nolint:nilerr // it is not here
	}
	return object, nil
}

func copyObject(root *os.Root, name, object string, mode Mode) error {
	content, err := os.Open(object)
	if err != nil {
		return err
	}
	defer content.Close()
	return create(root, name, mode, content)
}

// writeFile writes a file as it is in the working tree, or as it was committed where a sparse checkout leaves it out. The root keeps paths that
// lead through a link inside the folder.
func (t *Tree) writeFile(ctx context.Context, root *os.Root, blobs *blobs, name string) error {
	f := t.files[name]
	content, err := t.open(ctx, blobs, name, f)
	if err != nil {
		return err
	}
	defer content.Close()
	if f.Mode != Symlink {
		return create(root, name, f.Mode, content)
	}
	target, err := io.ReadAll(io.LimitReader(content, 1<<16))
	at := filepath.FromSlash(name)
	if err = errors.Join(err, root.MkdirAll(filepath.Dir(at), 0o755)); err != nil {
		return err
	}
	return root.Symlink(string(target), at)
}

func create(root *os.Root, name string, mode Mode, content io.Reader) error {
	at, permissions := filepath.FromSlash(name), os.FileMode(0o666)
	if mode == Executable {
		permissions = 0o777
	}
	if err := root.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	file, err := root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, permissions)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// sub is a submodule of a tree.
type sub struct {
	tree *Tree
	why  string // there is none
}

// addSubmodules adds the trees of submodules: those of the working tree as they are checked out, others by their commits. One that is not checked
// out, and of the same commit, is an empty folder in both.
func (t *Tree) addSubmodules(ctx context.Context, working bool, now map[string]string) error {
	r := t.repository.inCheckout()
	for name, commit := range t.modules {
		in, err := r.submodule(ctx, name)
		if err != nil {
			return err
		}
		s := sub{why: "the submodule is not checked out"}
		switch {
		case in == nil && (working || now[name] == commit):
			continue
		case in == nil:
		case working:
			if s.tree, err = in.Head(ctx); err != nil {
				return err
			}
		default:
			if s.tree, err = in.At(ctx, commit); err != nil {
				s.why = "the submodule: " + err.Error()
			}
		}
		if t.subs == nil {
			t.subs = map[string]sub{}
		}
		t.subs[name] = s
	}
	return ctx.Err()
}

// submodule opens a submodule that is checked out; nil if it is not.
func (r *Repository) submodule(ctx context.Context, name string) (*Repository, error) {
	folder := filepath.Join(r.top, filepath.FromSlash(name))
	if _, err := os.Lstat(filepath.Join(folder, ".git")); err != nil {
		return nil, nil //nolint:nilerr,nilnil // it is not checked out
	}
	in, err := Open(ctx, folder)
	if err != nil || in.top != folder {
		return nil, err //nolint:nilnil // a link to another repository
	}
	return in, nil
}
