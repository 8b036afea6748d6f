package experiment

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
)

// tracer is how a runner tells what its tests load and execute. The zero value is none.
type tracer string

const (
	pytestTracer tracer = "pytest" // by a plugin
	jestTracer   tracer = "jest"   // by a file that Node.js loads first, and by its own coverage
	vitestTracer tracer = "vitest" // by a file that Node.js loads first
	// The class path tells what a JVM loads: Surefire's report has it, and a script has Gradle write it.
	surefireTracer tracer = "surefire"
	gradleTracer   tracer = "gradle"
)

var tracers = []tracer{pytestTracer, jestTracer, vitestTracer, surefireTracer, gradleTracer}

// extensions are those of the files whose executed lines can be told.
func (t tracer) extensions() []string {
	switch t {
	case pytestTracer:
		return []string{".py"}
	case jestTracer:
		return []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"}
	case vitestTracer, surefireTracer, gradleTracer:
	}
	return nil
}

// covers says whether the lines of a file that are executed can be told.
func (r *defined) covers(name string) bool {
	return slices.Contains(r.definition.Trace.extensions(), path.Ext(name)) && !strings.HasSuffix(name, ".d.ts")
}

//go:embed definitions/pytest_trace.py
var pytestPlugin []byte

const pytestPluginName = "shadowcourt_trace"

// trace has a run tell what it loads and, where the environment has changes, executes. It changes the command, which sees the tree at top.
func (r *defined) trace(c *isolate.Command, top string, env environment) error {
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
		return tracePytest(c, folder, top, env.Cover)
	case jestTracer:
		if env.Cover != nil {
			c.Args, err = coverJest(c.Args, folder, env.Cover)
		}
		return errors.Join(err, traceNode(c, folder, false))
	case vitestTracer:
		return traceNode(c, folder, true)
	case gradleTracer:
		return traceGradle(c, folder)
	case surefireTracer:
	}
	return nil
}

func tracePytest(c *isolate.Command, folder, top string, cover changes) error {
	c.Args = slices.Insert(c.Args, 1, "-p", pytestPluginName)
	c.Env = prepend(c.Env, "PYTHONPATH", folder, string(os.PathListSeparator))
	if cover != nil {
		lines := map[string][][3]int{}
		for name, pieces := range cover {
			for _, p := range pieces {
				removed := 0
				if p.removed {
					removed = 1
				}
				at := filepath.Join(top, filepath.FromSlash(name))
				lines[at] = append(lines[at], [3]int{p.first, p.last, removed})
			}
		}
		data, err := json.Marshal(lines)
		if err = errors.Join(err, os.WriteFile(filepath.Join(folder, "changed.json"), data, 0o600)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(folder, pytestPluginName+".py"), pytestPlugin, 0o600)
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
		if env.Cover != nil {
			run.Changed = pytestSeen(traceFile(env.Scratch, "executed")).changed()
		}
	case jestTracer, vitestTracer:
		run.Loaded = r.loadedFiles(traceFile(env.Scratch, "loaded"), top, source, env)
		if env.Cover != nil {
			run.Changed = jestSeen(traceFile(env.Scratch, jestCoverage), top, env.Cover).changed()
		}
	case surefireTracer:
		run.Loaded = r.loadedClasses(surefireClassPaths(reports), top, env.Tree)
	case gradleTracer:
		run.Loaded = r.loadedClasses(gradleClassPaths(traceFile(env.Scratch, "loaded")), top, env.Tree)
	}
}

// maxProcesses tell of one run.
const maxProcesses = 1000

// pytestSeen adds what the processes of a run have executed; empty if one of them wrote something else.
func pytestSeen(written []byte) *seen {
	all := &seen{}
	decoder := json.NewDecoder(bytes.NewReader(written))
	decoder.DisallowUnknownFields()
	for range maxProcesses {
		var one seen
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil || min(one.Executed, one.Missed, one.Unknown) < 0 || max(one.Executed, one.Missed, one.Unknown) > maxTraceBytes {
			return &seen{}
		}
		all.Executed, all.Missed, all.Unknown = all.Executed+one.Executed, all.Missed+one.Missed, all.Unknown+one.Unknown
		all.Processes = all.Processes || one.Processes
	}
	return &seen{}
}

// loadedModules says whether modules of Python were loaded from the tree, where it has files for them.
func (r *defined) loadedModules(written []byte, top string, env environment) loaded {
	return r.loadedFrom(written, top, env, func(name, _ string) foreign {
		if r.hasModule(env, name) {
			return ofProject
		}
		return installedFor
	})
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
				own = own || has && sourcefile.KindOf(in) == abi.SourceProduct
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
