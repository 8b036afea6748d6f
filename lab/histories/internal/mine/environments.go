package mine

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// Conditions that need programs of their own: their clock is wrong.
const (
	aheadByYears  = "wrong clock:20 years ahead"
	behindByYears = "wrong clock:20 years behind"
)

const (
	// earlier is how many commits before a tree its base may be.
	earlier = 5
	// years is how wrong a clock is.
	years = 20 * 365 * 24 * time.Hour
	// perCondition is how many cases of a repository have the same condition.
	perCondition = 3
	// perCommit is how many conditions are tried on one commit.
	perCommit = 8
	// mostSilent is how often a condition may fail no test of a package before it is not tried there again.
	mostSilent = 2
	// fastTest is how long a test may take that is run for a case which is made, and slowUnit a package.
	fastTest, slowUnit = 500 * time.Millisecond, 5 * time.Second
)

// Words of code that a condition may matter to.
var (
	aFile    = []string{"TempDir", "MkdirTemp", "CreateTemp", "os.Create", "WriteFile", "OpenFile", "tmp_path", "tmpdir", "tempfile", "open("}
	aSocket  = []string{"net.Listen", "httptest.", "Dial", "ListenAndServe", "socket", "localhost"}
	aProgram = []string{"exec.Command", "LookPath", "subprocess", "shutil.which"}
	aHome    = []string{"HOME", "UserHomeDir", "UserConfigDir", "UserCacheDir", "expanduser", "Path.home"}
	aZone    = []string{"time.Local", "LoadLocation", ".Local()", "time.Unix", "In(", "tzset", "zoneinfo", "fromtimestamp", "localtime"}
	aClock   = []string{"x509", "NotAfter", "xpires", "datetime.now", "time.time()", "utcnow"} // for another clock everything is compiled again: few tests that only read it mind
	anOwner  = []string{"os/user", "user.Current", "Chmod", "chmod", "Getuid", "getuid", "Perm(", "Mode("}
)

// matters says which words of a package's code a condition may matter to, by the beginning of its name; the first that fits counts.
var matters = []struct {
	condition string
	words     []string
}{
	{"variable left over:GODEBUG=fips140", []string{"crypto/", "md5", "sha1"}},
	{"variable left over:GODEBUG=http2", []string{"http2", "HTTP2", "httptest."}},
	{"variable left over:GODEBUG=multipart", []string{"multipart", "Multipart"}},
	{"variable left over:GODEBUG", []string{"panic(nil)", "asynctimer", "time.After", "http."}},
	{"variable left over:GOMAXPROCS", []string{"GOMAXPROCS", "NumCPU", "runtime."}},
	{"variable left over", []string{"Getenv", "LookupEnv", "environ"}},
	{"file size", aFile}, {"disk full", aFile}, {"temporary folder", aFile}, {"read-only temporary", aFile}, {"no execution in temporary", aProgram},
	{"foreign file mask", anOwner}, {"few open files", slices.Concat(aFile, aSocket)},
	{"read-only source", aFile}, {"source disk", aFile},
	{"no network", aSocket}, {"port taken", aSocket}, {"loopback down", aSocket}, {"no hosts file", aSocket},
	{"binaries missing", aProgram}, {"no shell", aProgram}, {"no git", aProgram}, {"few processes", aProgram},
	{"no home", aHome}, {"wrong time zone", aZone}, {"no time zones", aZone}, {"wrong locale", []string{"LANG", "LC_ALL", "locale", "encoding"}},
	{"no proc", []string{"/proc"}}, {"no devices", []string{"/dev/", "DevNull", "devnull"}}, {"no users file", anOwner}, {"unprivileged user", anOwner},
	{"wrong clock", aClock}, {"memory limit", []string{"<<20", "<< 20", "1024*1024", "1024 * 1024"}},
}

// mayMatter says whether a condition may matter to code.
func mayMatter(condition string, code []byte) bool {
	for _, k := range matters {
		if strings.HasPrefix(condition, k.condition) {
			return slices.ContainsFunc(k.words, func(w string) bool { return bytes.Contains(code, []byte(w)) })
		}
	}
	return true
}

