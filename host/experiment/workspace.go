package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/repo"
)

// workspace is a tree in a folder of its own, with what was built for its tests. Builds and runs in it follow one another unless runs
// see it through overlays.
type workspace struct {
	tree   *repo.Tree
	digest string
	folder string // has the folder tree, and one for each build

	turn    chan struct{} // holds one token while somebody changes the folder
	written bool
	writes  int                    // how often the tree was written
	built   map[string]built       // by toolchain and unit
	tested  func() map[string]bool // folders that have test files of Go
	runs    recordings
}

// built is a program that runs tests, or why there is none.
type built struct {
	program program
	err     error
}

func newWorkspace(t *repo.Tree, digest, folder string) *workspace {
	return &workspace{
		tree: t, digest: digest, folder: folder, turn: make(chan struct{}, 1), built: map[string]built{},
		tested: sync.OnceValue(func() map[string]bool { return testedFolders(t) }),
	}
}

// source is the folder that the tree is written into.
func (w *workspace) source() string { return filepath.Join(w.folder, "tree") }

func (w *workspace) lock(ctx context.Context) error {
	select {
	case w.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (w *workspace) unlock() { <-w.turn }

// build gives what runs the test of a failure, in the tree with some of its files replaced. Errors of the code are kept: *buildError and errNoTests.
func (l *Lab) build(ctx context.Context, w *workspace, f *failure, only replaced) (program, error) {
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	key := strings.Join([]string{f.toolchain.about().name, f.unit, only.digest()}, " ")
	if b, ok := w.built[key]; ok {
		return b.program, b.err
	}
	defer l.account.measure(f.fingerprint)()
	ctx, cancel := context.WithTimeoutCause(ctx, buildLimit, errSlowBuild)
	defer cancel()
	out := filepath.Join(w.folder, "bin"+strconv.Itoa(len(w.built)))
	if err := os.MkdirAll(out, 0o700); err != nil {
		return nil, err
	}
	var b built
	b.program, b.err = f.toolchain.build(ctx, w, f, only, out)
	if _, failed := errors.AsType[*buildError](b.err); b.err == nil || failed || errors.Is(b.err, errNoTests) {
		w.built[key] = b
	}
	if errors.Is(context.Cause(ctx), errSlowBuild) {
		return nil, errSlowBuild
	}
	return b.program, b.err
}

// buildLimit is how long a build may take, with the modules that it downloads.
const buildLimit = 5 * time.Minute

var errSlowBuild = fmt.Errorf("the build took longer than %v", buildLimit)

// write writes the tree, unless it is there.
func (w *workspace) write(ctx context.Context) error {
	if w.written {
		return nil
	}
	folder := w.source()
	if err := removeAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	err := w.tree.Write(ctx, folder)
	w.written, w.writes = err == nil, w.writes+1
	return err
}

// run runs a test in isolation. With overlays the tree stays as it is; without them the test may change it, and it is written again
// before the next run.
func (l *Lab) run(ctx context.Context, w *workspace, run program, f *failure, env environment) (*testRun, error) {
	if l.overlays {
		env.Scratch, env.Overlay = filepath.Join(l.dir.Path, "run"+strconv.FormatInt(l.scratches.Add(1), 10)), w.folder
		if err := os.Mkdir(env.Scratch, 0o700); err != nil {
			return nil, err
		}
		defer l.account.measure(f.fingerprint)()
		defer func() { _ = removeAll(env.Scratch) }()
		return run(ctx, f, env)
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
		for _, left := range []string{"home", "tmp", "overlay", "view", traceFolder} {
			_ = removeAll(filepath.Join(w.folder, left))
		}
	}()
	return run(ctx, f, env)
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
