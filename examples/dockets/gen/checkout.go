package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// checkout is a writable copy of a module, and the places its tests run in. All paths under root are written in one
// fixed form in what is kept, so that no run can be told from another by its folder.
type checkout struct {
	module module
	root   string
}

func (c *checkout) source() string {
	return filepath.Join(c.root, "src", filepath.FromSlash(c.module.path))
}
func (c *checkout) temp() string     { return filepath.Join(c.root, "tmp") }
func (c *checkout) buildDir() string { return filepath.Join(c.root, "build") }
func (c *checkout) home() string     { return filepath.Join(c.root, "home") }

// newCheckout downloads the module (through the go command, so its checksum is verified) and copies it below root.
func newCheckout(ctx context.Context, m module, root string) (*checkout, error) {
	c := &checkout{module: m, root: root}
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
	return c, c.complete(ctx)
}

// complete gives a module of the time before modules its go.mod.
func (c *checkout) complete(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(c.source(), "go.mod")); err == nil {
		return nil
	}
	path := c.module.path
	cmd := exec.CommandContext(ctx, "go", "mod", "init", path)
	cmd.Dir = c.source()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod init %s: %w: %s", path, err, out)
	}
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
	return os.MkdirAll(c.buildDir(), 0o755)
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
		return os.WriteFile(target, data, 0o644)
	})
}

// normalise writes the machine's paths in the one form that all runs share.
func (c *checkout) normalise(stream string) string {
	return buildFolder.ReplaceAllString(strings.NewReplacer(
		filepath.Join(c.root, "src"), "/src",
		c.temp(), "/tmp",
		c.buildDir(), "/tmp/build",
		c.home(), "/home/ci",
		goEnv("GOMODCACHE"), "/go/pkg/mod",
		goEnv("GOROOT"), "/usr/local/go",
	).Replace(stream), "/tmp/go-build")
}

// buildFolder is the folder of one go command.
var buildFolder = regexp.MustCompile(`/tmp/build/go-build\d+`)

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output() //nolint:noctx // it answers at once
	if err != nil {
		panic(err) // the go command was there a moment ago
	}
	return strings.TrimSpace(string(out))
}
