package experiment

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
)

// place is where an experiment is made.
type place struct {
	workspace *workspace
	// needed of the package's test files, in a mixture; nil for all of them.
	needed replaced
	// alone is what the test needs of them, for a base of which not all builds; nil where that is not known.
	alone replaced
	// absent: the tests have no such test.
	absent bool
	test   abi.TestChange
}

// place finds the tree of an experiment. A mixture has only what the failing test needs of the tests of its package, so that it is not
// the other tests that keep it from being built. If that is the same in both revisions, the tree of the product's own revision
// shows what the mixture would, and is built already.
func (l *Lab) place(ctx context.Context, f *failure, e abi.Experiment) (*place, error) {
	in := &place{workspace: l.trees[revisions{e.Product, e.Tests}]}
	if l.trees[revisions{abi.Base, abi.Base}] == nil {
		return in, nil
	}
	c, err := l.comparison(ctx, f)
	if err != nil {
		return nil, err
	}
	in.test = c.change
	in.absent = e.Tests == abi.Base && c.change == abi.TestNew
	switch {
	case e.Product == e.Tests && e.Tests == abi.Base && e.Order == abi.Alone:
		in.alone = c.needed[abi.Base]
	case e.Product == e.Tests:
	case c.same:
		in.workspace = l.trees[revisions{e.Product, e.Product}]
	default:
		in.needed = c.needed[e.Tests]
	}
	return in, nil
}

// builds says what an experiment builds.
func (l *Lab) builds(ctx context.Context, f *failure, e abi.Experiment) plan.Build {
	w := l.trees[revisions{e.Product, e.Tests}]
	if w == nil || f.toolchain.serves(w.tree) != nil {
		return plan.Impossible
	}
	if f.goTest.builds && (e.Environment != abi.OriginalEnvironment || e.Order != abi.Alone || !plan.IsFirst(e)) {
		return plan.Impossible // a build ends in the same way each time
	}
	in, err := l.place(ctx, f, e)
	switch {
	case err != nil: // Run tells it
		return plan.BuildOf(e)
	case in.absent:
		return plan.Nothing
	case in.workspace == l.trees[revisions{abi.Head, abi.Head}]:
		return plan.Head
	}
	return plan.Other
}

// comparison says how the failing test of head differs from the test of the base. It is empty where that can't be told.
type comparison struct {
	change abi.TestChange
	// same: all that the test may use of tests, helpers and fixtures is equal in both.
	same   bool
	needed map[abi.TreeRevision]replaced
}

// comparisons are those of a Lab by package and test.
type comparisons struct {
	mu   sync.Mutex
	made map[string]*comparison
}

func (l *Lab) comparison(ctx context.Context, f *failure) (*comparison, error) {
	key := strings.Join([]string{f.toolchain.about().name, f.unit, f.name}, " ")
	l.comparisons.mu.Lock()
	defer l.comparisons.mu.Unlock()
	if c := l.comparisons.made[key]; c != nil {
		return c, nil
	}
	c, err := f.toolchain.compare(ctx, l.trees[revisions{abi.Head, abi.Head}].tree, l.trees[revisions{abi.Base, abi.Base}].tree, f)
	if err != nil {
		return nil, err
	}
	if l.comparisons.made == nil {
		l.comparisons.made = map[string]*comparison{}
	}
	l.comparisons.made[key] = c
	return c, nil
}

// absence says of a test that the base does not have which file of the base it was in, or that git does not know its file; empty for neither.
func (l *Lab) absence(ctx context.Context, f *failure) string {
	if l.trees[revisions{abi.Base, abi.Base}] == nil {
		return ""
	}
	head, base := l.trees[revisions{abi.Head, abi.Head}].tree, l.trees[revisions{abi.Base, abi.Base}].tree
	changed := head.Changed(base)
	name, _, _ := strings.Cut(f.name, "[")
	has := func(t *repo.Tree, file string) bool {
		text, err := t.Read(ctx, file, maxMoved)
		return err == nil && !slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '/' }), func(word string) bool { return !bytes.Contains(text, []byte(word)) })
	}
	for _, file := range changed {
		_, had := base.File(file)
		if had || f.project != nil && file != f.project.path() || f.project == nil && path.Dir(file) != path.Join(f.goTest.module, f.goTest.folder) || !has(head, file) {
			continue
		}
		from, _, err := repo.Renamed(ctx, head, base, file, maxMoved)
		for _, other := range changed { // what kept its name may have been rewritten
			if _, left := head.File(other); from == "" && !left && path.Base(other) == path.Base(file) && has(base, other) {
				from = other
			}
		}
		if err == nil && from != "" && has(base, from) {
			return plan.Moved + from
		}
		if is, _ := head.File(file); is.Untracked() {
			return plan.Untracked + file
		}
	}
	return ""
}

// replaced are files that builds see with another content, by their paths in the tree; those without any they do not see.
type replaced map[string][]byte

func replace(pack string, files map[string][]byte) replaced {
	r := replaced{}
	for name, text := range files {
		r[path.Join(pack, name)] = text
	}
	return r
}

