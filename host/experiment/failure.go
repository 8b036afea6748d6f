package experiment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
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
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/repo"
)

// A base that fails because the laboratory lacks something fails like head, and would give an alibi that nothing supports. So failures of trees beside
// the one under test count only where the run reached for nothing that the user's own run may have had.

// compared says whether the runs of an experiment are those of a tree that head is compared with.
func compared(e *abi.Experiment) bool {
	return e.Product == e.Tests && (e.Product == abi.Base || e.Product == abi.Target)
}

// lacked says what a run that failed reached for in vain; empty for nothing.
func (t *tally) lacked(run *testRun) string {
	switch reported := t.reported(run); {
	case run.Result.Unreached && !reported:
		return "the test fails, and something that it wanted to connect to was out of reach: " + plan.LeavesNetwork
	case run.Lacks != "" && (!reported || !strings.Contains(run.Lacks, sealedText)):
		return run.Lacks
	case reported:
		return ""
	case run.Result.Level == isolate.Namespaces && readOnlyText.MatchString(run.Log()):
		return "the test fails, and " + plan.ReadOnly
	}
	return ""
}

// sealedText is in what a run lacks that wrote to a place that the user may write to.
const sealedText = ", which is read-only in experiments"

var (
	readOnlyText = regexp.MustCompile(`(?i)read-only file system|EROFS`)
	loopText     = regexp.MustCompile(`\b127(?:\.\d{1,3}){3}\b|\[?::1\b|\blocalhost\b`)
	// What a message names that was read-only, that refused, or that was not reached.
	pathText    = regexp.MustCompile(`(?:^|[\s'"])/\w`)
	portText    = regexp.MustCompile(`(?:\b\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:]+\]|\blocalhost):\d|\bport\W{1,3}\d`)
	addressText = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b|\[[0-9a-f:]+\]:\d|\blookup \S|(?:ENOTFOUND|EAI_AGAIN|UnknownHostException:) \S`)
)

// reported says whether all that a run says of a network or a file system that it lacks is in the report, of the same address or path: then the user's own
// run lacked it, too.
func (t *tally) reported(run *testRun) bool {
	l := t.look(run.Documents)
	if lacking, _ := t.varying.apart(&t.looks, &l); len(lacking) > 0 || run.Kind != kindFailed {
		return false
	}
	report, taken := strings.Split(strings.Join(t.looks.parts, "\n"), "\n"), false
	for line := range strings.SplitSeq(strings.Join(l.parts, "\n"), "\n") {
		target := addressText
		switch text := networkText.FindString(line); {
		case refusedText(text):
			target = portText
		case text == "" && readOnlyText.MatchString(line):
			target = pathText
		case text == "":
			continue
		}
		if taken = true; !target.MatchString(line) || !slices.Contains(report, line) {
			return false
		}
	}
	return taken
}

func refusedText(text string) bool { return strings.Contains(strings.ToLower(text), "refused") }

// served says whether no server but its own rejected a connection of a run, as far as the system tells.
func (r *testRun) served() bool { return r.Result.Level == isolate.Namespaces && !r.Result.Unreached }

// unreachedText is what a log says that reached nobody. A server on this machine that refuses is the test's own where the run was served.
func unreachedText(log string, served bool) string {
	for line := range strings.Lines(log) {
		text := networkText.FindString(line)
		if own := served && refusedText(text) && loopText.MatchString(line); text != "" && !own {
			return text
		}
	}
	return ""
}

// testLog is the file in which a test binary of Go tells the variables and files that it asks for.
const testLog = "testlog"

// mostAsked bounds how many lines of such a log are looked at: tests write it.
const mostAsked = 10_000

// laboratory is what the tests of a run see, and what stands in place of it outside.
type laboratory struct {
	env        environment
	given      []string // variables
	tree, head *repo.Tree
	// The folders of the tree as the tests see it, as it is written, and of the checkout.
	seen, written, checkout string
}

// variable says why a run lacks a variable; empty if it is none that only the user has.
func (l *laboratory) variable(how, name string) string {
	_, has := os.LookupEnv(name)
	given := name == "HOME" || name == "TMPDIR" || slices.ContainsFunc(l.given, func(v string) bool { return strings.HasPrefix(v, name+"=") })
	if !has || given {
		return ""
	}
	return how + " the variable " + name + ", which tests in experiments do not see; alibi gives it to them with --env " + name
}

// general are variables that shells, runtimes and tools have for themselves: that code names them says little.
var general = regexp.MustCompile(`^(?:.{1,3}|PATH|HOME|OLDPWD|INIT_CWD|SHLVL|SHELL|TEMP|TMPDIR|HOST(?:NAME|TYPE)?|USER|USERNAME|MAIL|(?:WAYLAND_)?DISPLAY|EDITOR|VISUAL|PAGER|LESS|` +
	`MANPATH|COLUMNS|LINES|DEBUG|(?:NO|FORCE|PY)_COLOR|COLORTERM|CLICOLOR.*|TERM|LANG|LANGUAGE|GO[A-Z0-9]+|(?i:https?|all|no|ftp)_proxy|PYTHON[A-Z]*|NODE|INVOCATION_ID|` +
	`(?:LS|TERM|XDG|DBUS|SSH|GPG|GIT|GITHUB|GITLAB|RUNNER|ACTIONS|JENKINS|BUILD|PYTEST|PYENV|CONDA|VIRTUAL_ENV|NODE|NVM|npm|JEST|VITEST|JAVA|MAVEN|GRADLE|CARGO|RUST|LC|SSL_CERT)_.*)$`)

// harmless are files that runtimes and tools look for in each run, and can do without.
var harmless = regexp.MustCompile(`(?:^|/)(?:__pycache__|\.(?:mypy|ruff)_cache|\.pytest_cache(?:$|/(?:[dv]$|v/cache|[A-Z.][\w.]*))|\.hypothesis|\.coverage|\.nyc_output|\.vite|node-compile-cache|pytest-of-[^/]+|jest_[^/]+|node_modules/\.[^/]+)(?:/|$)|` +
	`\.pyc$|^(?:\.\./)+(?:node_modules|\.git)$|^/var/cache/|^(?:/var)?/run/(?:nscd|systemd|utmp|resolvconf|NetworkManager)(?:/|$)|^/var/lib/(?:dbus|sss|misc)/|` +
	`^~/(?:\.cache|\.npm|\.npmrc|\.local/lib|\.node_(?:modules|libraries)|\.config/(?:go|pip)|\.pydistutils\.cfg|\.bash[^/]*|\.profile|\.inputrc|\.terminfo)(?:/|$)`)

// beside is the path of a file beside the tree from the folder of the tree, where that lies elsewhere than the checkout.
func (l *laboratory) beside(name string) (rel string, ok bool) {
	rel, err := filepath.Rel(l.seen, name)
	ok = l.seen == l.written && err == nil && !filepath.IsLocal(rel) && within(filepath.Dir(filepath.Dir(filepath.Dir(l.written))), name) &&
		!within(filepath.Join(l.env.Scratch, "home"), name) && !within(filepath.Join(l.env.Scratch, "tmp"), name)
	return rel, ok
}

// file says why a run lacks a file, folder or socket that it asked for, as it looked for it; empty if the user's own run would not have had it either.
func (l *laboratory) file(name string, look isolate.Look) string {
	made := look == isolate.Made
	home, _ := os.UserHomeDir()
	at, shown, why, folder := name, name, "tests in experiments do not see: "+plan.ShowsHome, ""
	below := func(folder, of, title string) (string, bool) {
		rel, err := filepath.Rel(folder, name)
		if err != nil || folder == "" || of == "" || !filepath.IsLocal(rel) || rel == "." {
			return "", false
		}
		at, shown = filepath.Join(of, rel), title+filepath.ToSlash(rel)
		return filepath.ToSlash(rel), true
	}
	if rel, ok := below(l.seen, l.checkout, ""); ok {
		kept, has := l.tree.File(rel)
		changed, brought := l.head.File(rel)
		switch why, folder = "git ignores, so that experiments lack it", "git does not keep, so that experiments lack it"; {
		case kept.Mode == repo.Symlink:
			return l.behind(name, filepath.Join(l.written, filepath.FromSlash(rel)), look)
		case has || brought && (!changed.Untracked() || sourcefile.IsRunnerFile(rel)) || made:
			return ""
		case strings.HasPrefix(rel+"/", ".git/"):
			if _, err := os.Stat(filepath.Join(l.checkout, ".git")); err != nil {
				return ""
			}
			return "the test reads .git, which experiments do not have"
		case brought:
			why = "is not committed, so that experiments lack it"
		}
	} else if rel, ok := l.beside(name); ok {
		if made {
			return ""
		}
		at, shown, why = filepath.Join(l.checkout, rel), filepath.ToSlash(rel), "is outside of the repository, so that experiments lack it"
		folder = why
	} else if _, ok := below(filepath.Join(l.env.Scratch, "home"), home, "~/"); l.env.Native || ok && l.env.Home {
		return ""
	} else if _, of := below(home, home, "~/"); !ok && !of {
		_, temp := below(filepath.Join(l.env.Scratch, "tmp"), os.TempDir(), os.TempDir()+"/")
		if made || !temp && (within(l.env.Scratch, name) || within(l.written, name)) {
			return ""
		}
		switch {
		case within("/dev", name):
			why = "experiments do not have" + outside
		case temp || within("/tmp", name):
			why = "tests in experiments do not see: they have a folder of their own for temporary files"
		}
	}
	info, err := os.Stat(at)
	switch {
	case err != nil || harmless.MatchString(shown) || look == isolate.Opened && info.Size() == 0:
		return ""
	case info.IsDir():
		if folder == "" || l.tree.HasFolder(shown) || l.head.HasFolder(shown) {
			return ""
		}
		return "the test looks for the folder " + shown + ", which " + folder
	case info.Mode()&os.ModeSocket != 0:
		return "the test asks for the socket " + shown + ", which " + why
	}
	return "the test reads " + shown + ", which " + why
}

// behind is file for what a link of the tree leads to, which is written at a place.
func (l *laboratory) behind(name, written string, look isolate.Look) string {
	target, err := os.Readlink(written)
	if _, gone := os.Stat(written); err != nil || gone != nil && !errors.Is(gone, fs.ErrNotExist) { // as of one that leads to itself
		return ""
	}
	return l.file(absolute(filepath.Dir(name), target), look)
}

// outside ends what can be had outside of the laboratory alone.
const outside = "; alibi runs tests outside of them with --native"

// asked says what a run asked for in vain that the user's own run would have had, by what the runtime and the kernel tell of it; empty for nothing. Of files that
// it reads, it says whether they name a variable: who reads that may be a child. reads says whether a file is of the tree's code, if it ran or was only opened; nil where folders are
// listed by tests alone, and what is opened is the tests' own.
func (l *laboratory) asked(asked map[string]isolate.Look, missed []byte, reads func(file string, ran bool) bool) string {
	loosely := false // a library looks for the names of settings among all variables
	for i, line := range bytes.SplitN(missed, []byte("\n"), mostAsked) {
		var m struct {
			Variable string `json:"variable"`
			By       string `json:"by"`
			Module   string `json:"module"`
			Listed   bool   `json:"listed"` // all variables
			Folder   string `json:"folder"` // that was listed
		}
		err := json.Unmarshal(line, &m)
		loosely = loosely || m.Listed && strings.Contains(m.By, "-packages/")
		if i == mostAsked-1 || err != nil || !filepath.IsAbs(m.By) || !within(l.seen, m.By) || !reads(m.By, true) {
			continue
		}
		why := cmp.Or(l.variable("the test reads", m.Variable), l.listed(m.Folder))
		if m.Listed {
			why = l.lists(m.By, true)
		}
		for _, ending := range []string{".py", "/__init__.py", ".so", ".abi3.so"} {
			if within(l.seen, m.Module) && why == "" {
				why = l.file(m.Module+ending, isolate.Missing)
			}
		}
		if why != "" {
			return why
		}
	}
	hidden, left, named, sealed := l.hidden(), mostRead, "", ""
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		why := ""
		switch asked[name] {
		case isolate.Missing, isolate.Made, isolate.Opened:
			why = l.file(name, asked[name])
		case isolate.Listed:
			if reads == nil {
				why = l.listed(name)
			}
		case isolate.Moved:
			if isolate.OneFileSystem(os.TempDir(), l.checkout) {
				why = "the test moves a file to " + strings.TrimPrefix(name, l.seen+"/") + " from a folder that experiments do not have in the same file system"
			}
		case isolate.Sized:
			why = "the test makes a file of more than " + name + " bytes, which experiments do not allow" + outside
		case isolate.Sealed:
			if isolate.MayWrite(name) && !harmless.MatchString(name) {
				sealed = cmp.Or(sealed, "the test writes to "+name+sealedText+outside) // anything else says more: the report may have this, too
			}
		case isolate.Claimed:
			if os.Geteuid() == 0 {
				why = "the test needs a right that experiments do not have, for " + name + outside
			}
		case isolate.Read:
			rel, err := filepath.Rel(l.seen, name)
			if err != nil || !filepath.IsLocal(rel) || reads != nil && !reads(name, false) {
				break
			}
			text, _ := plainFile(l.written, rel, left)
			left -= len(text)
			named = cmp.Or(named, l.variable("the test or a program that it starts reads "+filepath.ToSlash(rel)+", which names", naming(string(text), hidden, loosely)))
		}
		if why != "" {
			return why
		}
	}
	return cmp.Or(named, sealed)
}

// allText is how code takes all variables, or one with a made name that no log has. givenText gives them to a child, and so does passText, or back, in files that
// childText is in.
var (
	allText   = regexp.MustCompile(`\b(?:os|syscall)\.Environ\(\)|\b(?:syscall|unix)\.Getenv\((?:[^"\x60)]|["\x60]\w*["\x60][^)])|\bos\.environ(?:\.(?:items|keys|values|copy)\b|[^\w.\[]|$)|\bprocess\.env(?:[^\w.?\[]|$)`)
	givenText = regexp.MustCompile(`\bEnv\s*[:=]|\bExec\(|["'] (?:not )?in (?:os\.environ|process\.env)\b`)
	passText  = regexp.MustCompile(`(?i)env\w*["']?\s*(?::|:?=)\s*(?:[^r=\s]|r[^a])`) // but for := range
	childText = regexp.MustCompile(`\bsubprocess\b|\bchild_process\b|\bexeca\b|"os/exec"|\b(?:process\.env|os\.environ)\s*=[^=]|\bos\.environ\.(?:clear|update)\(`)
)

// lists says that a file takes all variables, which the user has more of, for more than to give them to a child. known: it was seen to take them.
func (l *laboratory) lists(file string, known bool) string {
	rel, err := filepath.Rel(l.seen, file)
	if err != nil || !filepath.IsLocal(rel) || len(l.hidden()) == 0 || !known && filepath.Ext(rel) != ".go" {
		return ""
	}
	code, _ := plainFile(l.written, rel, maxTestFile)
	takes, passes := 0, 0
	for line := range strings.Lines(string(code)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "//") || strings.HasPrefix(line, "#") || !allText.MatchString(line) {
			continue
		}
		if takes++; givenText.MatchString(line) || passText.MatchString(line) && childText.Match(code) {
			passes++
		}
	}
	if takes == passes && (takes > 0 || !known) {
		return ""
	}
	return "the test lists all variables in " + filepath.ToSlash(rel) + ", and experiments do not have all of yours" + outside
}

// listed says which file a folder that a run lists has in the checkout alone, beside others of its kind.
func (l *laboratory) listed(folder string) string {
	rel, err := filepath.Rel(l.seen, folder)
	if err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	theirs, _ := os.ReadDir(filepath.Join(l.written, rel))
	ours, _ := os.ReadDir(filepath.Join(l.checkout, rel))
	for _, f := range ours {
		ext := filepath.Ext(f.Name())
		if f.IsDir() || ext == "" || !slices.ContainsFunc(theirs, func(other fs.DirEntry) bool { return filepath.Ext(other.Name()) == ext }) {
			continue
		}
		if why := l.file(filepath.Join(folder, f.Name()), isolate.Missing); why != "" {
			return why
		}
	}
	return ""
}

// mostRead bounds the bytes of files in which variables are looked for.
const mostRead = 64 << 20

// hidden are the variables that only the user has, but for general ones.
func (l *laboratory) hidden() []string {
	list := slices.DeleteFunc(names(os.Environ()), func(name string) bool { return l.variable("", name) == "" || general.MatchString(name) })
	slices.Sort(list)
	return list
}

// naming is the first of some variables that a text names, or quotes the beginning of. In programs, strings may follow one another without anything between
// them. loosely: in any case, if the name has a _.
func naming(text string, variables []string, loosely bool) string {
	program, upper := strings.Contains(text, "\x00"), ""
	if loosely {
		upper = strings.ToUpper(text)
	}
	for _, name := range variables {
		before, _, composed := strings.Cut(name, "_")
		quoted := func(q string) bool { return len(before) > 1 && strings.Contains(text, q+before+"_"+q) }
		if composed && (program && strings.Contains(text, name) || strings.Contains(upper, strings.ToUpper(name)) || !program && slices.ContainsFunc([]string{`"`, "'", "`"}, quoted)) ||
			strings.Contains(text, name) && regexp.MustCompile(`\b`+regexp.QuoteMeta(name)+`\b`).MatchString(text) {
			return name
		}
	}
	return ""
}

func (g *goTests) laboratory(w *workspace, b *goBinary, env environment) *laboratory {
	return &laboratory{env: env, given: g.environment(env, b.dir), tree: w.tree, head: g.head, seen: w.source(), written: w.source(), checkout: g.hide}
}

// lacks says what the tests of a run asked for, by the log of a test binary, too, that the user has and experiments don't give them; empty for nothing.
func (g *goTests) lacks(ctx context.Context, w *workspace, b *goBinary, env environment, log []byte, asked map[string]isolate.Look) string {
	dir, l := b.dir, g.laboratory(w, b, env)
	known := map[string]bool{}
	for line := range bytes.Lines(log) {
		what, name, _ := strings.Cut(strings.TrimRight(string(line), "\n"), " ")
		if key := dir + "\x00" + string(line); known[key] {
			continue
		} else if known[key] = true; len(known) > mostAsked {
			break
		}
		var why string
		switch what {
		case "getenv":
			why = l.variable("the test reads", name)
		case "chdir":
			dir = absolute(dir, name)
		case "open", "stat":
			file := absolute(dir, name)
			rel, err := filepath.Rel(l.seen, file)
			own := err == nil && filepath.IsLocal(rel)
			if _, has := w.tree.File(filepath.ToSlash(rel)); own && has {
				if text, err := plainFile(l.written, rel, mostPointer); err == nil && bytes.HasPrefix(text, largeFile) {
					return "the test reads " + filepath.ToSlash(rel) + ", of which the commit has a pointer of Git LFS alone"
				}
			}
			if _, beside := l.beside(file); asked == nil && (own || beside || within(filepath.Join(env.Scratch, "home"), file)) { // else the kernel tells
				why = l.file(file, isolate.Missing)
			}
		}
		if why != "" {
			return why
		}
	}
	why := l.asked(asked, nil, nil)
	if why == "" && env.Trace {
		why = cmp.Or(l.early(b.path), g.takes(ctx, l, b))
	}
	return why
}

// early says which variable the code of a test binary names: what is read before tests begin is not in its log.
func (l *laboratory) early(program string) string {
	built, _ := os.ReadFile(program)
	linked := slices.DeleteFunc(l.hidden(), func(name string) bool { return !bytes.Contains(built, []byte(name)) })
	for _, file := range l.tree.Paths() {
		if len(linked) == 0 || path.Ext(file) != ".go" {
			continue
		}
		text, _ := plainFile(l.written, filepath.FromSlash(file), maxTestFile)
		for _, name := range linked {
			if bytes.Contains(text, []byte(strconv.Quote(name))) || bytes.Contains(text, []byte(`"`+name+",")) { // as in a tag
				return l.variable("the code that is tested, which may read it before the tests begin, names in "+file, name)
			}
		}
	}
	return ""
}

// mostPointer is as long as a pointer of Git LFS may be, and largeFile is how they begin. They stand for files in commits.
const mostPointer = 1 << 10

var largeFile = []byte("version https://git-lfs.github.com/")

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}
