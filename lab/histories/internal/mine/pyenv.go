package mine

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

//go:embed pyinstall.py
var pyInstall []byte

// installTime is how long it may take to install what a tree needs.
const installTime = 8 * time.Minute

// pythons are the versions of Python for trees until a date, and from when on most dependencies have wheels for them. What is older than
// both gets dependencies of the first date. The last is the one that is installed.
var pythons = []struct{ version, until, from string }{{"3.10", "2023-01-01", "2022-01-01"}, {"", "9999", "2023-07-01"}}

// era is half a year, named by its end, with the date of the dependencies and the Python for the trees of that time.
type era struct{ name, date, python string }

func eraOf(when time.Time) era {
	e := era{name: time.Date(when.Year(), 1+6*((when.Month()+5)/6), 1, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)}
	for _, p := range pythons {
		e.date, e.python = max(e.name, p.from), "python3"
		if p.version != "" {
			found, err := filepath.Glob(filepath.Join(os.Getenv("PYENV_ROOT"), "versions", p.version+".*", "bin", "python3"))
			if err != nil || len(found) == 0 {
				continue
			}
			e.python = found[0]
		}
		if e.name <= p.until {
			break
		}
	}
	return e
}

// pyEnvironments has a virtual environment for each half of a year. What a tree needs is installed there as it was at the end of the
// half, and the project itself is not: a path file leads to the folder of the checkout, where each run sees its own tree.
type pyEnvironments struct {
	repository *history.Repository
	folder     string
	broken     map[string]error
	spoiled    bool // the one that is in use has what it should not have
}

// tools is the program of a virtual environment that installs into the others.
func (p *pyEnvironments) tools(name string) string {
	return filepath.Join(p.folder, "tools", "bin", name)
}

// ready is a file of an environment that is whole; it says of when it is.
const ready = "histories-ready"

// put gives the tree that is checked out the environment of its time, as .venv, and makes it where there is none. The others are kept
// elsewhere.
func (p *pyEnvironments) put(ctx context.Context, tree string) error {
	if p.spoiled {
		return nil
	}
	when, err := p.when(ctx)
	if err != nil {
		return err
	}
	of := eraOf(when)
	if err := p.broken[of.name]; err != nil {
		return err
	}
	env := filepath.Join(tree, ".venv")
	now, err := os.ReadFile(filepath.Join(env, ready))
	switch {
	case string(now) == of.name:
		return p.versions(env, tree)
	case err == nil:
		err = errors.Join(os.MkdirAll(p.folder, 0o755), os.Rename(env, filepath.Join(p.folder, filepath.Base(string(now)))))
	default:
		err = removeAll(env) // it was not ended
	}
	if err != nil {
		return err
	}
	err = os.Rename(filepath.Join(p.folder, of.name), env)
	if errors.Is(err, os.ErrNotExist) {
		if err = p.make(ctx, tree, env, &of); err != nil && ctx.Err() == nil {
			err = fmt.Errorf("the environment of %s: %w", of.name, err)
			p.broken[of.name] = err
		}
	}
	if err != nil {
		return err
	}
	return p.versions(env, tree)
}

// versionFile is one that builds write, and that trees need.
const versionFile = "_version.py"

// kept is a folder of an environment with the files of versions, as they lie in the tree.
func kept(env string) string { return filepath.Join(env, "histories-versions") }

// versions puts the files of versions into a tree that has the folders for them.
func (p *pyEnvironments) versions(env, tree string) error {
	return copyVersions(kept(env), tree, false)
}

// copyVersions copies the files of versions from a folder, which may be missing, to another one that lacks them.
func copyVersions(from, to string, folders bool) error {
	source, err := os.OpenRoot(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer source.Close()
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(source.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() != versionFile {
			return err
		}
		if folders {
			if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
		}
		if _, err := root.Stat(path.Dir(name)); err != nil {
			return nil //nolint:nilerr // the package has another name there
		}
		if _, err := root.Lstat(name); err == nil {
			return nil
		}
		text, err := source.ReadFile(name)
		if err != nil {
			return err
		}
		return root.WriteFile(name, text, 0o600)
	})
}

