package testcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// grace is how long a runner that was interrupted may take to end, and how long programs that it leaves may hold its output open.
const grace = 3 * time.Second

// settle is how long a Ctrl-C that reached the runner may take to end the context.
const settle = time.Second / 2

// Ran is a run that ended by itself and left a report.
type Ran struct {
	ExitCode int
	// Tests is how many tests the reports tell of, Failures how many of them are cases to try: failures, and packages that do not build.
	Tests, Failures int
	// Beside are failures that no test tells of, without their output.
	Beside []docket.Beside
	// Output is the end of what the runner printed, unless it printed to a terminal.
	Output string
	// Captured says that what it printed outside of its tests is known. It is not where that went to a terminal.
	Captured bool

	said   map[string][]string // of Go by package
	killed string              // by which signal; empty if it was not
}

// Failed says whether anything failed: the command, or a test of it whose failure it ignored.
func (r *Ran) Failed() bool { return r.ExitCode != 0 || r.Failures > 0 }

// streams are where the runner's output goes.
type streams struct{ out, err io.Writer }

// Run runs the command in its folder, with the environment of this program but for its secrets, and passes on what the runner prints as it comes. A
// terminal is handed to the runner as it is, unless its output has to be read. An exit code that is not 0 is no error: tests failed. take gets each
// case of the reports, and each line that can't be read.
//
// When the context ends, the runner is interrupted once, as by Ctrl-C, unless the terminal did so already; after three seconds it is
// killed. The error then wraps the context's cause. Further errors: the runner is missing, ended well without a report, rejects its command line, or
// has reports that can't be read or are too long.
func (c *Command) Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, take func(docket.Entry, error)) (_ *Ran, fault error) {
	temp, err := disk.TempDir("shadowcourt-tests")
	if err != nil {
		return nil, err
	}
	defer func() { _ = temp.Remove() }()
	folder := temp.Path
	for name, text := range c.plan.files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	find := c.finder(folder)
	before, err := find.look()
	if err != nil {
		return nil, err
	}
	if c.rest {
		restore, err := find.keep(before, folder)
		if err != nil {
			return nil, err
		}
		defer func() {
			if err := restore(); err != nil {
				fault = errors.Join(fault, err)
			}
		}()
	}
	ran, printed := &Ran{}, &tail{}
	err = c.execute(ctx, ran, find, folder, stdin, printed.through(streams{stdout, stderr}, c.line.runner.skips != nil))
	if ran.Output = printed.String(); err != nil {
		return nil, err
	}
	paths, err := find.written(before)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 || ran.killed != "" {
		return ran, c.noReport(ran)
	}
	if err := c.read(ctx, ran, paths, folder, take); err != nil {
		return nil, err
	}
	ran.Beside = c.beside(ran)
	ran.said, ran.Captured, err = c.said(ran.Output, find.file)
	return ran, err
}

// beside finds what no test of the reports tells of.
func (c *Command) beside(ran *Ran) (list []docket.Beside) {
	switch code := "the command ended with exit code " + strconv.Itoa(ran.ExitCode); {
	case ran.ExitCode == 0:
	case ran.Failures == 0:
		list = append(list, docket.Beside{What: code + ", and no test failed in its report", Next: docket.OnBase})
	case c.line.runner.code != 0 && ran.ExitCode != c.line.runner.code && (!c.line.script || ran.ExitCode != 1):
		list = append(list, docket.Beside{What: fmt.Sprintf("%s, and %s ends with %d where tests fail", code, c.Runner, c.line.runner.code), Next: docket.OnBase})
	}
	if c.Stops != "" && ran.Failures > 0 {
		list = append(list, docket.Beside{What: "tests after the first failure did not run: " + c.Stops, Next: "let the run continue after a failure"})
	}
	if c.line.runner.skips != nil {
		for _, m := range c.line.runner.skips.FindAllStringSubmatch(ran.Output, maxSkips) {
			list = append(list, docket.Beside{What: c.Runner + " skipped " + m[1] + " after a failure, so its tests did not run", Next: "run them, too: -fn continues after a failure"})
		}
	}
	return list
}

// maxSkips is of how many skipped modules is told.
const maxSkips = 20

// rejected is how runners reject a command line, or say that it selects no test.
var rejected = regexp.MustCompile(`(?mi)^ERROR: usage: |\b(?:unknown|unrecognized|unexpected) (?:cli |command-line )?(?:option|argument|parameter)|` +
	`No module named \S*pytest|No test(?:s| files) found`)

