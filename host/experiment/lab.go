// Package experiment runs the failing test of a case again, in trees of revisions and mixtures of them and in other environments,
// and says what came of it: see docs/experiments.md. [Open] makes a [Lab], which answers the host's requests for experiments.
//
// The tests run in isolation, in scratch copies of the sources. The user's checkout is only read.
package experiment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/repo"
)

// Mode says which experiments are offered.
type Mode string

// The modes.
const (
	Reruns Mode = "reruns" // of the tree under test alone
	All    Mode = "all"    // with trees of other revisions, too
)

// DefaultPerCase is how long the runs of one case may take.
const DefaultPerCase = 2 * time.Minute

// Config says what a Lab runs, and for how long.
type Config struct {
	// Source is a folder of the module under test, in a git repository or a subfolder of one.
	Source string
	// Commit is the full id of a commit that is under test in place of the working tree. Empty: the working tree is.
	Commit string
	// Base is the revision at which the tests last passed. Empty: only the tree under test is run.
	Base string
	// Target is the revision that the tree under test will be merged into. Empty: neither it nor the merge is run.
	Target string
	Mode   Mode
	// Budget is how long all builds and runs may take together. Zero: nothing is run. Parallel runs each count, and those that have
	// begun when it is used up are not ended.
	Budget time.Duration
	// PerCase limits the runs of one case in the same way. Default: DefaultPerCase.
	PerCase time.Duration
	// Cases is how many cases may borrow from the budget what those that have had nothing yet are not due, PerCase each. Zero: none may.
	Cases int
	// Apart is how long the runs of a step take at least: they are spread over it, since tests that draw by the time end alike in runs that
	// follow one another. Default: DefaultApart. Below zero: they are not spread.
	Apart time.Duration
	// Parallel is how many builds and runs there are at the same time. Default: 1.
	Parallel int
	// CacheDir is a folder for results, which later runs use for a day. Empty: there is none.
	CacheDir string
	// Network leaves the tests on the network.
	Network bool
	// Home leaves the tests what the user can read. Otherwise they see nothing of the user's but what their runner needs, where the
	// system allows that: see [isolate.HidesFiles].
	Home bool
	// Native runs the tests outside of the isolation, with all that the user has, but for those of a clean environment.
	Native bool
	// Told gives tests the variables that their failure names. Reports and tests of others could so read any variable.
	Told bool
	// Left are options of the failing command that its runs are made without. No base is certified then.
	Left []string
	// Whole is how the runner of the failing command runs all tests of it.
	Whole Whole
	// Without is a variable that tests have neither so nor natively, such as one with a key; empty for none.
	Without string
	// Runners run the tests. Default: all that are shipped, see [RunnerNames].
	Runners []*Definition
	// Flags are passed to every build of Go, such as -race and -tags, and TestFlags to every run of its tests, such as -test.short or a
	// flag of the tests' own.
	Flags, TestFlags []string
	// Env are variables, as NAME=VALUE, that builds and tests have beside those that they always have, but for the tests of a clean
	// environment. Values are in no result and no file.
	Env []string
	// Progress, if it is not nil, is told when something begins or ends. Its calls don't overlap.
	Progress func(Progress)
	// Now measures what builds and runs take. Default: [time.Now].
	Now func() time.Time
}

// Whole is a run of all tests of a command. The tests around a failing one are those of the command then, unless that takes more than a third of
// [plan.MostRun].
type Whole struct {
	Runner string   // the name of its definition; empty for no such run
	Args   []string // of the runner, without those of reports
	Dir    string   // the folder on this machine in which it is run
	Took   time.Duration
}

