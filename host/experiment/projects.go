package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
)

// origin is where trees come from.
type origin struct {
	Top  string // folder of the checkout on this machine
	Dir  string // the folder in it whose tests are run, slash-separated
	Head *repo.Tree
	// Committed: Head is that of a commit, and what is checked out may be something else.
	Committed bool
	// Scratch is a folder that is there as long as the runner is used.
	Scratch string
}

// defined runs the tests of the projects in a source that a definition is for. Results are not cached: what is installed for the tests
// may change unseen. Safe for concurrent use.
type defined struct {
	facts
	definition    *Definition
	source        *origin
	network, home bool                  // of builds
	given         []string              // variables of builds and tests
	projects      []string              // folders with a marker, outermost first
	installed     []string              // what the checkout has beside the tree and tests need, such as node_modules
	viewed        bool                  // runs see their tree in the place of the checkout
	untraced      atomic.Bool           // runs don't start with what tells what they load
	packages      sync.Map              // names of those of a *repo.Tree, or ends of its modules
	archives      sync.Map              // *archive by archiveKey
	testFiles     func() map[string]int // of the tree under test, by folder
	worlds        sync.Map              // what another installation is needed for, by worldKey
	whole         *Whole                // how the tests around another one run; nil for those of its folder
}

// maxMarkerBytes of a file are searched for what it shall contain.
const maxMarkerBytes = 1 << 20

// openProjects looks for projects in a source. Without any it gives nil. The error is that of the context.
func openProjects(ctx context.Context, d *Definition, source *origin, config *Config) (*defined, error) {
	build := time.Duration(d.Seconds.Build * float64(time.Second))
	r := &defined{definition: d, source: source, network: config.Network, home: config.Home, given: config.Env, testFiles: sync.OnceValue(func() map[string]int { return testFilesIn(source.Head) }), facts: facts{
		name: d.Name, variables: give(userVariables(environment{}, d.Allow...), config.Env),
		pace: plan.Pace{Start: plan.RunStart + time.Duration(d.Seconds.Start*float64(time.Second)), Head: build, Other: build},
	}}
	for _, name := range source.Head.Paths() {
		if marked, err := r.marks(ctx, name); err != nil {
			return nil, err
		} else if folder := path.Dir(name); marked && !slices.Contains(r.projects, folder) {
			r.projects = append(r.projects, folder)
		}
	}
	if len(r.projects) == 0 {
		return nil, nil //nolint:nilnil // the definition is for other projects
	}
	slices.SortStableFunc(r.projects, func(a, b string) int { return depth(a) - depth(b) })
	if w := config.Whole; w.Runner == d.Name && w.Took <= plan.MostRun/elapsedFactor {
		at, _ := filepath.EvalSymlinks(w.Dir) // as the top is
		if dir, err := filepath.Rel(source.Top, at); err == nil && filepath.IsLocal(dir) {
			w.Dir = filepath.ToSlash(dir)
			r.whole, r.pace.Around = &w, w.Took
		}
	}
	r.viewed = isolate.CanView() && !within(source.Top, source.Scratch) && !within(source.Scratch, source.Top)
	r.installed = r.keeps()
	said, err := r.start(ctx)
	r.problem, r.version = err, said+" "+d.text
	return r, ctx.Err()
}

func depth(folder string) int {
	if folder == "." {
		return 0
	}
	return 1 + strings.Count(folder, "/")
}

// marks says whether a file of the tree marks a project that belongs to the source.
func (r *defined) marks(ctx context.Context, name string) (bool, error) {
	folder := path.Dir(name)
	if slices.ContainsFunc(strings.Split(folder, "/"), func(f string) bool { return f == "node_modules" || f == "vendor" || f == "testdata" }) {
		return false, nil
	}
	if !below(r.source.Dir, folder) && !below(folder, r.source.Dir) {
		return false, nil
	}
	for _, m := range r.definition.Markers {
		if ok, err := path.Match(m.File, path.Base(name)); err != nil || !ok {
			continue
		}
		if m.Contains == "" {
			return true, nil
		}
		data, err := r.source.Head.Read(ctx, name, maxMarkerBytes)
		if err != nil {
			return false, err
		}
		if strings.Contains(string(data), m.Contains) {
			return true, nil
		}
	}
	return false, nil
}

// below says whether a slash-separated folder is another one or lies in it.
func below(top, folder string) bool {
	return top == "." || folder == top || strings.HasPrefix(folder, top+"/")
}

// maxFolders is in how many folders of the checkout installed files are looked for.
const maxFolders = 20_000