// spoil says that the environment in use gets what it should not have. It stays in use, for all trees, until it is restored; if that
// never happens, it is made again.
func (p *pyEnvironments) spoil(tree string) (restore func() error, err error) {
	whole := filepath.Join(tree, ".venv", ready)
	if err := os.Rename(whole, whole+".old"); err != nil {
		return nil, err
	}
	p.spoiled = true
	return func() error {
		p.spoiled = false
		return os.Rename(whole+".old", whole)
	}, nil
}

// when is the date of the tree that is checked out. Commits that were made for a case have none: that of an ancestor counts.
func (p *pyEnvironments) when(ctx context.Context) (time.Time, error) {
	out, err := p.repository.Git(ctx, "log", "--first-parent", "--format=%ct", "-n", "8", "HEAD")
	if err != nil {
		return time.Time{}, err
	}
	for field := range strings.FieldsSeq(out) {
		if seconds, err := strconv.ParseInt(field, 10, 64); err == nil && seconds > 0 {
			return time.Unix(seconds, 0).UTC(), nil
		}
	}
	return time.Time{}, errors.New("no commit of the tree has a date")
}

func (p *pyEnvironments) make(ctx context.Context, tree, env string, of *era) error {
	if err := os.MkdirAll(p.folder, 0o755); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	if _, err := os.Stat(p.tools(ready)); err != nil {
		if err := command(ctx, "python3", "-m", "venv", "--clear", filepath.Join(p.folder, "tools")); err != nil {
			return err
		}
		if err := command(ctx, p.tools("pip"), "install", "-q", "-U", "pip", "build"); err != nil {
			return err
		}
		if err := os.WriteFile(p.tools(ready), nil, 0o600); err != nil {
			return err
		}
	}
	if err := command(ctx, of.python, "-m", "venv", "--without-pip", env); err != nil {
		return err
	}
	sites, err := filepath.Glob(filepath.Join(env, "lib", "python3*", "site-packages"))
	if err != nil || len(sites) != 1 {
		return fmt.Errorf("it has %d folders of packages", len(sites))
	}
	needs, about, err := p.needs(ctx, strings.TrimPrefix(filepath.Base(filepath.Dir(sites[0])), "python"))
	if err != nil {
		return err
	}
	if err := os.CopyFS(kept(env), os.DirFS(kept(filepath.Join(p.folder, "metadata")))); err != nil {
		return err
	}
	if err := p.install(ctx, env, of.date, needs); err != nil {
		return err
	}
	return errors.Join(p.project(ctx, env, sites[0], about, tree), os.WriteFile(filepath.Join(env, ready), []byte(of.name), 0o600))
}

// needs are what the tree that is checked out needs to be tested, and the folder with its metadata, which may be missing.
func (p *pyEnvironments) needs(ctx context.Context, python string) (needs []string, about string, err error) {
	copied := filepath.Join(p.folder, "copy")
	defer func() { err = errors.Join(err, removeAll(copied)) }()
	if err := errors.Join(removeAll(copied), os.MkdirAll(filepath.Join(copied, "tree"), 0o755)); err != nil {
		return nil, "", err
	}
	if _, err := p.repository.Git(ctx, "--work-tree="+filepath.Join(copied, "tree"), "checkout-index", "-q", "-a", "-f"); err != nil {
		return nil, "", err
	}
	script, metadata := filepath.Join(p.folder, "install.py"), filepath.Join(p.folder, "metadata")
	if err := errors.Join(os.WriteFile(script, pyInstall, 0o600), removeAll(metadata), os.MkdirAll(metadata, 0o755)); err != nil {
		return nil, "", err
	}
	if err := command(ctx, p.tools("python"), script, filepath.Join(copied, "tree"), metadata, python); err != nil {
		return nil, "", err
	}
	list, err := os.ReadFile(filepath.Join(metadata, "needs"))
	if err != nil {
		return nil, "", err
	}
	if err := errors.Join(os.MkdirAll(kept(metadata), 0o755), copyVersions(filepath.Join(copied, "tree"), kept(metadata), true)); err != nil {
		return nil, "", err
	}
	if found, err := filepath.Glob(filepath.Join(metadata, "*.dist-info")); err == nil && len(found) == 1 {
		about = found[0]
	}
	for line := range strings.Lines(string(list)) {
		if line = strings.TrimSpace(line); requirement.MatchString(line) {
			needs = append(needs, line)
		}
	}
	return needs, about, nil
}

