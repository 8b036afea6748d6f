package experiment

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/repo"
)

// tracer is how a runner tells what its tests load. The zero value is none.
type tracer string

const (
	pytestTracer tracer = "pytest" // by a plugin
	jestTracer   tracer = "jest"   // by a file that Node.js loads first
	vitestTracer tracer = "vitest" // also for what Node.js loads by itself
	// The class path tells what a JVM loads: Surefire's report has it, and a script has Gradle write it.
	surefireTracer tracer = "surefire"
	gradleTracer   tracer = "gradle"
)

var tracers = []tracer{pytestTracer, jestTracer, vitestTracer, surefireTracer, gradleTracer}

//go:embed definitions/pytest_trace.py
var pytestPlugin []byte

const pytestPluginName = "shadowcourt_trace"

// trace has a run tell what it loads. It changes the command.
func (r *defined) trace(c *isolate.Command, env environment) error {
	kind := r.definition.Trace
	if kind == "" || kind == surefireTracer || kind == pytestTracer && r.untraced.Load() {
		return nil
	}
	folder, err := newTrace(env.Scratch)
	if err != nil {
		return err
	}
	switch kind {
	case pytestTracer:
		c.Args = slices.Insert(c.Args, 1, "-p", pytestPluginName)
		c.Env = prepend(c.Env, "PYTHONPATH", folder, string(os.PathListSeparator))
		return os.WriteFile(filepath.Join(folder, pytestPluginName+".py"), pytestPlugin, 0o600)
	case jestTracer, vitestTracer:
		return traceNode(c, folder, kind == vitestTracer)
	case gradleTracer:
		return traceGradle(c, folder)
	case surefireTracer:
	}
	return nil
}

// prepend puts a value before those of a variable.
func prepend(variables []string, name, first, separator string) []string {
	for i, v := range variables {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			variables[i] = name + "=" + first + separator + value
			return variables
		}
	}
	return append(variables, name+"="+first)
}

// traced reads what a run told, in its reports, too. Tests can write all of it: what has not its form tells nothing.
func (r *defined) traced(run *testRun, reports []byte, top, source string, env environment) {
	run.Loaded.code = abi.NotCertified
	switch r.definition.Trace {
	case pytestTracer:
		run.Loaded = r.loadedModules(traceFile(env.Scratch, "loaded"), top, env)
	case jestTracer, vitestTracer:
		run.Loaded = r.loadedFiles(traceFile(env.Scratch, "loaded"), top, source, env)
	case surefireTracer:
		run.Loaded = r.loadedClasses(surefireClassPaths(reports), top, env.Tree)
	case gradleTracer:
		run.Loaded = r.loadedClasses(gradleClassPaths(traceFile(env.Scratch, "loaded")), top, env.Tree)
	}
}

// traceFolder is the folder in the scratch folder for what tells of a run. The test can write to it.
const traceFolder = "trace"

// newTrace makes the folder empty.
func newTrace(scratch string) (string, error) {
	folder := filepath.Join(scratch, traceFolder)
	return folder, errors.Join(removeAll(folder), os.Mkdir(folder, 0o700))
}

// maxTraceBytes of a file that tells of a run are read. The test may have written it: what is larger tells nothing.
const maxTraceBytes = 32 << 20

// traceFile reads a file of the folder; empty if there is no plain file of that name or if it is too large.
func traceFile(scratch, name string) []byte {
	data, err := plainFile(scratch, filepath.Join(traceFolder, name), maxTraceBytes)
	if err != nil {
		return nil
	}
	return data
}

// loadedModules says whether modules of Python were loaded from the tree, where it has files for them.
func (r *defined) loadedModules(written []byte, top string, env environment) loaded {
	return r.loadedFrom(written, top, env, func(name, _ string) foreign {
		switch {
		case r.hasModule(env, name):
			return ofProject
		case strings.Contains(name, ".") && r.endsOf(env.Tree)[strings.ReplaceAll(name, ".", "/")]: // in a folder that nobody expects
			return unknownFile
		}
		return installedFor
	})
}

// endsOf are the ends of the paths of a tree's modules of Python, without .py: b/c and c of a/b/c.py.
func (r *defined) endsOf(t *repo.Tree) map[string]bool {
	if known, ok := r.packages.Load(t); ok {
		return known.(map[string]bool) //nolint:forcetypeassert // of this language nothing else is stored
	}
	ends := map[string]bool{}
	for _, file := range t.Paths() {
		end, python := strings.CutSuffix(file, ".py")
		if !python || sourcefile.IsTest(file) {
			continue
		}
		for end = strings.TrimSuffix(end, "/__init__"); end != ""; _, end, _ = strings.Cut(end, "/") {
			ends[end] = true
		}
	}
	r.packages.Store(t, ends)
	return ends
}

// foreign is what a file is that is not of the tree.
type foreign int

const (
	installedFor foreign = iota // it is installed for the tests, and has a version
	unknownFile                 // nobody knows
	ofProject                   // the tree has what was loaded from elsewhere
)

