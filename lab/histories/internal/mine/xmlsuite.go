package mine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// xmlSuite runs test files of a runner that writes JUnit XML: Maven Surefire, of projects with one module, or jest.
type xmlSuite struct {
	kind    *xmlKind
	scratch string
	ready   string // what was installed last, by the contents of its files
}

// xmlKind is what differs between such runners.
type xmlKind struct {
	runner, marker string
	// needs are the files that say what is installed.
	needs []string
	// install installs that outside of the isolation, without running code of the tree.
	install func(ctx context.Context, folder, scratch string) error
	// test knows test files by their paths.
	test *regexp.Regexp
	// declares is text before and behind the name of a test where it is declared.
	before, behind string
	// command runs a test file and copies its reports to $REPORTS.
	command func(unit string) []string
	show    []string // folders that it needs, beside the tree
	env     []string
	// aSource are lines of a failure that are code.
	aSource *regexp.Regexp
}

// xmlKinds are the kinds of runners, by the file that a tree has at its top.
func xmlKinds() []*xmlKind {
	home, _ := os.UserHomeDir() // without one nothing is shown
	return []*xmlKind{
		{
			runner: "surefire", marker: "pom.xml", needs: []string{"pom.xml"}, install: resolveMaven,
			test: regexp.MustCompile(`^src/test/java/.*/\w*Test\.java$`), before: "void ", behind: "(",
			command: func(unit string) []string {
				return []string{"mvn", "--batch-mode", "--quiet", "--offline", "-Dmaven.repo.local=" + filepath.Join(home, ".m2", "repository"), "-Dtest=" + classOf(unit), "test"}
			},
			show: []string{filepath.Join(home, ".m2", "repository")}, env: []string{"MAVEN_OPTS=-Xshare:auto -XX:TieredStopAtLevel=1"},
			aSource: regexp.MustCompile(`$.^`),
		},
		{
			runner: "jest", marker: "package.json", needs: []string{"package.json", "package-lock.json"}, install: installNode,
			test: regexp.MustCompile(`\.(?:spec|test)\.[jt]sx?$`), before: "it('", behind: "'",
			command: func(unit string) []string {
				return []string{"node_modules/.bin/jest", "--watchman=false", "--reporters=default", "--reporters=jest-junit", "--runTestsByPath", "./" + unit}
			},
			env: []string{
				"JEST_JUNIT_CLASSNAME={classname}", "JEST_JUNIT_TITLE={classname} {title}", "JEST_JUNIT_ANCESTOR_SEPARATOR= ",
				"JEST_JUNIT_SUITE_NAME={filepath}", "JEST_JUNIT_ADD_FILE_ATTRIBUTE=true",
			},
			aSource: regexp.MustCompile(`^\s*>?\s*\d*\s*\|`),
		},
	}
}

// classOf is the class of a test file of Java.
func classOf(unit string) string {
	return strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(unit, "src/test/java/"), ".java"), "/", ".")
}

func newXMLSuite(kind *xmlKind, folder string) (*xmlSuite, error) {
	x := &xmlSuite{kind: kind, scratch: filepath.Join(folder, "scratch")}
	return x, os.MkdirAll(x.scratch, 0o755)
}

func (x *xmlSuite) name() string { return x.kind.runner }

func (x *xmlSuite) declares(test string) string { return x.kind.before + test + x.kind.behind }

