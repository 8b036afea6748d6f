package experiment

import (
	"bytes"
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
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// texts are what was written when a test failed, without what a report says of the test.
func texts(documents []abi.Document) []string {
	var list []string
	for i := range documents {
		if documents[i].Name != junit.AboutDocument {
			list = append(list, documents[i].Text)
		}
	}
	return list
}

// looks is how a failure is recognized.
type looks struct {
	whole    string          // fingerprint of all that was written
	symptoms map[string]bool // fingerprints of what says what failed
	places   map[string]bool // where that was said: a file with a line
	timeout  bool
}

// backtrace is that of a panic in Rust, or the note where there is none: which of them depends on a variable.
var backtrace = regexp.MustCompile(`(?m)^stack backtrace:\n(?:[ \t]+.*\n)*|^note: (?:run with|Some details are omitted, run with) .RUST_BACKTRACE=.*$`)

// explanation are the lines with which pytest tells where a value came from: they may show the whole environment.
var explanation = regexp.MustCompile(`(?m)^E\s+\+\s+(?:where|and) .*$`)

// goroot are folders of Go itself, whose lines differ by its version.
var goroot = regexp.MustCompile(`/src/(?:testing|runtime)/`)

// withoutFolders leaves of the places in a text the names of their files: folders differ from machine to machine.
func withoutFolders(text string) string {
	var b strings.Builder
	last := 0
	for p := range sourcefile.Places(text) {
		b.WriteString(text[last:p.Start])
		last = p.Start + strings.LastIndexByte(p.Path, '/') + 1
	}
	return b.String() + text[last:]
}

// looksOf takes the looks of a failure from its documents. group is the package, class or suite of the test.
func looksOf(group string, documents []abi.Document) looks {
	fingerprint := func(texts ...string) string {
		for i := range texts {
			texts[i] = withoutFolders(texts[i])
		}
		return casebook.Take(casebook.Failure{Texts: texts}).Exact
	}
	documents = slices.Clone(documents)
	for i := range documents {
		documents[i].Text = explanation.ReplaceAllString(backtrace.ReplaceAllString(documents[i].Text, ""), "")
	}
	l := looks{whole: fingerprint(texts(documents)...), symptoms: map[string]bool{}, places: map[string]bool{}}
	for _, symptom := range gotest.Symptoms(group, documents) {
		for line := range strings.Lines(symptom) {
			for p := range sourcefile.Places(line) { // the first
				if !goroot.MatchString(line) {
					l.places[path.Base(p.Path)+":"+strconv.Itoa(p.Line)] = true
				}
				break
			}
		}
		l.timeout = l.timeout || strings.Contains(symptom, "panic: test timed out after ")
		if digest := fingerprint(symptom); digest != "" {
			l.symptoms[digest] = true
		}
	}
	return l
}

// same says whether two failures are the same: one has all symptoms of the other, or both are timeouts, whose goroutines differ each
// time. Failures without symptoms are compared by all that was written.
func (l looks) same(other looks) bool {
	if len(l.symptoms) == 0 || len(other.symptoms) == 0 {
		return l.whole == other.whole
	}
	return l.timeout && other.timeout || contains(l.symptoms, other.symptoms) || contains(other.symptoms, l.symptoms)
}

func contains(all, some map[string]bool) bool {
	for s := range some {
		if !all[s] {
			return false
		}
	}
	return true
}

// common is what failures that differ have in common.
func common(list []looks) looks {
	both := func(a, b map[string]bool) map[string]bool {
		return maps.Collect(func(yield func(string, bool) bool) {
			for s := range a {
				if b[s] && !yield(s, true) {
					return
				}
			}
		})
	}
	c := list[0]
	for _, l := range list[1:] {
		c = looks{symptoms: both(c.symptoms, l.symptoms), places: both(c.places, l.places)}
	}
	return c
}

// has says whether a failure shows what several runs of one had in common. The rest is what a test prints of names, tokens and the like
// that are others in each run. If these runs have nothing in common, and the failure has no place, nothing tells them apart. moved: the
// lines of the tests may be others.
func (l looks) has(c *looks, moved bool) bool {
	places, of := l.places, c.places
	if moved {
		places, of = files(places), files(of)
	}
	if len(c.symptoms) == 0 && len(of) == 0 {
		return len(places) == 0
	}
	return contains(l.symptoms, c.symptoms) && contains(places, of)
}

func files(places map[string]bool) map[string]bool {
	out := map[string]bool{}
	for place := range places {
		name, _, _ := strings.Cut(place, ":")
		out[name] = true
	}
	return out
}

// digest names what runs had in common; nil is empty.
func (l *looks) digest() string {
	if l == nil {
		return ""
	}
	return strings.Join(slices.Sorted(maps.Keys(l.symptoms)), " ") + "\n" + strings.Join(slices.Sorted(maps.Keys(l.places)), " ")
}

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