// digest names the files; it is empty if none is replaced.
func (r replaced) digest() string {
	if r == nil {
		return ""
	}
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(r)) {
		fmt.Fprintf(h, "%s %d %s\x00", name, len(r[name]), r[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// write writes the files into a folder, for the tree in another one, and gives the flag of the go command that replaces them.
func (r replaced) write(folder, treeFolder string) (flags []string, err error) {
	if r == nil {
		return nil, nil
	}
	overlay := struct {
		Replace map[string]string `json:"Replace"`
	}{map[string]string{}}
	for i, name := range slices.Sorted(maps.Keys(r)) {
		at := filepath.Join(treeFolder, filepath.FromSlash(name))
		if overlay.Replace[at] = ""; r[name] == nil {
			continue
		}
		file := filepath.Join(folder, "replaced"+strconv.Itoa(i)+"_"+path.Base(name))
		if err := os.WriteFile(file, r[name], 0o600); err != nil {
			return nil, err
		}
		overlay.Replace[at] = file
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	list := filepath.Join(folder, "overlay.json")
	return []string{"-overlay=" + list}, os.WriteFile(list, data, 0o600)
}

var errReruns = errors.New("only reruns of this tree are allowed")

// Offers are the experiments that can be run for the case, the cheapest first: the same for the same case. None where nothing can be
// run, for which [Lab.Why] has the reason. The error is that of the context.
func (l *Lab) Offers(ctx context.Context, subject *abi.Case) ([]abi.ExperimentOffer, error) {
	if err := ctx.Err(); err != nil || l.problem != "" {
		return nil, err
	}
	f, err := l.failureOf(subject)
	if err != nil {
		return nil, nil //nolint:nilerr // Why tells it
	}
	offers := plan.Offers(f.elapsed, f.toolchain.about().pace, func(e abi.Experiment) plan.Build { return l.builds(ctx, f, e) })
	return offers, ctx.Err()
}

// Able says whether any experiment can be run.
func (l *Lab) Able() bool { return l.problem == "" }

// Why says in a line why there are no offers for a case, or not all of the mode; empty if there are. Of a nil case it says what
// holds for all.
func (l *Lab) Why(subject *abi.Case) string {
	if l.problem != "" {
		return l.problem
	}
	if subject != nil {
		f, err := l.failureOf(subject)
		if err != nil {
			return oneLine(err.Error())
		}
		if l.config.Mode == Reruns {
			return errReruns.Error()
		}
		for _, r := range otherRevisions {
			if w := l.trees[revisions{r, r}]; w != nil {
				if err := f.toolchain.serves(w.tree); err != nil {
					return err.Error()
				}
			}
		}
	}
	return l.whyNot()
}

// otherRevisions are those of trees beside the one under test.
var otherRevisions = []abi.TreeRevision{abi.Base, abi.Target, abi.Merge}

// whyNot says in a line why trees of other revisions can't be run; empty where all can that are named.
func (l *Lab) whyNot() string {
	var reasons []string
	for _, r := range otherRevisions {
		if why := l.lacking[r]; why != "" && !slices.Contains(reasons, why) {
			reasons = append(reasons, why)
		}
	}
	return strings.Join(reasons, "; ")
}

// lacks says why there is no tree of an experiment.
func (l *Lab) lacks(e abi.Experiment) error {
	for _, r := range []abi.TreeRevision{e.Product, e.Tests} {
		if why := l.lacking[r]; why != "" {
			return errors.New(why)
		}
	}
	if l.config.Mode == All {
		return errors.New("no target is named")
	}
	return errReruns
}

// workspace is a tree in a folder of its own, with what was built for its tests. Builds and runs in it follow one another unless runs
// see it through overlays.
type workspace struct {
	tree   *repo.Tree
	digest string
	folder string                 // has the folder tree, with a folder that has the name of the checkout, and one for each build
	name   string                 // of that
	modes  map[string]fs.FileMode // that git does not keep

	turn    chan struct{} // holds one token while somebody changes the folder
	written bool
	unmade  atomic.Pointer[string] // names what the folder has not as git would check it out
	writes  int                    // how often the tree was written
	built   map[string]built       // by toolchain and unit
	folders func() map[string]bool // see goFolders
	runs    recordings
}

// built is a program that runs tests, or why there is none.
type built struct {
	program program
	err     error
}

func newWorkspace(t *repo.Tree, digest, folder, checkout string) *workspace {
	return &workspace{
		tree: t, digest: digest, folder: folder, name: cmp.Or(plainName.FindString(filepath.Base(checkout)), "tree"), turn: make(chan struct{}, 1), built: map[string]built{},
		folders: sync.OnceValue(func() map[string]bool { return goFolders(t) }),
	}
}

// source is the folder that the tree is written into: tests find the root of their project by its name.
func (w *workspace) source() string { return filepath.Join(w.folder, "tree", w.name) }

// plainName is the name of a folder that no tool takes for anything else.
var plainName = regexp.MustCompile(`^\w[\w.+-]{0,99}$`)

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
	defer l.account.measure(f.fingerprint, true)()
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
	if err := errors.Join(os.MkdirAll(filepath.Dir(folder), 0o700), os.Mkdir(folder, 0o777)); err != nil {
		return err
	}
	unmade, err := w.tree.Write(ctx, folder)
	if err == nil {
		err = w.permit()
	}
	w.written, w.writes = err == nil, w.writes+1
	if len(unmade) > 0 {
		names := unmade[0]
		if more := len(unmade) - 1; more > 0 {
			names += fmt.Sprintf(", and %d more", more)
		}
		w.unmade.Store(&names)
	}
	return err
}

// permit gives files and folders the permissions that git does not keep.
func (w *workspace) permit() error {
	root, err := os.OpenRoot(w.source()) // a link in the tree leads nowhere else
	if err != nil {
		return err
	}
	defer root.Close()
	for name, mode := range w.modes {
		err = errors.Join(err, root.Chmod(filepath.FromSlash(name), mode))
	}
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
		defer l.account.measure(f.fingerprint, false)()
		defer func() { _ = removeAll(env.Scratch) }()
		return run(ctx, f, env)
	}
	if err := w.lock(ctx); err != nil {
		return nil, err
	}
	defer w.unlock()
	defer l.account.measure(f.fingerprint, false)()
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
