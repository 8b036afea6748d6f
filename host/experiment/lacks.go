package experiment

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// A base that fails because the laboratory lacks something fails like head, and would give an alibi that nothing supports. So failures of trees beside
// the one under test count only where the run reached for nothing that the user's own run may have had.

// compared says whether the runs of an experiment are those of a tree that head is compared with.
func compared(e *abi.Experiment) bool {
	return e.Product == e.Tests && (e.Product == abi.Base || e.Product == abi.Target)
}

// lacked says what a run that failed reached for in vain; empty for nothing.
func (r *testRun) lacked() string {
	switch {
	case r.Lacks != "":
		return r.Lacks
	case r.Result.Unreached:
		return "the test fails, and something that it wanted to connect to was out of reach: " + plan.LeavesNetwork
	}
	return ""
}

// testLog is the file in which a test binary of Go tells the variables and files that it asks for.
const testLog = "testlog"

// mostAsked bounds how many names of such a log are looked at: tests write it.
const mostAsked = 10_000

// lacks says what the tests of a run asked for, by such a log, that the user has and experiments don't give them; empty for nothing.
func (g *goTests) lacks(w *workspace, dir string, env environment, log []byte) string {
	given := g.environment(env, dir)
	home, _ := os.UserHomeDir()
	ownHome := filepath.Join(env.Scratch, "home")
	asked := map[string]bool{}
	for line := range bytes.Lines(log) {
		what, name, _ := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
		if key := dir + "\x00" + string(line); asked[key] {
			continue
		} else if asked[key] = true; len(asked) > mostAsked {
			break
		}
		switch what {
		case "getenv":
			_, has := os.LookupEnv(name)
			own := name == "HOME" || name == "TMPDIR" || slices.ContainsFunc(given, func(v string) bool { return strings.HasPrefix(v, name+"=") })
			if has && !own {
				return "the test reads the variable " + name + ", which tests in experiments do not see; alibi gives it to them with --env " + name
			}
		case "chdir":
			dir = absolute(dir, name)
		case "open", "stat":
			file := absolute(dir, name)
			if within(w.source(), file) {
				if why := g.lacksFile(w, filepath.ToSlash(strings.TrimPrefix(strings.TrimPrefix(file, w.source()), "/"))); why != "" {
					return why
				}
			} else if below, err := filepath.Rel(ownHome, file); err == nil && filepath.IsLocal(below) && below != "." && !env.Home && home != "" && exists(filepath.Join(home, below)) {
				return "the test reads " + path.Join("~", filepath.ToSlash(below)) + ", which tests in experiments do not see: " + plan.ShowsHome
			}
		}
	}
	return ""
}

// mostPointer is as long as a pointer of Git LFS may be, and largeFile is how they begin. They stand for files in commits.
const mostPointer = 1 << 10

var largeFile = []byte("version https://git-lfs.github.com/")

func (g *goTests) lacksFile(w *workspace, name string) string {
	if _, ok := w.tree.File(name); ok {
		text, err := plainFile(w.source(), filepath.FromSlash(name), mostPointer)
		if err == nil && bytes.HasPrefix(text, largeFile) {
			return "the test reads " + name + ", of which the commit has a pointer of Git LFS alone"
		}
		return ""
	}
	if info, err := os.Stat(filepath.Join(g.hide, filepath.FromSlash(name))); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	if _, ok := g.head.File(name); ok {
		return "" // the change brought it
	}
	return "the test reads " + name + ", which git ignores, so that experiments lack it"
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
