package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// checkout is a writable copy of a module, and the places its tests run in. All paths under root are written in one
// fixed form in what is kept, so that no run can be told from another by its folder.
type checkout struct {
	module module
	root   string
	host   *machine
	files  sourceFiles
}

// machine is what all checkouts share.
type machine struct {
	launcher  string // this program, where every user may run it
	test2json string // the go command's tool
	goEnv     map[string]string
}

// sourceFiles are the Go files of a package on this system, by what they are for.
type sourceFiles struct {
	product []string
	tests   []string
}

func (c *checkout) source() string {
	return filepath.Join(c.root, "src", filepath.FromSlash(c.module.path))
}
func (c *checkout) folder() string          { return filepath.Join(c.source(), c.module.folder) }
func (c *checkout) temp() string            { return filepath.Join(c.root, "tmp") }
func (c *checkout) home() string            { return filepath.Join(c.root, "home") }
func (c *checkout) bin(name string) string  { return filepath.Join(c.root, "bin", name+".test") }
func (c *checkout) note(name string) string { return filepath.Join(c.root, name) }

// newMachine puts a copy of this program where unprivileged users can run it.
func newMachine(ctx context.Context, work string) (*machine, error) {
	h := &machine{launcher: filepath.Join(work, "launcher"), goEnv: map[string]string{}}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	program, err := os.ReadFile(self)
	if err != nil {
		return nil, err
	}
	if err := os.Remove(h.launcher); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.WriteFile(h.launcher, program, 0o755); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return nil, err
	}
	tool, err := exec.CommandContext(ctx, "go", "tool", "-n", "test2json").Output()
	if err != nil {
		return nil, err
	}
	h.test2json = strings.TrimSpace(string(tool))
	return h, json.Unmarshal(out, &h.goEnv)
}

// newCheckout downloads the module (through the go command, so its checksum is verified) and copies it below root.
func newCheckout(ctx context.Context, h *machine, m module, root string) (*checkout, error) {
	c := &checkout{module: m, root: root, host: h}
	if err := os.RemoveAll(root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(c.bin("x")), 0o755); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.path+"@"+m.version)
	cmd.Dir = root
	out, err := cmd.Output()
	var download struct {
		Dir   string `json:"Dir"`
		Error string `json:"Error"`
	}
	if jsonErr := json.Unmarshal(out, &download); jsonErr != nil || download.Dir == "" {
		return nil, fmt.Errorf("downloading %s@%s: %s %w", m.path, m.version, download.Error, err)
	}
	if err := copyTree(download.Dir, c.source()); err != nil {
		return nil, err
	}
	if err := c.complete(ctx); err != nil {
		return nil, err
	}
	return c, c.list(ctx)
}

// complete gives a module of the time before modules its go.mod.
func (c *checkout) complete(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(c.source(), "go.mod")); err == nil {
		return nil
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "init", c.module.path)
	cmd.Dir = c.source()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod init %s: %w: %s", c.module.path, err, out)
	}
	return nil
}

// list finds the files that are built here.
func (c *checkout) list(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "list", "-mod=mod", "-race", "-json=GoFiles,CgoFiles,TestGoFiles,XTestGoFiles", ".")
	cmd.Dir = c.folder()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list %s: %w", c.module.pkg(), err)
	}
	var listed struct {
		GoFiles      []string `json:"GoFiles"`
		CgoFiles     []string `json:"CgoFiles"`
		TestGoFiles  []string `json:"TestGoFiles"`
		XTestGoFiles []string `json:"XTestGoFiles"`
	}
	if err := json.Unmarshal(out, &listed); err != nil {
		return err
	}
	c.files = sourceFiles{product: listed.GoFiles, tests: append(listed.TestGoFiles, listed.XTestGoFiles...)}
	return nil
}

// freshFolders empties the folders that a run may have written to.
func (c *checkout) freshFolders() error {
	for _, dir := range []string{c.temp(), c.home()} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		if err := os.Chmod(dir, 0o777); err != nil { //nolint:gosec // tests run as an unprivileged user write here
			return err
		}
	}
	return nil
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if entry.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(string(data), "#!") {
			mode = 0o755
		}
		return os.WriteFile(target, data, mode)
	})
}

// normalise writes the machine's paths in the one form that all runs share.
func (c *checkout) normalise(text string) string {
	return strings.NewReplacer(
		filepath.Join(c.root, "src"), "/src",
		c.temp(), "/tmp",
		c.home(), "/home/ci",
		filepath.Dir(c.bin("x")), "/tmp/go-build",
		c.host.goEnv["GOMODCACHE"], "/go/pkg/mod",
		c.host.goEnv["GOROOT"], "/usr/local/go",
	).Replace(text)
}