// requirement begins with a name, and so is no option.
var requirement = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*`)

// pinned is a version that a requirement asks for.
var pinned = regexp.MustCompile(`===?[^,\]]*$`)

// install installs requirements as they were at a date, without code of theirs being run: all at once, with the versions that
// are pinned, without them, without any, or each that can be.
func (p *pyEnvironments) install(ctx context.Context, env, date string, needs []string) error {
	pip := func(needs ...string) error {
		err := command(ctx, p.tools("pip"), append([]string{
			"--python", filepath.Join(env, "bin", "python"), "install", "-q",
			"--only-binary=:all:", "--uploaded-prior-to", date, "--",
		}, needs...)...)
		return err
	}
	if err := pip(needs...); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	names := make([]string, len(needs))
	for i, need := range needs {
		needs[i] = pinned.ReplaceAllString(need, "") // the date says which
		names[i] = requirement.FindString(need)
	}
	for _, list := range [][]string{needs, names} {
		if err := pip(list...); err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	for _, name := range names {
		if err := pip(name); err != nil && name == "pytest" {
			return err
		}
	}
	return ctx.Err()
}

// project leads to the tree in place of the project: its metadata, its programs and a path file are installed, and a release of it that
// something else needed is not.
func (p *pyEnvironments) project(ctx context.Context, env, site, about, tree string) error {
	files := map[string]string{"histories.pth": filepath.Join(tree, "src") + "\n" + tree + "\n"}
	if about != "" {
		name, _, _ := strings.Cut(filepath.Base(about), "-")
		if err := command(ctx, p.tools("pip"), "--python", filepath.Join(env, "bin", "python"), "uninstall", "-q", "-y", "--", name); err != nil {
			return err
		}
		if err := os.CopyFS(filepath.Join(site, filepath.Base(about)), os.DirFS(about)); err != nil {
			return err
		}
		points, err := os.ReadFile(filepath.Join(about, "entry_points.txt"))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		for _, m := range script.FindAllStringSubmatch(section(string(points), "console_scripts"), -1) {
			top, _, _ := strings.Cut(m[3], ".")
			files[filepath.Join("..", "..", "..", "bin", m[1])] = fmt.Sprintf("#!%s\nimport sys\nfrom %s import %s\nsys.exit(%s())\n", filepath.Join(env, "bin", "python"), m[2], top, m[3])
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(site, name), []byte(text), 0o755); err != nil {
			return err
		}
	}
	return nil
}

// script is a program of a project: its name, its module and what is called there.
var script = regexp.MustCompile(`(?m)^([\w.-]+) *= *([\w.]+) *: *([\w.]+)`)

// section is a part of a file with headings in brackets.
func section(text, name string) string {
	_, after, _ := strings.Cut(text, "["+name+"]")
	in, _, _ := strings.Cut(after, "\n[")
	return in
}

// command runs a command. Projects that take their version from git get one that is newer than all.
func command(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // python3 and pip
	cmd.Env = append(os.Environ(), "SETUPTOOLS_SCM_PRETEND_VERSION=99.0", "PBR_VERSION=99.0", "PIP_NO_INPUT=1")
	cmd.WaitDelay = 5 * time.Second
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return fmt.Errorf("%s: %w: %s", filepath.Base(name), err, lines[len(lines)-1])
	}
	return nil
}

// removeAll removes a folder in which tests may have left folders that nobody can write to.
func removeAll(folder string) error {
	err := os.RemoveAll(folder)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(folder, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(name, 0o700)
		}
		return nil
	})
	return os.RemoveAll(folder)
}