// codeOf is the code of a unit's folder, of a tree that is checked out.
func codeOf(folder, unit string) []byte {
	dir := filepath.Join(folder, filepath.FromSlash(unit))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		text, _ := os.ReadFile(dir) // a file by itself
		return text
	}
	var code []byte
	names, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, name := range names {
		text, _ := os.ReadFile(name) // what can't be read has no words
		code = append(code, text...)
	}
	return code
}

// conditions are the ways in which an environment is broken here that may matter to code, in an order that a name decides: first those that
// last, or those that do not, of which there are fewer cases.
func (m *Miner) conditions(name string, code []byte) []history.Condition {
	var list []history.Condition
	for _, name := range append(launch.Faults(), aheadByYears, behindByYears) {
		list = append(list, history.Condition{Name: name})
	}
	for _, name := range launch.Lasting() {
		list = append(list, history.Condition{Name: name, Lasting: true})
	}
	list = slices.DeleteFunc(list, func(c history.Condition) bool { return !mayMatter(c.Name, code) })
	drawn(name).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	lasting := m.countTrap(history.Environment, history.Lasting) <= m.countTrap(history.Environment, history.Transient)
	slices.SortStableFunc(list, func(a, b history.Condition) int {
		if a.Lasting == b.Lasting {
			return 0
		}
		if a.Lasting == lasting {
			return -1
		}
		return 1
	})
	return list
}

// countTrap counts the cases of a kind that have a trap.
func (m *Miner) countTrap(kind history.Kind, t history.Trap) int {
	n := 0
	for i := range m.found.Cases {
		if c := &m.found.Cases[i]; c.Kind == kind && slices.Contains(c.Traps, t) {
			n++
		}
	}
	return n
}

// drawn gives what a name decides.
func drawn(name string) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(pick(name, 1<<31)), 0)) //nolint:gosec // chosen, not secret
}

// anyOrder are the places of the log in an order that has nothing to do with time.
func (m *Miner) anyOrder() []int {
	return drawn(m.Name).Perm(len(m.log))
}

// environments breaks the environment of tests that pass.
func (m *Miner) environments(ctx context.Context) error {
	silent := map[string]int{}
	for _, i := range m.anyOrder() {
		if !m.wants(history.Environment) {
			return nil
		}
		c := &m.log[i]
		if len(c.product) == 0 || len(c.tests) == 0 || len(c.product)+len(c.tests) > mostPaths || !m.near(c) {
			continue
		}
		if err := m.candidate(ctx, history.Environment, c.id, func() error { return m.breakOne(ctx, i, silent) }); err != nil {
			return err
		}
	}
	return nil
}

// breakOne looks for a condition in which a test fails of those that a commit changed, or of those beside them.
func (m *Miner) breakOne(ctx context.Context, at int, silent map[string]int) error {
	c := &m.log[at]
	head := history.Tree{Start: c.id}
	units, err := m.units(ctx, &head, c.tests)
	if err != nil {
		return err
	}
	if len(units) == 0 || len(units) > mostUnits {
		return dropped(noUnits)
	}
	unit := units[pick(c.id, uint32(len(units)))]
	whole, err := m.runUnit(ctx, &head, unit, surroundings{})
	switch {
	case err != nil:
		return err
	case whole.problem != "":
		return dropped("head: it does not build or ends")
	case whole.wall > slowUnit:
		return dropped("its tests are slow")
	}
	tried := 0
	var why error = dropped("no condition fails a test each time in one way")
	for _, in := range m.conditions(c.id, codeOf(m.folder(), unit)) {
		key := unit + " " + in.Name
		if tried == perCommit {
			break
		}
		if silent[key] >= mostSilent || m.countCondition(in) >= perCondition {
			continue
		}
		tried++
		f, err := m.failsIn(ctx, at, &head, unit, in, whole)
		if err != nil {
			return err
		}
		if f == nil {
			silent[key]++
			continue
		}
		if err = m.keep(ctx, m.environment(at, *f, in)); err == nil {
			return nil
		}
		if !errors.As(err, new(dropped)) {
			return err
		}
		why = err
	}
	return why
}