// noReport tells that a run ended before its report, or gives the error of one that ran no test.
func (c *Command) noReport(ran *Ran) error {
	what := fmt.Sprintf("the command ended with exit code %d before its report was written", ran.ExitCode)
	how := fmt.Sprintf("failed with exit code %d", ran.ExitCode)
	switch {
	case ran.killed != "":
		what = "the command was killed (" + ran.killed + "), so that its report is missing or incomplete"
	case ran.ExitCode == 0:
		how = "ended well"
	}
	if ran.killed != "" || ran.ExitCode != 0 && !rejected.MatchString(ran.Output) {
		ran.Beside = []docket.Beside{{What: what, Next: docket.OnBase}}
		return nil
	}
	text := c.Runner + " " + how + ", but wrote no report: see its output"
	if c.plan.hint != "" {
		text += "; " + c.plan.hint
	}
	return &NoReportError{text}
}

// NoReportError says that a run wrote no report; [Command.Run] gives it with what is known of the run.
type NoReportError struct{ text string }

func (e *NoReportError) Error() string { return e.text }

// execute runs the command to its end.
func (c *Command) execute(ctx context.Context, ran *Ran, find *finder, folder string, stdin io.Reader, to streams) error {
	flags := make([]string, len(c.plan.flags))
	for i, flag := range c.plan.flags {
		flags[i] = strings.NewReplacer(reportPlace, find.file, folderPlace, folder).Replace(flag)
	}
	args := c.line.with(flags)
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	cmd := exec.CommandContext(limited, args[0], args[1:]...) //nolint:gosec // it is the user's command
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = c.dir, stdin, to.out, to.err
	cmd.Env = append(withoutSecrets(cmd.Environ(), c.Without), c.env...)
	for _, variable := range c.plan.env {
		cmd.Env = append(cmd.Env, strings.ReplaceAll(variable, folderPlace, folder))
	}
	cmd.WaitDelay = grace
	shared, end := attach(ctx, cmd)
	if c.plan.stdout {
		file, err := os.Create(find.file)
		if err != nil {
			return err
		}
		defer file.Close()
		show := textWriter(plainText{to.out})
		if c.plan.show != nil {
			show = c.plan.show(to)
		}
		defer show.Flush()
		cmd.Stdout = &tee{file: file, show: show, left: c.limit(), over: func() { stop(c.tooLong()) }}
	}
	err := cmd.Run()
	if shared && err != nil { // a runner that ends at Ctrl-C may be faster than this program's own handling of it
		select {
		case <-limited.Done():
		case <-time.After(settle):
		}
	}
	if cause := context.Cause(limited); cause != nil {
		end()
		if ctx.Err() != nil {
			return fmt.Errorf("%s was interrupted: %w", c.Runner, cause)
		}
		return cause
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		ran.ExitCode = exit.ExitCode()
	case errors.As(err, &exit):
		ran.ExitCode, ran.killed = exit.ExitCode(), exit.String()
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s can't be started: %s is not there; install it, or give its path", c.Runner, args[0])
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s can't be started: %s is not executable", c.Runner, args[0])
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return fmt.Errorf("%s can't be run: %w", c.Runner, err)
	}
	return nil
}

// limit is the most that the reports may have. The JSON of jest is read in pieces of a file of tests, which may be long.
func (c *Command) limit() int64 {
	most := int64(DefaultReportBytes)
	if c.ReportBytes > 0 {
		most = c.ReportBytes
	}
	if c.plan.format == formatJest {
		most = min(most, maxJestBytes)
	}
	return most
}

func (c *Command) tooLong() error {
	return fmt.Errorf("the report of %s is longer than %d bytes: run fewer tests at once, or let them print less", c.Runner, c.limit())
}

// textWriter shows what a runner prints. It gives no errors: that nobody looks does not end the tests.
type textWriter interface {
	Show(data []byte)
	// Flush shows what was held back.
	Flush()
}

// plainText shows all as it is.
type plainText struct{ to io.Writer }

func (p plainText) Show(data []byte) { _, _ = p.to.Write(data) }
func (plainText) Flush()             {}

// tee writes a report to a file while it is shown.
type tee struct {
	file *os.File
	show textWriter
	left int64
	over func()
}

func (t *tee) Write(data []byte) (int, error) {
	if t.left -= int64(len(data)); t.left < 0 {
		t.over()
		return len(data), nil // the runner is ended, and not by a broken pipe
	}
	if _, err := t.file.Write(data); err != nil {
		return 0, err
	}
	t.show.Show(data)
	return len(data), nil
}

// secretPrefix begins the variables of this program, and secretWords are in the names of those that hold a secret.
const secretPrefix = "SHADOWCOURT_"