func (x *xmlSuite) units(folder string, paths []string) []string {
	var list []string
	for _, p := range paths {
		// Fixtures of jest stand beside its tests, in a folder with the name of a test.
		for _, name := range []string{p, path.Join(path.Dir(path.Dir(path.Dir(p))), "__test__", path.Base(path.Dir(p))+".spec.ts")} {
			info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
			if err == nil && info.Mode().IsRegular() && x.kind.test.MatchString(name) && !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	return list
}

func (x *xmlSuite) install(ctx context.Context, folder string) error {
	h := sha256.New()
	for _, name := range x.kind.needs {
		text, _ := os.ReadFile(filepath.Join(folder, name)) // a tree may lack one
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	key := fmt.Sprintf("%x", h.Sum(nil))
	if x.ready == key {
		return nil
	}
	if err := x.kind.install(ctx, folder, x.scratch); err != nil {
		return err
	}
	x.ready = key
	return nil
}

// resolveMaven lets Maven download what a tree needs, as far as the tests: in place of Java a program stands that does nothing.
func resolveMaven(ctx context.Context, folder, scratch string) error {
	nothing, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	java := filepath.Join(scratch, "bin", "java") // Surefire looks for these two names
	if err := errors.Join(os.MkdirAll(filepath.Dir(java), 0o755), os.RemoveAll(java), os.Symlink(nothing, java)); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "-Djvm="+java, "-Dmaven.test.failure.ignore=true", "test")
	cmd.Dir = folder
	cmd.WaitDelay = 5 * time.Second
	_ = cmd.Run() // what is missing then fails the run without a network
	return os.RemoveAll(filepath.Join(folder, "target"))
}

// installNode installs what the lock file of a tree says, without running scripts of packages, and the reporter.
func installNode(ctx context.Context, folder, _ string) error {
	for _, args := range [][]string{{"ci", "--ignore-scripts"}, {"install", "--ignore-scripts", "--no-save", "jest-junit@16"}} {
		cmd := exec.CommandContext(ctx, "npm", append(args, "--no-audit", "--no-fund", "--loglevel=error")...) //nolint:gosec // these two alone
		cmd.Dir = folder
		cmd.WaitDelay = 5 * time.Second
		if err := cmd.Run(); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

func (x *xmlSuite) run(ctx context.Context, folder, unit string, in surroundings) (*outcome, error) {
	if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(unit))); err != nil {
		return &outcome{problem: "no tests"}, nil // the tree does not have the file
	}
	scratch := filepath.Join(x.scratch, "run")
	reports := filepath.Join(scratch, "reports")
	if err := errors.Join(removeAll(scratch), os.MkdirAll(reports, 0o755)); err != nil {
		return nil, err
	}
	defer func() { _ = removeAll(scratch) }()
	const script = `"$@"; code=$?; find target -name 'TEST-*.xml' -exec cp {} "$REPORTS" ';' 2>/dev/null; exit $code`
	args := append(append(slices.Clone(in.launcher), "sh", "-c", script, "sh"), x.kind.command(unit)...)
	env := append([]string{"PATH=" + os.Getenv("PATH"), "PWD=" + folder, "REPORTS=" + reports, "JEST_JUNIT_OUTPUT_FILE=" + filepath.Join(reports, "report.xml")}, x.kind.env...)
	if lang, ok := os.LookupEnv("LANG"); ok {
		env = append(env, "LANG="+lang)
	}
	result, err := isolate.Run(ctx, isolate.Command{
		Args: args, Dir: folder, Env: env, Scratch: scratch, Overlays: []string{folder}, Show: x.kind.show,
		Limits: isolate.Limits{Time: fileTime, Memory: 2 * isolate.DefaultMemory},
	})
	if err != nil {
		return nil, err
	}
	if result.Ending != isolate.Exited && result.Ending != isolate.Signaled {
		return &outcome{problem: "ended by its limit of " + string(result.Ending)}, nil
	}
	names, err := filepath.Glob(filepath.Join(reports, "*.xml"))
	if err != nil || len(names) == 0 {
		return &outcome{problem: "no report: " + lastLine(result.Output)}, err
	}
	all := &outcome{passed: map[string]bool{}, failed: map[string]history.Report{}, wall: result.Wall}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		o, _ := readXML(x.kind.runner, unit, bytes.TrimSpace(text), x.outcomes)
		if o.problem != "" {
			return o, nil
		}
		maps.Copy(all.passed, o.passed)
		maps.Copy(all.failed, o.failed)
	}
	return all, nil
}

// outcomes are the lines of a failure that are no code.
func (x *xmlSuite) outcomes(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !x.kind.aSource.MatchString(line) {
			b.WriteString(line)
		}
	}
	return b.String()
}
