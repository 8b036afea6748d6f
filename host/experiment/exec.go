package experiment

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/repo"
)

// buildTime is how long a command of a build may take.
const buildTime = 5 * time.Minute

// prepare runs the definition's commands in the project of a test, in a tree that is written into a folder. What they write lands in
// the tree. The scratch folder of the environment is one around the tree. The error is a *buildError if the code is the reason.
func (r *defined) prepare(ctx context.Context, t *projectTest, source string, env environment) error {
	commands := r.definition.Build
	if t.selection.Build != nil {
		commands = t.selection.Build
	}
	values := maps.Clone(t.values)
	values["scratch"] = []string{env.Scratch}
	for _, command := range commands {
		args, err := expand(command, values)
		if err != nil {
			return fmt.Errorf("%s: build: %w", r, err)
		}
		c, err := r.command(t, args, source, env)
		if err != nil {
			return err
		}
		for i := range c.Views {
			c.Views[i].Write = true
		}
		c.Limits = isolate.Limits{Time: buildTime, Memory: 2 * isolate.DefaultMemory, Disk: 8 * isolate.DefaultDisk}
		result, err := isolate.Run(ctx, *c)
		if err != nil {
			return err
		}
		output := string(result.Output)
		switch {
		case result.Ending == isolate.Exited && result.ExitCode == 0:
			continue
		case result.Ending != isolate.Exited:
			return fmt.Errorf("%s: the build was ended by its limit of %s", r, result.Ending)
		}
		if line := matching(r.definition.Outcomes.Unable, output); line != "" {
			return fmt.Errorf("%s can't build here: %s", r, line)
		}
		if matching(r.definition.Outcomes.NoTest, output) != "" {
			return errNoTests
		}
		return &buildError{What: "the project", Output: fromFirst(r.definition.Outcomes.NotBuilt, output)}
	}
	return nil
}