func secretWords() []string {
	return []string{"KEY", "TOKEN", "SECRET", "PASSWORD", "DATABASE"}
}

// commandFiles are variables with files by which a step of GitHub Actions changes those behind it, and with the results of earlier runs.
var commandFiles = []string{"GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "SHADOWCOURT_CACHE"}

// withoutSecrets is an environment without the variables that hold secrets of this program, without those that steer later steps, and without those
// of these names.
func withoutSecrets(env, names []string) []string {
	names = slices.Concat(names, commandFiles)
	return slices.DeleteFunc(env, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) }) {
			return true
		}
		own, is := strings.CutPrefix(strings.ToUpper(name), secretPrefix)
		return is && slices.ContainsFunc(secretWords(), func(word string) bool { return strings.Contains(own, word) })
	})
}

// maxReports is how many reports one run may write.
const maxReports = 20_000

// finder finds the reports that a run has written.
type finder struct {
	file     string // the report, if it is one file
	root     string
	patterns []string
}

// state is what tells whether a file was written.
type state struct {
	changed time.Time
	size    int64
}

func (c *Command) finder(folder string) *finder {
	f := &finder{file: c.plan.file, root: c.plan.root, patterns: c.plan.patterns}
	switch {
	case c.plan.stdout:
		f.file = filepath.Join(folder, "output.json")
	case f.file == reportPlace:
		f.file = filepath.Join(folder, "report")
	case f.file != "" && !filepath.IsAbs(f.file):
		f.file = filepath.Join(c.dir, f.file)
	}
	return f
}

// look gives the reports that are there, by their paths.
func (f *finder) look() (map[string]state, error) {
	found := map[string]state{}
	if f.file != "" {
		if info, err := os.Stat(f.file); err == nil && info.Mode().IsRegular() {
			found[f.file] = state{info.ModTime(), info.Size()}
		}
		return found, nil
	}
	err := filepath.WalkDir(f.root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it may have gone meanwhile, or is not for us to read
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && file != f.root):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.ContainsFunc(f.patterns, func(pattern string) bool { return matches(pattern, file) }):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		if len(found) == maxReports {
			return fmt.Errorf("%s has more than %d reports: remove old ones, or run fewer tests at once", f.root, maxReports)
		}
		found[file] = state{info.ModTime(), info.Size()}
		return nil
	})
	return found, err
}

// matches says whether the end of a path matches a pattern.
func matches(pattern, file string) bool {
	parts := strings.Split(filepath.ToSlash(file), "/")
	n := strings.Count(pattern, "/") + 1
	if len(parts) < n {
		return false
	}
	ok, _ := path.Match(pattern, strings.Join(parts[len(parts)-n:], "/"))
	return ok
}

// written gives the reports that are not as they were before.
func (f *finder) written(before map[string]state) ([]string, error) {
	now, err := f.look()
	if err != nil {
		return nil, err
	}
	var paths []string
	for file, s := range now {
		if was, ok := before[file]; (!ok || was != s) && s.size > 0 {
			paths = append(paths, file)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

// read reads the reports.
func (c *Command) read(ctx context.Context, ran *Ran, paths []string, folder string, take func(docket.Entry, error)) error {
	var err error
	left := c.limit()
	for _, file := range paths {
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if left -= info.Size(); left < 0 {
			return c.tooLong()
		}
	}
	format := c.plan.format
	if format == formatJest {
		converted := filepath.Join(folder, "jest.xml")
		if err := convertJest(converted, paths[0], c.dir); err != nil {
			return err
		}
		paths, format = []string{converted}, run.JUnit
	}
	for i, file := range paths {
		if paths[i], err = filepath.Abs(file); err != nil {
			return err
		}
	}
	dockets, err := run.OpenDockets(ctx, nil, paths, format)
	if err != nil {
		return err
	}
	var fault error
	for entry, err := range dockets.Entries("") {
		switch _, ofLine := errors.AsType[*docket.LineError](err); {
		case err == nil:
			ran.Failures++
		case !ofLine:
			return err
		case fault == nil:
			fault = err
		}
		take(entry, err)
	}
	switch ran.Tests = dockets.Tests; {
	case ran.Tests > 0 || ran.Failures > 0:
	case fault != nil:
		return fmt.Errorf("the report of %s can't be read: %w", c.Runner, fault)
	case ran.ExitCode != 0:
		return fmt.Errorf("%s failed with exit code %d, and its report tells of no test: see its output", c.Runner, ran.ExitCode)
	}
	return nil
}
