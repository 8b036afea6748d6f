package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/repo"
)

// kind is what came of a test.
type kind string

// What may come of a test.
const (
	kindPassed  kind = "passed"
	kindFailed  kind = "failed"
	kindSkipped kind = "skipped"
	kindAbsent  kind = "absent"  // the tree has no such test
	kindSilent  kind = "silent"  // the run failed and says nothing of the test
	kindUnclear kind = "unclear" // the run ended well and says that the test failed
	kindEnded   kind = "ended"   // by a limit of the isolation, which Result names
)

// testRun is one run of a test.
type testRun struct {
	Kind kind
	// Documents are what the test wrote, as the reader of its reports gives them to cases; empty unless it failed.
	Documents []abi.Document
	Result    *isolate.Result
	// Rows: the tree has the test's function without the row of the case, and this is what came of all its rows.
	Rows   bool
	Loaded loaded
	// Lacks says what the run asked for that experiments don't give it; empty for nothing, or where that was not looked at.
	Lacks string
	// Traced: Lacks is known in full.
	Traced    bool
	Recording *recording // of all tests that ran; nil where they can't be told apart
	// Before are the tests that an environment with Order began before this one, where the runner tells.
	Before []string
}

// Log is all that a failed test wrote.
func (r *testRun) Log() string {
	var b strings.Builder
	for i := range r.Documents {
		b.WriteString(r.Documents[i].Text)
	}
	return b.String()
}

// environment says what surrounds a test.
type environment struct {
	Scratch string // folder that the test may write to
	// Overlay is a folder that the test seems to write to, such as that of its tree; see [isolate.Command].
	Overlay string
	Clean   bool // no variables of the user's but PATH, in UTC and the C locale
	Starve  bool
	Network bool
	// Native leaves the test all that the user has, but for the variable Without; see [isolate.Command].
	Native  bool
	Without string
	// Named are variables that the test has beside those that all have, unless it is Clean.
	Named []string
	// Home leaves the test what the user can read; see [isolate.Command].
	Home bool
	// Rows has all rows of the test's function run where the tree has it without the row of the case: it was edited.
	Rows  bool
	Order bool // run the test with those around it, in their order, instead of alone
	// Chosen are the tests around it that are run with it; nil for all.
	Chosen []string
	Timed  bool // tests may ask how long they have: as long as in the command
	// Compared has a run tell what it lacks.
	Compared bool
	// Trace has the kernel tell what it asks for, where it can.
	Trace bool
	// Again is a run that was made, to be read for another test; nil to make one.
	Again *recording
	// Tree is the tree that the run is of, where that is known.
	Tree   *repo.Tree
	Limits isolate.Limits
}

// errNoTests: the tree has nothing that could be built for the test.
var errNoTests = errors.New("no test files")

// buildError says that tests do not build in a tree, which is an outcome of an experiment.
type buildError struct {
	What   string // a package, or a project
	Output string // of the build
}

// Error names what does not build, and the first line that is no heading.
func (e *buildError) Error() string {
	for line := range strings.Lines(e.Output) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return e.What + " does not build: " + line
		}
	}
	return e.What + " does not build"
}

// userVariables are what a test sees of the user's environment: an allow-list, so that no secret reaches a test by accident. A clean
// environment has PATH alone, in UTC and the C locale, and a native one all. Where the test does not see what HOME and TMPDIR name, it has folders of its own.
func userVariables(of environment, more ...string) []string {
	if of.Native {
		return slices.DeleteFunc(os.Environ(), func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return name == "PWD" || name == of.Without
		})
	}
	env := []string{"PATH=" + os.Getenv("PATH")}
	if of.Clean {
		return append(env, "LC_ALL=C", "TZ=UTC")
	}
	allowed := slices.Concat(strings.Fields(`HOME TMPDIR LANG LANGUAGE TZ USER LOGNAME SHELL TERM GLIBC_TUNABLES MALLOC_PERTURB_ OMP_NUM_THREADS
		GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM`), loaders, more)
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(allowed, name) || strings.HasPrefix(name, "LC_") {
			env = append(env, v)
		}
	}
	return give(env, of.Named)
}

// loaders are what linkers, compilers, interpreters and tools read by themselves, which tests see: nothing tells of it. Most are lists of paths.
var loaders = slices.Concat(compilers, strings.Fields(`LD_LIBRARY_PATH LD_PRELOAD DYLD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GCONV_PATH LOCPATH TZDIR
	PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONWARNINGS PYTHONOPTIMIZE PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING PYTHONDEVMODE PYTHONSAFEPATH PYTHONNOUSERSITE
	PERL5LIB PERLLIB PERL5OPT PERL_UNICODE PERL_HASH_SEED RUBYLIB RUBYOPT GEM_HOME GEM_PATH NODE_PATH NODE_OPTIONS NODE_ENV NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR
	CLASSPATH JAVA_HOME JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS LUA_PATH LUA_CPATH PHPRC R_LIBS BASH_ENV SHELLOPTS BASHOPTS CDPATH MAKEFLAGS GNUMAKEFLAGS MAKEFILES
	CFLAGS CPPFLAGS CXXFLAGS LDFLAGS RUSTFLAGS POSIXLY_CORRECT COLUMNS TAR_OPTIONS GREP_OPTIONS GZIP XZ_OPT`))