// environment is the case of a test that fails in a condition. Its base lacks a new test, and is some commits older where the test is not
// new.
func (m *Miner) environment(at int, f failure, in history.Condition) *history.Case {
	c := &m.log[at]
	base := c.parent
	if first, ok := m.at[c.parent]; ok && pick(c.id, 2) == 0 {
		base = m.log[min(first+int(pick(c.id, earlier)), len(m.log)-1)].id
	}
	one := &history.Case{
		ID: idOf(m.Name, history.Environment, c.id, f.report.Group, f.report.Test), Kind: history.Environment, Planted: true, Environment: in, Failure: f.report,
		Trees: map[history.Role]history.Tree{history.Base: {Start: base, Commit: base}, history.Head: {Start: c.id, Commit: c.id}},
		Traps: []history.Trap{history.Transient},
	}
	if in.Lasting {
		one.Traps = []history.Trap{history.Lasting}
	}
	return one
}

func (m *Miner) countCondition(in history.Condition) int {
	n := 0
	for i := range m.found.Cases {
		if m.found.Cases[i].Environment == in {
			n++
		}
	}
	return n
}

// failsIn runs a package in a condition and gives a test that fails twice in one way and passes otherwise; nil if there is none. A test
// that the commit brought is preferred.
func (m *Miner) failsIn(ctx context.Context, at int, head *history.Tree, unit string, in history.Condition, whole *outcome) (*failure, error) {
	var runs [2]*outcome
	for i := range runs {
		o, err := m.runBroken(ctx, head, unit, in)
		if err != nil || len(o.failed) == 0 {
			return nil, err
		}
		runs[i] = o
	}
	var list, added []failure
	for _, f := range failuresOf(map[string]*outcome{unit: runs[0]}, func(_, test string) bool { return whole.passed[test] && whole.took[test] < fastTest }) {
		again, ok := runs[1].failed[f.report.Test]
		if !ok || !sameFailure(&f.report, &again) {
			continue
		}
		list = append(list, f)
		if m.brings(ctx, at, &f) {
			added = append(added, f)
		}
	}
	if len(added) > 0 {
		list = added
	}
	if len(list) == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	return &list[pick(m.log[at].id, uint32(len(list)))], nil
}

// brings says whether a test came with a commit.
func (m *Miner) brings(ctx context.Context, at int, f *failure) bool {
	top, _, _ := strings.Cut(f.report.Test, "/")
	_, err := m.repository.Git(ctx, "grep", "-q", "-F", "-e", m.suite.declares(top), m.log[at].parent, "--", f.unit)
	return err != nil
}

// runBroken runs a package in a condition.
func (m *Miner) runBroken(ctx context.Context, t *history.Tree, unit string, in history.Condition) (o *outcome, err error) {
	switch in.Name {
	case aheadByYears:
		return m.runUnit(ctx, t, unit, surroundings{clock: years})
	case behindByYears:
		return m.runUnit(ctx, t, unit, surroundings{clock: -years})
	}
	if !in.Lasting {
		launcher, err := m.launcher()
		if err != nil {
			return nil, err
		}
		return m.runUnit(ctx, t, unit, surroundings{launcher: []string{launcher, launch.Arg, in.Name}})
	}
	folder, err := m.checkout(ctx, t) // while git can be run
	if err != nil {
		return nil, err
	}
	undo, err := launch.Break(in.Name)
	if err != nil {
		return &outcome{problem: err.Error()}, nil // this machine can't do that
	}
	defer func() { err = errors.Join(err, undo()) }()
	return m.suite.run(ctx, folder, unit, surroundings{})
}

// runUnit runs the tests of one package of a tree.
func (m *Miner) runUnit(ctx context.Context, t *history.Tree, unit string, in surroundings) (*outcome, error) {
	all, err := m.runTree(ctx, t, []string{unit}, in)
	if err != nil {
		return nil, err
	}
	return all[unit], nil
}

// launcher is a copy of this program where tests see it.
func (m *Miner) launcher() (string, error) {
	to := filepath.Join(path.Dir(m.repository.Folder()), "scratch", "launcher")
	if m.copied {
		return to, nil
	}
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(to+".part", program, 0o755); err != nil { //nolint:gosec // tests without rights start it
		return "", err
	}
	m.copied = true
	return to, os.Rename(to+".part", to)
}

// sameFailure says whether two reports show the same failure.
func sameFailure(a, b *history.Report) bool {
	look := func(r *history.Report) string {
		entry, err := r.Entry()
		if err != nil {
			return ""
		}
		return casebook.Take(casebook.Failure{Texts: slices.Clone(gotest.Symptoms(r.Group, entry.Case.Documents))}).Exact
	}
	first := look(a)
	return first != "" && first == look(b)
}
