//go:build !windows

package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// checkout is a clone of a bare remote, as CI makes it for pull request 1: detached at the merge with main.
type checkout struct {
	dir, remote, work string
	head              string // the last commit of the pull request
}

// newCheckout makes a remote with main and a pull request that changes files, and a clone of it.
func newCheckout(t *testing.T, main, change map[string]string, message string) *checkout {
	t.Helper()
	top := t.TempDir()
	c := &checkout{filepath.Join(top, "checkout"), filepath.Join(top, "remote.git"), filepath.Join(top, "work"), ""}
	git(t, top, "git init -q --bare -b main remote.git; git init -q -b main work; cd work; git remote add origin ../remote.git")
	writeFiles(t, c.work, main)
	git(t, c.work, "git add .; git commit -qm first; git push -q origin main; git checkout -qb change")
	c.push(t, change, message)
	git(t, top, "git clone -q remote.git checkout")
	c.update(t)
	return c
}

// push pushes a commit to the pull request, whose merge with main the remote keeps.
func (c *checkout) push(t *testing.T, files map[string]string, message string) {
	t.Helper()
	writeFiles(t, c.work, files)
	file := filepath.Join(t.TempDir(), "message")
	must.Do(t, os.WriteFile(file, []byte(message), 0o644))
	git(t, c.work, "git add .; git commit -qF '"+file+"'; git push -q origin change; git checkout -q --detach main; git merge -q --no-ff -m merge change; "+
		"git push -qf origin HEAD:refs/pull/1/merge; git checkout -q change")
	c.head = git(t, c.work, "git rev-parse change")
}

func (c *checkout) update(t *testing.T) {
	t.Helper()
	git(t, c.dir, "git fetch -q origin +refs/pull/1/merge:refs/remotes/pull/1/merge; git checkout -q --force --detach refs/remotes/pull/1/merge")
}

// runShell runs a script as CI does, with some variables more than those of the tests.
func runShell(t *testing.T, dir, script string, env map[string]string) said {
	t.Helper()
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return execute(t, dir, list, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
}

// action is what action.yml says.
type action struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Value string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string       `yaml:"using"`
		Steps []actionStep `yaml:"steps"`
	} `yaml:"runs"`
}

type actionStep struct {
	ID    string            `yaml:"id"`
	Name  string            `yaml:"name"`
	If    string            `yaml:"if"`
	Uses  string            `yaml:"uses"`
	With  map[string]string `yaml:"with"`
	Shell string            `yaml:"shell"`
	Dir   string            `yaml:"working-directory"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

func readAction(t *testing.T) *action {
	t.Helper()
	var a action
	decoder := yaml.NewDecoder(strings.NewReader(page(t, "action.yml")))
	must.Do(t, decoder.Decode(&a))
	return &a
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

// job is a job of GitHub Actions that has one step: the action.
type job struct {
	a         *action
	workspace string
	temp      string // runner.temp
	env       map[string]string
	values    map[string]string // of expressions
	with      map[string]string // inputs of the last step that is another action: the cache
	bin       string            // goes before PATH
}

func (j *job) file(name string) string { return filepath.Join(j.temp, name) }

// expand puts the values of expressions into a text.
func (j *job) expand(t *testing.T, text string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		name := expression.FindStringSubmatch(found)[1]
		value, known := j.values[name]
		if !known && !strings.HasPrefix(name, "steps.") {
			t.Errorf("the expression %s is not known", name)
		}
		return value
	})
}

// holds evaluates a condition: comparisons with literals, joined by &&.
func (j *job) holds(t *testing.T, condition string) bool {
	t.Helper()
	for part := range strings.SplitSeq(condition, "&&") {
		m := regexp.MustCompile(`^\s*(\S+) == '(.*)'\s*$`).FindStringSubmatch(part)
		if m == nil {
			t.Fatalf("the condition %q is not understood", condition)
		}
		value, known := j.values[m[1]]
		if !known {
			t.Errorf("the expression %s is not known", m[1])
		}
		if value != m[2] {
			return false
		}
	}
	return true
}

// run runs the action's steps with inputs, and gives the exit code, the outputs and what the steps printed by their ids.
func (j *job) run(t *testing.T, inputs map[string]string) (code int, outputs map[string]string, printed map[string]said) {
	t.Helper()
	j.values = map[string]string{
		"github.action_path": repositoryRoot(t), "github.action_ref": "main", "github.token": j.env["TOKEN"], "runner.temp": j.temp, "runner.os": "Linux", "runner.arch": "X64",
	}
	for name, in := range j.a.Inputs {
		j.values["inputs."+name] = j.expand(t, in.Default)
	}
	for name, value := range inputs {
		if _, known := j.a.Inputs[name]; !known {
			t.Errorf("the action has no input %s", name)
		}
		j.values["inputs."+name] = value
	}
	printed = map[string]said{}
	path := j.bin + string(os.PathListSeparator) + os.Getenv("PATH")
	for i := range j.a.Runs.Steps {
		step := &j.a.Runs.Steps[i]
		if step.If != "" && !j.holds(t, step.If) {
			continue
		}
		if step.Uses != "" {
			j.with = map[string]string{}
			for name, value := range step.With {
				j.with[name] = j.expand(t, value)
			}
			continue
		}
		env := maps.Clone(j.env)
		delete(env, "TOKEN")
		for name, value := range step.Env {
			env[name] = j.expand(t, value)
		}
		env["PATH"], env["RUNNER_TEMP"] = path, j.temp
		for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_PATH"} {
			env[name] = j.file(strings.ToLower(name))
			if name != "GITHUB_STEP_SUMMARY" {
				must.Do(t, os.WriteFile(env[name], nil, 0o644))
			}
		}
		r := runShell(t, filepath.Join(j.workspace, j.expand(t, step.Dir)), step.Run, env)
		printed[step.Name] = r
		for name, value := range outputsOf(t, env["GITHUB_OUTPUT"]) {
			j.values["steps."+step.ID+".outputs."+name] = value
		}
		for line := range strings.Lines(textOf(t, env["GITHUB_PATH"])) {
			path = strings.TrimSpace(line) + string(os.PathListSeparator) + path
		}
		if code = r.code; code != 0 {
			break
		}
	}
	outputs = map[string]string{}
	for name, out := range j.a.Outputs {
		outputs[name] = j.expand(t, out.Value)
	}
	return code, outputs, printed
}

// outputsOf reads a file of outputs as the runner does: NAME=VALUE, or NAME<<DELIMITER up to a line with the delimiter.
func outputsOf(t *testing.T, file string) map[string]string {
	t.Helper()
	out := map[string]string{}
	lines := strings.Split(textOf(t, file), "\n")
	for i := 0; i < len(lines); i++ {
		equals, heredoc := strings.Index(lines[i], "="), strings.Index(lines[i], "<<")
		switch {
		case lines[i] == "":
		case equals >= 0 && (heredoc < 0 || equals < heredoc):
			out[lines[i][:equals]] = lines[i][equals+1:]
		case heredoc >= 0:
			name, end := lines[i][:heredoc], lines[i][heredoc+2:]
			var value []string
			for i++; i < len(lines) && lines[i] != end; i++ {
				value = append(value, lines[i])
			}
			out[name] = strings.Join(value, "\n")
		default:
			t.Errorf("the line %q is no output", lines[i])
		}
	}
	return out
}