func (c *Config) setDefaults() error {
	if c.Mode != Reruns && c.Mode != All {
		return fmt.Errorf("experiment mode %q: expected %s or %s", c.Mode, Reruns, All)
	}
	if c.PerCase <= 0 {
		c.PerCase = DefaultPerCase
	}
	if c.Apart == 0 {
		c.Apart = DefaultApart
	}
	if c.Parallel <= 0 {
		c.Parallel = 1
	}
	if c.Runners == nil {
		c.Runners = shippedRunners()
	}
	if c.Now == nil {
		c.Now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	return checkEnv(c.Env)
}

// revisions says where the files of the product, and those of the tests, come from.
type revisions struct{ product, tests abi.TreeRevision }

// Lab runs experiments. Safe for concurrent use.
type Lab struct {
	config  Config
	problem string // why nothing can be run, or empty
	// lacking says why trees of a revision can't be run.
	lacking map[abi.TreeRevision]string

	dir        *disk.Dir
	top        string                 // of the checkout
	overlays   bool                   // tests see a tree of their own without a copy
	modes      map[string]fs.FileMode // of the checkout, that git does not keep
	scratches  atomic.Int64
	toolchains []toolchain
	trees      map[revisions]*workspace

	account *account
	cache   *cache
	shared  shared

	comparisons comparisons
	begun       sync.Map // time.Time by begun: when the last run of a test in a tree began
	missed      sync.Map // string by missed: what the first run of a test in a tree lacked
	varying     sync.Map // *varying by the fingerprint of a failure: what differs among reruns

	open   sync.RWMutex // held for reading while an experiment runs
	closed bool
}

// Open reads the revisions. What keeps experiments from being run, such as a revision that is unknown, is no error: [Lab.Why] tells it.
// The caller closes the Lab.
func Open(ctx context.Context, config Config) (*Lab, error) {
	if err := config.setDefaults(); err != nil {
		return nil, err
	}
	kept, err := newCache(config)
	if err != nil {
		return nil, err
	}
	l := &Lab{config: config, trees: map[revisions]*workspace{}, lacking: map[abi.TreeRevision]string{}, account: newAccount(config), cache: kept}
	if config.Budget <= 0 {
		l.problem = "experiments have no budget"
		return l, nil
	}
	if err := l.prepare(ctx); err != nil {
		if ctx.Err() != nil {
			return nil, errors.Join(ctx.Err(), l.Close())
		}
		l.problem = oneLine(err.Error())
	}
	return l, nil
}

// prepare finds the tools and reads the trees. Its error says why nothing can be run.
func (l *Lab) prepare(ctx context.Context) error {
	dir, err := disk.TempDir("shadowcourt-lab")
	if err != nil {
		return fmt.Errorf("no temporary folder: %w", err)
	}
	l.dir = dir
	repository, err := repo.Open(ctx, l.config.Source)
	if err != nil {
		return err
	}
	l.top = repository.Top()
	head, err := underTest(ctx, repository, l.config.Commit)
	if err != nil {
		return err
	}
	if err := l.findToolchains(ctx, repository, head); err != nil {
		return err
	}
	if l.overlays, err = l.canOverlay(ctx); err != nil {
		return err
	}
	if err := l.findModes(head); err != nil {
		return err
	}
	l.add(abi.Head, abi.Head, head, head)
	if l.config.Mode != All {
		return nil
	}
	if err := l.addBase(ctx, repository, head); err != nil {
		return err
	}
	return l.addTarget(ctx, repository, head)
}

// add adds a tree. Equal trees share a folder and what is built there.
func (l *Lab) add(product, tests abi.TreeRevision, t, head *repo.Tree) {
	digest, modes := t.Digest(), t.Keeps(head, l.modes)
	if len(modes) > 0 {
		digest = fmt.Sprintf("sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%s %q", digest, modes))) // maps are printed in order
	}
	for _, w := range l.trees {
		if w.digest == digest {
			l.trees[revisions{product, tests}] = w
			return
		}
	}
	w := newWorkspace(t, digest, filepath.Join(l.dir.Path, "tree"+strconv.Itoa(len(l.trees))), l.top)
	w.modes, l.trees[revisions{product, tests}] = modes, w
}

// addBase adds the base and the mixtures. The error is that of the context.
func (l *Lab) addBase(ctx context.Context, repository *repo.Repository, head *repo.Tree) error {
	if l.config.Base == "" {
		l.lacking[abi.Base] = "no base is named"
		return nil
	}
	base, err := repository.At(ctx, l.config.Base)
	if err != nil {
		l.lacking[abi.Base] = oneLine("base: " + err.Error())
		return ctx.Err()
	}
	l.add(abi.Base, abi.Base, base, head)
	l.add(abi.Head, abi.Base, repo.Mix(head, base), head)
	l.add(abi.Base, abi.Head, repo.Mix(base, head), head)
	return nil
}

// addTarget adds the target, and head merged into it. The error is that of the context.
func (l *Lab) addTarget(ctx context.Context, repository *repo.Repository, head *repo.Tree) error {
	if l.config.Target == "" {
		return nil
	}
	target, err := repository.At(ctx, l.config.Target)
	if err != nil {
		l.lacking[abi.Target] = oneLine("target: " + err.Error())
		l.lacking[abi.Merge] = l.lacking[abi.Target]
		return ctx.Err()
	}
	l.add(abi.Target, abi.Target, target, head)
	folder := filepath.Join(l.dir.Path, "merge")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	merged, err := repository.Merge(ctx, folder, l.config.Target, cmp.Or(l.config.Commit, "HEAD"), head)
	if err != nil {
		l.lacking[abi.Merge] = oneLine("head can't be merged into the target: " + err.Error())
		return ctx.Err()
	}
	l.add(abi.Merge, abi.Merge, merged, head)
	return nil
}

// fullCommit is the id of a commit. Nothing else may name one: others than the owner of the source may choose it.
var fullCommit = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)

// underTest reads the tree under test.
func underTest(ctx context.Context, repository *repo.Repository, commit string) (*repo.Tree, error) {
	switch {
	case commit == "":
		return repository.Head(ctx)
	case !fullCommit.MatchString(commit):
		return nil, fmt.Errorf("revision %q: experiments need the full id of a commit", commit)
	}
	return repository.At(ctx, commit)
}