// command makes the command of a program in a project.
func (r *defined) command(t *projectTest, args []string, source string, env environment) (*isolate.Command, error) {
	variables, overlays := r.environment(env, args[0])
	c := &isolate.Command{
		Args: args, Scratch: env.Scratch, Overlays: overlays, Show: r.shown(variables, args[0]), Original: !env.Clean, Native: env.Native, Home: env.Home, Network: env.Network, Starve: env.Starve, Trace: env.Trace, Limits: env.Limits,
	}
	top := source
	if r.viewed {
		top = r.source.Top
		c.Views = []isolate.View{{At: top, From: source, Keep: r.installed}}
	} else {
		if env.Overlay != "" {
			c.Overlays = append(c.Overlays, env.Overlay)
		}
		if !within(r.source.Top, env.Scratch) { // for the program and for what links lead to
			c.Overlays = append(c.Overlays, r.source.Top)
		}
		if err := r.link(source); err != nil {
			return nil, err
		}
	}
	dir := t.project
	if env.Order && t.whole != nil {
		dir = t.whole.Dir
	}
	c.Dir = filepath.Join(top, filepath.FromSlash(dir))
	for _, name := range slices.Sorted(maps.Keys(r.definition.Env)) {
		value := strings.NewReplacer("{tree}", top, "{project}", c.Dir, "{scratch}", env.Scratch).Replace(r.definition.Env[name])
		variables = give(variables, []string{name + "=" + value})
	}
	variables = append(variables, "PWD="+c.Dir)
	if !r.viewed { // what the user's variables say of the checkout holds for the tree
		for i, v := range variables {
			if !strings.HasPrefix(v, "PATH=") {
				variables[i] = strings.ReplaceAll(v, r.source.Top, source)
			}
		}
	}
	c.Env = variables
	for name, text := range r.definition.Files {
		if err := os.WriteFile(filepath.Join(env.Scratch, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// link makes links to what is installed, in a tree that is not seen in the place of the checkout.
func (r *defined) link(source string) error {
	root, err := os.OpenRoot(source)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range r.installed {
		at := filepath.FromSlash(name)
		if _, err := root.Lstat(at); err == nil || root.MkdirAll(filepath.Dir(at), 0o755) != nil {
			continue
		}
		if err := root.Symlink(filepath.Join(r.source.Top, at), at); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

// reportName is the report's file in the scratch folder.
const reportName = "report.xml"

// test runs the test once, in a tree that is written and built.
func (r *defined) test(ctx context.Context, t *projectTest, source string, env environment) (*testRun, error) {
	args, err := t.args(env.Order, filepath.Join(env.Scratch, reportName), env.Scratch)
	if err != nil {
		return nil, err
	}
	whole := env.Order && t.whole != nil
	if whole {
		args = append(args, r.present(ctx, t.whole, env.Tree)...)
	}
	var run *testRun
	var reports []byte
	if made := env.Again; made != nil {
		run, reports = &testRun{Result: made.result, Loaded: made.loaded, Lacks: made.lacks}, made.stream
	} else if run, reports, err = r.report(ctx, t, args, source, env); err != nil {
		return nil, err
	}
	if whole {
		run.Recording = &recording{result: run.Result, stream: reports, loaded: run.Loaded, lacks: run.Lacks}
	}
	if run.Kind, run.Documents = t.read(reports); run.Kind != kindAbsent {
		return run, nil
	}
	all := env.Order && (whole || t.all()) && t.tells(reports)
	if env.Rows && t.rows != nil && !all && !whole && len(t.selection.Rows) > 0 {
		if args, err = t.expand(t.selection.Rows, filepath.Join(env.Scratch, reportName), env.Scratch); err != nil {
			return nil, err
		}
		if run, reports, err = r.report(ctx, t, args, source, env); err != nil {
			return nil, err
		}
	}
	if env.Rows && t.rows != nil {
		if run.Kind, run.Documents = t.readRows(reports); run.Kind != kindAbsent {
			run.Rows = true
			return run, nil
		}
	}
	if all {
		return run, nil // the project has no such test
	}
	return r.interpret(run)
}

// present are the arguments of a whole run without files and tests (file::test) that a tree lacks and head has: runners end where there is no such file. A word
// behind an option may be its value.
func (r *defined) present(ctx context.Context, w *Whole, tree *repo.Tree) (args []string) {
	for i, arg := range w.Args {
		in := func(t *repo.Tree) bool {
			name, test, _ := strings.Cut(arg, "::")
			name = path.Join(w.Dir, name)
			test, _, _ = strings.Cut(test, "[")
			test = test[strings.LastIndex(test, ":")+1:]
			if _, file := t.File(name); !file || test == "" {
				return file || t.HasFolder(name)
			}
			text, err := t.Read(ctx, name, maxMoved)
			return err != nil || bytes.Contains(text, []byte(test))
		}
		value := i > 0 && strings.HasPrefix(w.Args[i-1], "-") && !strings.Contains(w.Args[i-1], "=") && !flagWord.MatchString(w.Args[i-1])
		if tree == nil || strings.HasPrefix(arg, "-") || value || !in(r.source.Head) || in(tree) {
			args = append(args, arg)
		}
	}
	return args
}

// flagWord is an option whose value, if it has one, is not the next word, of any runner.
var flagWord = regexp.MustCompile(`^(?:-[slxi]|-\w{2,}|--(?:runTestsByPath|runInBand|ci|silent|no-[\w-]+|strict[\w-]*|full-trace|showlocals|exitfirst))$`)

// report runs the program with arguments, and gives its reports.
func (r *defined) report(ctx context.Context, t *projectTest, args []string, source string, env environment) (*testRun, []byte, error) {
	if err := os.Remove(filepath.Join(env.Scratch, reportName)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if env.Limits.Memory == 0 {
		env.Limits.Memory = 2 * isolate.DefaultMemory // runners have processes of their own beside the test's
	}
	c, err := r.command(t, append([]string{t.command}, args...), source, env)
	if err != nil {
		return nil, nil, err
	}
	top := source
	if r.viewed {
		top = r.source.Top
	}
	if err := r.trace(c, env); err != nil {
		return nil, nil, err
	}
	result, err := isolate.Run(ctx, *c)
	if err != nil {
		return nil, nil, err
	}
	if result.ExitCode != 0 && bytes.Contains(result.Output, []byte(`Error importing plugin "`+pytestPluginName)) && r.untraced.CompareAndSwap(false, true) {
		return r.report(ctx, t, args, source, env)
	}
	folder := source
	if r.viewed {
		if _, err := os.Stat(isolate.Written(env.Scratch, 0)); err == nil {
			folder = isolate.Written(env.Scratch, 0)
		}
	}
	reports, err := r.reports(t, env.Scratch, folder)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: its report: %w", r, err)
	}
	run := &testRun{Result: result}
	r.traced(run, reports, top, source, env)
	if env.Compared && env.Tree != nil && (result.ExitCode != 0 || result.Ending != isolate.Exited || bytes.Contains(reports, []byte("<skipped"))) {
		run.Lacks = r.lacks(c, result, top, source, env)
	}
	if r.definition.Trace == "" && r.viewed && len(r.definition.Build)+len(t.selection.Build) > 0 {
		run.Loaded.code = abi.Certified // it was built in its own tree
	}
	if why := r.world(ctx, env.Tree, t.project); why != "" {
		run.Loaded = run.Loaded.worse(loaded{abi.NotCertified, why})
	}
	return run, reports, nil
}

// interpret tells what a run without a report of the test means.
func (r *defined) interpret(run *testRun) (*testRun, error) {
	if run.Result.Ending != isolate.Exited {
		run.Kind = kindEnded
		return run, nil
	}
	output, o := string(run.Result.Output), &r.definition.Outcomes
	if line := matching(o.Unable, output); line != "" {
		return nil, fmt.Errorf("%s can't run here: %s; %s", r, line, r.definition.Install)
	}
	if matching(o.NotBuilt, output) != "" {
		return nil, &buildError{What: "the project", Output: fromFirst(o.NotBuilt, output)}
	}
	if run.Result.ExitCode != 0 && matching(o.NoTest, output) == "" {
		run.Kind = kindSilent
	}
	return run, nil
}

// matching is the first line that one of the patterns matches.
func matching(patterns []pattern, output string) string {
	for line := range strings.Lines(output) {
		if slices.ContainsFunc(patterns, func(p pattern) bool { return p.MatchString(line) }) {
			return strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))
		}
	}
	return ""
}

// fromFirst is the output from the first line on that one of the patterns matches; all of it if there is none.
func fromFirst(patterns []pattern, output string) string {
	at := 0
	for line := range strings.Lines(output) {
		if slices.ContainsFunc(patterns, func(p pattern) bool { return p.MatchString(line) }) {
			return output[at:]
		}
		at += len(line)
	}
	return output
}

// placeholder stands for a value in an argument: {name}, or {name|regexp} for an expression that matches the value alone. In that of
// {name|titles} the > between titles may be left out.
var placeholder = regexp.MustCompile(`\{(\w+)(\|regexp|\|titles)?\}`)

// placeholders are those that every definition has; the groups of its patterns and the variables of its folders come to them.
var placeholders = []string{"class", "name", "names", "file", "rest", "folder", "module", "report", "scratch", "program"}

// groups are the names of the groups in the patterns of a selection.
func (s *selection) groups() []string {
	var names []string
	for _, p := range []pattern{s.Class, s.Name} {
		if p.Regexp == nil {
			continue
		}
		for _, name := range p.SubexpNames() {
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// maxValueBytes is the longest value of a placeholder.
const maxValueBytes = 4096

// expand puts values into arguments. Values are data of others, such as names of tests: each stays within its argument, and none
// makes an option of it.
func expand(templates []string, values map[string][]string) ([]string, error) {
	args := make([]string, 0, len(templates))
	for _, template := range templates {
		arg, err := expandOne(template, values)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	return args, nil
}

func expandOne(template string, values map[string][]string) (string, error) {
	var fault error
	arg := placeholder.ReplaceAllStringFunc(template, func(p string) string {
		m := placeholder.FindStringSubmatch(p)
		alternatives, known := values[m[1]]
		if !known || len(alternatives) == 0 {
			fault = fmt.Errorf("there is no %s", m[1])
			return ""
		}
		for _, value := range alternatives {
			if strings.ContainsRune(value, 0) || len(value) > maxValueBytes {
				fault = fmt.Errorf("%s %.80q can't be an argument", m[1], value)
			}
		}
		if m[2] == "" {
			return alternatives[0]
		}
		quoted := make([]string, len(alternatives))
		for i, value := range alternatives {
			quoted[i] = regexp.QuoteMeta(value)
			if m[2] == "|titles" {
				quoted[i] = strings.ReplaceAll(quoted[i], " > ", "(?: > | )")
			}
		}
		if len(quoted) == 1 {
			return quoted[0]
		}
		return "(" + strings.Join(quoted, "|") + ")"
	})
	if fault == nil && strings.HasPrefix(arg, "-") && !strings.HasPrefix(template, "-") {
		fault = errors.New("an argument that begins with - would be an option")
	}
	return arg, fault
}