// compilers are those that builds of C take.
var compilers = []string{"PKG_CONFIG_PATH", "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "LIBRARY_PATH"}

// namedVariables are those of the user, as assignments, that a message names in capitals or with a _, but for one that tests must not have.
func namedVariables(message, without string) []string {
	words := variableWord.FindAllString(message, -1)
	list := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == without || name == "PATH" || CheckVariable(name) != nil || !slices.Contains(words, name)
	})
	slices.Sort(list)
	return list
}

var variableWord = regexp.MustCompile(`\b(?:[A-Z][A-Z0-9]{2,}|\w*[A-Za-z]\w*_\w+)\b`)

// shown are the files that a command needs beside those of the system: its installation, what the definition's folders and allowed
// variables name, and what is installed for the checkout.
func (r *defined) shown(variables []string, command string) []string {
	list := installation(command)
	for _, f := range r.definition.Folders {
		if folder := f.path(); folder != "" {
			for _, name := range f.within() {
				list = append(list, filepath.Join(folder, name))
			}
		}
	}
	for _, v := range variables {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(r.definition.Allow, name) || slices.Contains(loaders, name) {
			list = append(list, filepath.SplitList(value)...)
		}
	}
	for _, name := range r.installed {
		at := filepath.Join(r.source.Top, filepath.FromSlash(name))
		if linked, err := filepath.EvalSymlinks(at); err == nil && !within(r.source.Top, linked) {
			list = append(list, linked)
		}
		list = append(list, installation(filepath.Join(at, "bin", "python"))...)
	}
	return list
}

// sees says whether tests see a path that is not in their tree.
func (r *defined) sees(path string) bool {
	variables, overlays := r.environment(environment{}, "")
	folders := slices.Clone(overlays)
	for _, project := range r.projects {
		if command, err := r.program(project); err == nil {
			folders = append(folders, r.shown(variables, command)...)
		}
	}
	return slices.ContainsFunc(folders, func(folder string) bool { return filepath.IsAbs(folder) && within(folder, path) })
}

// installed are the folders and files that an installation has beside its programs, as languages and package managers lay them out.
var installed = []string{"lib", "lib64", "libexec", "include", "share", "pyvenv.cfg"}

// installation is what belongs to a program: its folder, what is installed beside that, and the same of what it is a link to, and of an
// interpreter that lies beside it.
func installation(program string) []string {
	var list []string
	programs := []string{program}
	for i := 0; i < len(programs) && i < maxLinks; i++ {
		folder := filepath.Dir(programs[i])
		if !filepath.IsAbs(folder) || slices.Contains(list, folder) {
			continue
		}
		list = append(list, folder, programs[i])
		prefix := filepath.Dir(folder)
		if home, err := os.UserHomeDir(); err != nil || !within(prefix, home) && prefix != filepath.Join(home, ".local") {
			for _, name := range installed {
				list = append(list, filepath.Join(prefix, name))
			}
		} else if prefix != home {
			list = append(list, filepath.Join(prefix, "lib"))
		}
		for _, name := range []string{programs[i], filepath.Join(folder, "python"), filepath.Join(folder, "python3"), filepath.Join(folder, "node")} {
			if linked, err := filepath.EvalSymlinks(name); err == nil && linked != name {
				programs = append(programs, linked)
			}
		}
	}
	return list
}

// maxLinks bounds the programs that belong to one.
const maxLinks = 20

// CheckVariable says why tests can't be given a variable of a name, as [Config].Env gives them.
func CheckVariable(name string) error {
	switch {
	case !variableName.MatchString(name):
		return fmt.Errorf("%q is not the name of a variable: use letters, digits and _", name)
	case name == "HOME":
		return errors.New("HOME: tests have a home of their own; to give them yours use --home")
	case name == "TMPDIR" || name == "PWD":
		return fmt.Errorf("%s: each run has its own", name)
	}
	return nil
}

// checkEnv checks assignments.
func checkEnv(assignments []string) error {
	for _, v := range assignments {
		name, value, ok := strings.Cut(v, "=")
		if !ok || strings.ContainsRune(value, 0) {
			return fmt.Errorf("variable %q: expected NAME=VALUE", name)
		}
		if err := CheckVariable(name); err != nil {
			return err
		}
	}
	return nil
}

// give adds assignments to variables, in place of those with their names: of two with one name programs take the first or the last.
func give(variables, given []string) []string {
	for _, v := range given {
		name, _, _ := strings.Cut(v, "=")
		variables = append(slices.DeleteFunc(variables, func(old string) bool { return strings.HasPrefix(old, name+"=") }), v)
	}
	return variables
}

// names are those of assignments.
func names(assignments []string) []string {
	list := make([]string, len(assignments))
	for i, v := range assignments {
		list[i], _, _ = strings.Cut(v, "=")
	}
	return list
}