// findToolchains finds the runners that the source has tests for. Its error says why none can run them.
func (l *Lab) findToolchains(ctx context.Context, repository *repo.Repository, head *repo.Tree) error {
	source := &origin{Top: repository.Top(), Dir: repository.Dir(), Head: head, Committed: l.config.Commit != "", Scratch: l.dir.Path}
	var names, problems []string
	usable := 0
	for _, d := range l.config.Runners {
		t, err := openToolchain(ctx, d, source, &l.config)
		if err != nil {
			return err
		}
		names = append(names, d.Name)
		if t == nil {
			continue
		}
		l.toolchains = append(l.toolchains, t)
		if err := t.about().problem; err != nil {
			problems = append(problems, err.Error())
		} else {
			usable++
		}
	}
	switch {
	case len(l.toolchains) == 0:
		return fmt.Errorf("the source has no project with tests that %s can run", strings.Join(names, ", "))
	case usable == 0:
		return errors.New(strings.Join(problems, "; "))
	}
	return nil
}

// openToolchain gives nil where a source has nothing for a runner.
func openToolchain(ctx context.Context, d *Definition, source *origin, config *Config) (toolchain, error) {
	if d.Name == goRunner {
		if g, err := openGo(ctx, source, config); g != nil {
			return g, err
		} else if err != nil {
			return nil, err
		}
		return nil, nil //nolint:nilnil // the source has no module
	}
	if r, err := openProjects(ctx, d, source, config); r != nil || err != nil {
		return r, err
	}
	return nil, nil //nolint:nilnil // the source has no such project
}

// canOverlay tries whether a program in isolation can seem to write to a folder. The error says that nothing can be isolated.
func (l *Lab) canOverlay(ctx context.Context) (bool, error) {
	folder, scratch := filepath.Join(l.dir.Path, "lower"), filepath.Join(l.dir.Path, "upper")
	defer func() { _ = errors.Join(removeAll(scratch), removeAll(folder)) }()
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Mkdir(scratch, 0o700)); err != nil {
		return false, err
	}
	file := filepath.Join(folder, "file")
	r, err := isolate.Run(ctx, isolate.Command{
		Args: []string{"touch", file}, Dir: folder, Env: []string{"PATH=" + os.Getenv("PATH")}, Scratch: scratch, Overlays: []string{folder},
	})
	if err != nil {
		return false, err
	}
	_, err = os.Lstat(file)
	return r.Ending == isolate.Exited && r.ExitCode == 0 && err != nil, nil
}

// findModes finds the permissions that git does not keep, by those that new files and folders have.
func (l *Lab) findModes(head *repo.Tree) error {
	folder := filepath.Join(l.dir.Path, "new")
	file := filepath.Join(folder, "file")
	if err := errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(file, nil, 0o666)); err != nil {
		return err
	}
	ofFile, err := os.Stat(file)
	ofFolder, folderErr := os.Stat(folder)
	if err := errors.Join(err, folderErr); err != nil {
		return err
	}
	l.modes = head.Permissions(ofFile.Mode().Perm(), ofFolder.Mode().Perm())
	return os.RemoveAll(folder)
}

// Close waits for the runs to end and removes what they left. Experiments that are asked for later are not run.
func (l *Lab) Close() error {
	l.open.Lock()
	defer l.open.Unlock()
	if l.closed || l.dir == nil {
		l.closed = true
		return nil
	}
	l.closed = true
	if err := removeAll(l.dir.Path); err != nil {
		return errors.Join(err, l.dir.Remove())
	}
	return l.dir.Remove()
}

// Compares says whether the base can be run.
func (l *Lab) Compares() bool {
	return l.problem == "" && l.trees[revisions{abi.Base, abi.Base}] != nil
}

// Unchanged says whether the base is the same as the tree under test, so that comparing them shows nothing.
func (l *Lab) Unchanged() bool {
	head := l.trees[revisions{abi.Head, abi.Head}]
	return head != nil && head == l.trees[revisions{abi.Base, abi.Base}]
}

// Digest names all that offers and results depend on beside the case, but for the budget.
func (l *Lab) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00%t %t %t %t\x00%s\x00%s\x00", resultForm, l.config.Mode, l.config.Network, l.config.Home, l.config.Native, l.config.Told, l.problem, l.whyNot())
	fmt.Fprintf(h, "%s %d\x00", runtime.GOOS, runtime.NumCPU())
	fmt.Fprintf(h, "%q\x00", l.config.Left)
	fmt.Fprintf(h, "%q\x00", names(l.config.Env)) // who reads a record could guess values by their digest
	for _, t := range l.toolchains {
		fmt.Fprintf(h, "%s %s\x00", t.about().name, t.about().version)
	}
	for _, r := range []abi.TreeRevision{abi.Head, abi.Base, abi.Target, abi.Merge} {
		if w := l.trees[revisions{r, r}]; w != nil {
			fmt.Fprintf(h, "%s %s\x00", r, w.digest)
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