// maxLoaded lines tell of one run.
const maxLoaded = 1 << 17

// loadedFrom says whether a run has loaded the code of its tree, by lines with the files of what it loaded.
func (r *defined) loadedFrom(written []byte, top string, env environment, judge func(name, file string) foreign) loaded {
	own, unknown, other := false, false, ""
	decoder := json.NewDecoder(bytes.NewReader(written))
	for n := 0; ; n++ {
		var files map[string]string
		err := decoder.Decode(&files)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == maxLoaded || env.Tree == nil {
			return loaded{code: abi.NotCertified}
		}
		for name, file := range files {
			if in, mine := r.ownFile(top, file); mine {
				_, has := env.Tree.File(in)
				own = own || has
				continue
			}
			switch is := judge(name, file); {
			case is == unknownFile:
				unknown = true
			case is != ofProject:
			case env.Tree == r.source.Head && !r.source.Committed && within(r.source.Top, file) && !r.isInstalled(r.source.Top, file): // the files that it was read from
				unknown = true
			case other == "" || name < other:
				other = name + " comes from " + file + ", not from the tree"
			}
		}
	}
	switch {
	case other != "":
		return loaded{abi.Contradicted, "module " + other}
	case own && !unknown:
		return loaded{code: abi.Certified}
	}
	return loaded{code: abi.NotCertified}
}

// lacks says what a run asked for that the user has and experiments don't give it; empty for nothing.
func (r *defined) lacks(c *isolate.Command, result *isolate.Result, top, source string, env environment) string {
	l := &laboratory{env: env, given: c.Env, tree: env.Tree, head: r.source.Head, seen: top, written: source, checkout: r.source.Top}
	loaded := traceFile(env.Scratch, "loaded")
	maps.DeleteFunc(result.Asked, func(name string, look isolate.Look) bool { // the runner does without its own locks
		return look == isolate.Sealed && slices.ContainsFunc(r.definition.Folders, func(f folder) bool { return within(f.path(), name) })
	})
	return l.asked(result.Asked, traceFile(env.Scratch, "missed"), func(file string, ran bool) bool {
		if r.isInstalled(top, file) || strings.Contains(filepath.ToSlash(file), "/node_modules/") {
			return false
		}
		// jest looks into all files. Those that Node.js runs it tells.
		return ran || r.definition.Trace != jestTracer || !ofNode.MatchString(file) || bytes.Contains(loaded, []byte(strconv.Quote(file)))
	})
}

// ofNode are the names of files that Node.js runs.
var ofNode = regexp.MustCompile(`\.(?:[cm]?[jt]sx?|json)$`)

// ownFile says whether a file is of the tree that is seen at top, and not installed for it.
func (r *defined) ownFile(top, file string) (in string, own bool) {
	in, err := filepath.Rel(top, file)
	return filepath.ToSlash(in), err == nil && filepath.IsAbs(file) && filepath.IsLocal(in) && !r.isInstalled(top, file)
}

func (r *defined) isInstalled(top, file string) bool {
	return slices.ContainsFunc(r.installed, func(name string) bool { return within(filepath.Join(top, filepath.FromSlash(name)), file) })
}

// hasModule says whether the tree has a file for a module of Python, in one of the folders that projects keep them in.
func (r *defined) hasModule(env environment, name string) bool {
	file := strings.ReplaceAll(name, ".", "/")
	for _, project := range append([]string{"."}, r.projects...) {
		for _, folder := range []string{"", "src", "lib", "python"} {
			for _, ending := range []string{".py", "/__init__.py"} {
				at := path.Join(project, folder, file+ending)
				if _, ok := env.Tree.File(at); ok && !sourcefile.IsTest(at) && !slices.Contains(unclearModules, path.Base(file)) {
					return true
				}
			}
		}
	}
	return false
}

// unclearModules are in the top folders of many projects, for tools, and may be loaded from a library.
var unclearModules = []string{"conftest", "setup", "noxfile", "tasks", "conf"}

//go:embed definitions/node_trace.cjs
var nodeTrace []byte

const nodeTraceName = "shadowcourt_trace.cjs"

// traceNode has every process of Node.js tell which files it evaluates; native also for what Node.js loads by itself, where the runner leaves
// that to it.
func traceNode(c *isolate.Command, folder string, native bool) error {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(filepath.Join(folder, nodeTraceName))
	c.Env = prepend(c.Env, "NODE_OPTIONS", `--require="`+quoted+`"`, " ")
	err := os.WriteFile(filepath.Join(folder, nodeTraceName), nodeTrace, 0o600)
	if native {
		err = errors.Join(err, os.WriteFile(filepath.Join(folder, "native"), nil, 0o600))
	}
	return err
}

