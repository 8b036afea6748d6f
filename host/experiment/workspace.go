package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/gorun"
	"github.com/shadowcourt/shadowcourt/host/experiment/tree"
)

// workspace is a tree in a folder of its own, with the test binaries that were built in it. Builds and runs in it follow one another
// unless runs see it through overlays.
type workspace struct {
	tree   *tree.Tree
	digest string
	tested map[string]bool // folders of the tree that have test files
	folder string          // has the folder tree, and one for each binary

	turn     chan struct{} // holds one token while somebody changes the folder
	written  bool
	binaries map[string]built // by the package's folder and the flags
}

// built is a test binary, or why there is none.
type built struct {
	binary *gorun.Binary
	err    error
}

func newWorkspace(t *tree.Tree, digest, folder string) *workspace {
	w := &workspace{tree: t, digest: digest, tested: map[string]bool{}, folder: folder, turn: make(chan struct{}, 1), binaries: map[string]built{}}
	for _, name := range t.Paths() {
		if strings.HasSuffix(name, "_test.go") {
			w.tested[path.Dir(name)] = true
		}
	}
	return w
}

func (w *workspace) lock(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *workspace) unlock() { <-w.turn }

// build gives the test binary of a failure's package. Errors of the code are kept: *gorun.BuildError and gorun.ErrNoTests.
func (l *Lab) build(ctx context.Context, w *workspace, f *failure) (*gorun.Binary, error) {
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	pack := path.Join(f.module, f.folder)
	key := strings.Join(append([]string{pack}, f.flags...), " ")
	if b, ok := w.binaries[key]; ok {
		return b.binary, b.err
	}
	defer l.account.measure(f.fingerprint)()
	ctx, cancel := context.WithTimeoutCause(ctx, buildLimit, errSlowBuild)
	defer cancel()
	var b built
	if !w.tested[pack] {
		b.err = gorun.ErrNoTests
	} else if b.err = w.write(ctx); b.err == nil {
		out := filepath.Join(w.folder, "bin"+strconv.Itoa(len(w.binaries)))
		if err := os.MkdirAll(out, 0o700); err != nil {
			return nil, err
		}
		folder := filepath.Join(w.folder, "tree", filepath.FromSlash(f.module))
		b.binary, b.err = l.goTool.Build(ctx, folder, "./"+f.folder, out, f.flags...)
	}
	if _, failed := errors.AsType[*gorun.BuildError](b.err); b.err == nil || failed || errors.Is(b.err, gorun.ErrNoTests) {
		w.binaries[key] = b
	}
	if errors.Is(context.Cause(ctx), errSlowBuild) {
		return nil, errSlowBuild
	}
	return b.binary, b.err
}

// buildLimit is how long a build may take, with the modules that it downloads.
const buildLimit = 5 * time.Minute

var errSlowBuild = fmt.Errorf("the build took longer than %v", buildLimit)

// write writes the tree, unless it is there.
func (w *workspace) write(ctx context.Context) error {
	if w.written {
		return nil
	}
	folder := filepath.Join(w.folder, "tree")
	if err := removeAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	err := w.tree.Write(ctx, folder)
	w.written = err == nil
	return err
}

// run runs a test in isolation. With overlays the tree stays as it is; without them the test may change it, and it is written again
// before the next run.
func (l *Lab) run(ctx context.Context, w *workspace, b *gorun.Binary, f *failure, env gorun.Environment) (*gorun.Run, error) {
	if l.overlays {
		env.Scratch, env.Overlay = filepath.Join(l.dir.Path, "run"+strconv.FormatInt(l.scratches.Add(1), 10)), w.folder
		if err := os.Mkdir(env.Scratch, 0o700); err != nil {
			return nil, err
		}
		defer l.account.measure(f.fingerprint)()
		defer func() { _ = removeAll(env.Scratch) }()
		return l.goTool.Test(ctx, b, f.test.Name, env)
	}
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	defer l.account.measure(f.fingerprint)()
	if err := w.write(ctx); err != nil {
		return nil, err
	}
	env.Scratch, w.written = w.folder, false
	defer func() {
		for _, left := range []string{"home", "tmp", "overlay"} {
			_ = removeAll(filepath.Join(w.folder, left))
		}
	}()
	return l.goTool.Test(ctx, b, f.test.Name, env)
}

// removeAll removes a folder in which a test may have left folders that nobody can write to.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700) //nolint:gosec // a folder has to be searched to be removed
		}
		return nil
	})
	return os.RemoveAll(folder)
}
