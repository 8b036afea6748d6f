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
	jestTracer   tracer = "jest"   // by its own coverage, where that is asked for
)

var tracers = []tracer{pytestTracer, jestTracer}

// extensions are those of the files whose executed lines can be told.
func (t tracer) extensions() []string {
	switch t {
	case pytestTracer:
		return []string{".py"}
	case jestTracer:
		return []string{".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".mts", ".cts"}
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
	if kind == "" || kind == jestTracer && env.Cover == nil || kind == pytestTracer && r.untraced.Load() {
		return nil
	}
	folder, err := newTrace(env.Scratch)
	if err != nil {
		return err
	}
	if kind == jestTracer {
		c.Args, err = coverJest(c.Args, folder, env.Cover)
		return err
	}
	c.Args = slices.Insert(c.Args, 1, "-p", pytestPluginName)
	c.Env = prepend(c.Env, "PYTHONPATH", folder)
	if env.Cover != nil {
		lines := map[string][][3]int{}
		for name, pieces := range env.Cover {
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

// prepend puts a folder before those of a variable.
func prepend(variables []string, name, folder string) []string {
	for i, v := range variables {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			variables[i] = name + "=" + folder + string(os.PathListSeparator) + value
			return variables
		}
	}
	return append(variables, name+"="+folder)
}

// traced reads what a run told. Tests can write it, too: what has not its form tells nothing.
func (r *defined) traced(run *testRun, top string, env environment) {
	run.Loaded.code = abi.NotCertified
	switch r.definition.Trace {
	case pytestTracer:
		run.Loaded = r.loadedModules(traceFile(env.Scratch, "loaded"), top, env)
		if env.Cover != nil {
			run.Changed = pytestSeen(traceFile(env.Scratch, "executed")).changed()
		}
	case jestTracer:
		if env.Cover != nil {
			run.Changed = jestSeen(traceFile(env.Scratch, jestCoverage), top, env.Cover).changed()
		}
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
	own, other := false, ""
	decoder := json.NewDecoder(bytes.NewReader(written))
	for n := 0; ; n++ {
		var modules map[string]string
		err := decoder.Decode(&modules)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == maxProcesses || env.Tree == nil {
			return loaded{code: abi.NotCertified}
		}
		for name, file := range modules {
			switch in, mine := r.ownFile(top, file); {
			case mine:
				own = own || !sourcefile.IsTest(in)
			case !r.hasModule(env, name):
			case env.Tree == r.source.Head && !r.source.Committed && within(r.source.Top, file) && !r.isInstalled(r.source.Top, file): // the files that it was read from
				return loaded{code: abi.NotCertified}
			case other == "" || name < other:
				other = name + " comes from " + file + ", not from the tree"
			}
		}
	}
	switch {
	case other != "":
		return loaded{abi.Contradicted, "module " + other}
	case own:
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