// loadedFiles says whether files of JavaScript were loaded from the tree. A package that the tree has may not come from elsewhere, such as a
// copy in node_modules; other packages there are installed.
func (r *defined) loadedFiles(written []byte, top, source string, env environment) loaded {
	var names []string
	return r.loadedFrom(written, top, env, func(name, file string) foreign {
		if names == nil {
			names = append(r.packagesOf(env.Tree, source), "")
		}
		switch {
		case slices.Contains(names, name) && name != "" && !strings.Contains(filepath.ToSlash(file), "/node_modules/.vite-temp/"): // a bundle of this run's own settings
			return ofProject
		case strings.Contains(filepath.ToSlash(file), "/node_modules/"):
			return installedFor
		}
		return unknownFile
	})
}

// packagesOf are the names of the packages that a tree has, which is written into a folder.
func (r *defined) packagesOf(t *repo.Tree, source string) []string {
	if known, ok := r.packages.Load(t); ok {
		return known.([]string) //nolint:forcetypeassert // nothing else is stored
	}
	var names []string
	for _, file := range t.Paths() {
		if path.Base(file) != "package.json" || sourcefile.IsTest(file) || strings.Contains("/"+file, "/node_modules/") {
			continue
		}
		var about struct {
			Name string `json:"name"`
		}
		data, err := plainFile(source, filepath.FromSlash(file), maxMarkerBytes)
		if err == nil && json.Unmarshal(data, &about) == nil && about.Name != "" {
			names = append(names, about.Name)
		}
	}
	r.packages.Store(t, names)
	return names
}

// loaded says whose code runs have. It finds mistakes, such as an installation that leads to the checkout; tests that want to hide what
// they load can do so.
type loaded struct {
	code abi.LoadedCode
	// why names code that is not of the tree; empty if it is certified, or nothing is known.
	why string
}

// worse is what two runs together show.
func (l loaded) worse(other loaded) loaded {
	rank := []abi.LoadedCode{"", abi.Certified, abi.NotCertified, abi.Contradicted}
	if slices.Index(rank, other.code) > slices.Index(rank, l.code) || other.code == l.code && l.why == "" {
		return other
	}
	return l
}

// foreignPackages lists the packages of a test binary that are in a folder which go.mod or go.work names, but for those of the main module.
const foreignPackages = `{{with .Module}}{{if ne .Path %q}}{{if or .Main (and .Replace (eq .Replace.Version ""))}}{{.Path}}` + "\t" + `{{$.Dir}}` + "\n" + `{{end}}{{end}}{{end}}`

// loaded says whose code a binary has: all of the main module and of modules in folders has to be in the tree. What else is linked is named
// by its version. It asks the go command, because the build information of test binaries names no module but the main one.
func (g *goTests) loaded(ctx context.Context, w *workspace, b *goBinary, folder, pack, out string, flags []string) loaded {
	unknown := loaded{code: abi.NotCertified}
	source, err := filepath.EvalSymlinks(w.source())
	if err != nil || b.module == "" || strings.Contains(g.env["GOFLAGS"]+strings.Join(g.flags, " "), "-overlay") {
		return unknown
	}
	if dir, err := filepath.EvalSymlinks(b.dir); err != nil || !within(source, dir) {
		return unknown
	}
	args := slices.Concat([]string{"list", "-e", "-deps", "-test", "-f", fmt.Sprintf(foreignPackages, b.module)}, g.flags, flags, []string{pack})
	listed, err := g.run(ctx, folder, out, args...)
	if err != nil || len(listed) >= maxBuildOutput {
		return unknown
	}
	found := loaded{code: abi.Certified}
	if w.leavesTree(source) {
		found.code = abi.NotCertified
	}
	for _, v := range os.Environ() { // the C compiler takes what they name
		if name, value, _ := strings.Cut(v, "="); (strings.HasPrefix(name, "CGO_") || slices.Contains(compilers, name)) && strings.Contains(value, g.hide) && w.tree != g.working {
			found = found.worse(loaded{abi.NotCertified, name + " leads into the checkout"})
		}
	}
	for line := range strings.Lines(listed) {
		name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		dir, err := filepath.EvalSymlinks(dir)
		switch ours := slices.ContainsFunc(g.modules, func(m module) bool { return m.path == name }); {
		case err != nil:
			found = found.worse(unknown)
		case within(source, dir):
		case w.tree == g.working && within(g.hide, dir): // the files that the tree was read from
			found = found.worse(loaded{abi.NotCertified, ""})
		case ours || within(g.hide, dir):
			found = found.worse(loaded{abi.Contradicted, fmt.Sprintf("module %s comes from %s, not from the tree", name, dir)})
		default:
			found = found.worse(unknown)
		}
	}
	return found
}

// leavesTree says whether links lead from the tree to code elsewhere.
func (w *workspace) leavesTree(source string) bool {
	for _, name := range w.tree.Paths() {
		if f, _ := w.tree.File(name); f.Mode != repo.Symlink {
			continue
		}
		if target, err := filepath.EvalSymlinks(filepath.Join(source, filepath.FromSlash(name))); err == nil && !within(source, target) {
			return true
		}
	}
	return false
}