// keeps lists what the checkout has, the tree has not, and the definition keeps. A link is no folder, so that git may not ignore it: the
// tree under test has it, and other trees have not.
func (r *defined) keeps() []string {
	folders, has := map[string]bool{".": true}, map[string]bool{}
	for _, name := range r.source.Head.Paths() {
		f, _ := r.source.Head.File(name)
		has[name] = f.Mode != repo.Symlink
		for folder := path.Dir(name); !folders[folder] && len(folders) < maxFolders; folder = path.Dir(folder) {
			folders[folder] = true
		}
	}
	var found []string
	for folder := range folders {
		entries, err := os.ReadDir(filepath.Join(r.source.Top, filepath.FromSlash(folder)))
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := path.Join(folder, e.Name())
			if !has[name] && !folders[name] && slices.ContainsFunc(r.definition.Keep, func(p string) bool { ok, _ := path.Match(p, e.Name()); return ok }) {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	return found
}

// versionLimit is how long the program may take to say its version.
const versionLimit = 30 * time.Second

// start finds the program, and has it say its version.
func (r *defined) start(ctx context.Context) (said string, err error) {
	command, err := r.program(r.projects[0])
	if err != nil || len(r.definition.Version) == 0 {
		return "", err
	}
	scratch, err := os.MkdirTemp(r.source.Scratch, "version")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(scratch)
	env, overlays := r.environment(environment{}, command)
	result, err := isolate.Run(ctx, isolate.Command{
		Args: append([]string{command}, r.definition.Version...), Dir: scratch, Env: env, Overlays: append(overlays, r.source.Top), Scratch: scratch,
		Show:   r.shown(env, command),
		Limits: isolate.Limits{Time: versionLimit},
	})
	switch {
	case err != nil:
		return "", err
	case result.Ending != isolate.Exited || result.ExitCode != 0:
		return "", fmt.Errorf("%s does not start: %s", command, cmp.Or(errorText.FindString(string(result.Output)), oneLine(string(result.Output)), "it wrote nothing"))
	}
	return string(result.Output), nil
}

// errorText is the line in which Node.js and Python say what an error is.
var errorText = regexp.MustCompile(`(?m)^\w*Error: .*$`)

// program finds the program for a project: in the project or a folder around it, or in PATH.
func (r *defined) program(project string) (string, error) {
	for _, name := range r.definition.Programs {
		if !strings.Contains(name, "/") {
			if found, err := exec.LookPath(name); err == nil && filepath.IsAbs(found) {
				return found, nil
			}
			continue
		}
		for folder := project; ; folder = path.Dir(folder) {
			full := filepath.Join(r.source.Top, filepath.FromSlash(path.Join(folder, name)))
			if info, err := os.Stat(full); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
				return full, nil
			}
			if folder == "." {
				break
			}
		}
	}
	text := fmt.Sprintf("%s is not installed: there is no %s", r.definition.Name, strings.Join(r.definition.Programs, ", no "))
	if r.definition.Install != "" {
		text += "; " + r.definition.Install
	}
	return "", errors.New(text)
}

// serves tells of trees other than that under test: what is installed for tests, such as a package in development mode, may lead to the
// checkout and not to the tree.
func (r *defined) serves(t *repo.Tree) error {
	if r.viewed || t == r.source.Head || len(r.definition.Keep) == 0 {
		return nil
	}
	return fmt.Errorf("%s runs other trees than that under test only in the place of the checkout, which needs user namespaces and a folder for "+
		"temporary files outside of the checkout", r)
}

// environment is what a command sees of the user's variables, and the folders of others that it seems to write to.
func (r *defined) environment(env environment, command string) (variables, overlays []string) {
	variables = userVariables(env, r.definition.Allow...)
	if !env.Clean {
		variables = give(variables, r.given)
	}
	// The folders of temporary files are others in isolation; an installation there has to stay.
	for _, temp := range []string{"/tmp", "/var/tmp"} {
		if folder := filepath.Dir(command); within(temp, folder) && folder != temp && !within(r.source.Top, command) {
			if prefix := filepath.Dir(folder); prefix != temp && !within(prefix, r.source.Top) && !within(prefix, r.source.Scratch) {
				folder = prefix
			}
			overlays = append(overlays, folder)
		}
		for _, name := range r.installed {
			at, err := filepath.EvalSymlinks(filepath.Join(r.source.Top, filepath.FromSlash(name)))
			if err == nil && within(temp, at) && at != temp && !within(r.source.Top, at) && !within(at, r.source.Top) && !within(at, r.source.Scratch) {
				overlays = append(overlays, at)
			}
		}
	}
	for _, f := range r.definition.Folders {
		folder := f.path()
		if folder == "" {
			continue
		}
		if _, err := os.Stat(folder); err != nil && os.Getenv(f.Variable) == "" {
			continue
		}
		variables = give(variables, []string{f.Variable + "=" + folder})
		for _, name := range f.within() {
			if info, err := os.Stat(filepath.Join(folder, name)); err == nil && info.IsDir() {
				overlays = append(overlays, filepath.Join(folder, name))
			}
		}
	}
	return variables, overlays
}

// within are the parts of the folder that are seen.
func (f *folder) within() []string {
	if len(f.Show) == 0 {
		return []string{"."}
	}
	return f.Show
}

// path is where the folder is on this machine.
func (f *folder) path() string {
	if named := os.Getenv(f.Variable); filepath.IsAbs(named) {
		return filepath.Clean(named)
	}
	if below, ok := strings.CutPrefix(f.Default, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, filepath.FromSlash(below))
		}
	}
	return f.Default
}
