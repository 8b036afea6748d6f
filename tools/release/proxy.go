package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/mod/sumdb/dirhash"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// proxy is a file-system module proxy, see https://go.dev/ref/mod#goproxy-protocol.
type proxy struct {
	dir  string
	date time.Time // of the versions that are added
}

// add adds a version whose go.mod is in a folder and whose zip file zip writes.
func (p *proxy) add(m module.Version, folder string, zip func(io.Writer) error) error {
	base, err := p.base(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o755); err != nil {
		return err
	}
	goMod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string    `json:"Version"`
		Time    time.Time `json:"Time"`
	}{m.Version, p.date.UTC()})
	if err != nil {
		return err
	}
	f, err := disk.Create(base + ".zip")
	if err != nil {
		return err
	}
	if err := zip(f); err != nil {
		f.Discard()
		return err
	}
	return errors.Join(f.Commit(), disk.Replace(base+".mod", goMod), disk.Replace(base+".info", info),
		p.list(filepath.Join(filepath.Dir(base), "list"), m.Version))
}

// base is the path of a version's files without their extensions.
func (p *proxy) base(m module.Version) (string, error) {
	path, err := module.EscapePath(m.Path)
	if err != nil {
		return "", err
	}
	version, err := module.EscapeVersion(m.Version)
	return filepath.Join(p.dir, filepath.FromSlash(path), "@v", version), err
}

// list adds a version to the list of a module.
func (p *proxy) list(name, version string) error {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	versions := strings.Fields(string(text))
	if !slices.Contains(versions, version) {
		versions = append(versions, version)
	}
	semver.Sort(versions)
	return disk.Replace(name, []byte(strings.Join(versions, "\n")+"\n"))
}

// sums are the lines of go.sum for a version that was added.
func (p *proxy) sums(m module.Version) ([]string, error) {
	base, err := p.base(m)
	if err != nil {
		return nil, err
	}
	ofZip, err := dirhash.HashZip(base+".zip", dirhash.Hash1)
	if err != nil {
		return nil, err
	}
	ofMod, err := dirhash.Hash1([]string{"go.mod"}, func(string) (io.ReadCloser, error) { return os.Open(base + ".mod") })
	if err != nil {
		return nil, err
	}
	return []string{
		m.Path + " " + m.Version + " " + ofZip,
		m.Path + " " + m.Version + "/go.mod " + ofMod,
	}, nil
}

// addLines adds lines to a sorted file.
func addLines(name string, lines []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	all := slices.Concat(strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), lines)
	slices.Sort(all)
	return os.WriteFile(name, []byte(strings.Join(all, "\n")+"\n"), 0o644)
}
