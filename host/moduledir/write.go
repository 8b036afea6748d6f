package moduledir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// keep puts a module that leaves its place into the history, if it is not there.
func (d *Dir) keep(name string, module []byte) error {
	digest := Digest(module)
	if _, err := d.kept(name, digest); err == nil {
		return d.noteLeaving(name, digest)
	}
	if err := disk.MakeFolder(d.history(name), 0o755); err != nil {
		return err
	}
	if err := disk.Place(d.keptFile(name, digest), module, 0o644); err != nil {
		return err
	}
	return d.noteLeaving(name, digest)
}

// order reads the digests of what was in place before, oldest first.
func (d *Dir) order(name string) ([]string, error) { return d.list(name, orderFile) }

// list reads a file of digests.
func (d *Dir) list(name, file string) ([]string, error) {
	path := filepath.Join(d.history(name), file)
	text, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	digests := strings.Fields(string(text))
	for _, digest := range digests {
		if !isDigest(digest) {
			return nil, fmt.Errorf("%s: %q is no digest", path, digest)
		}
	}
	return digests, nil
}

func (d *Dir) setList(name, file string, digests []string) error {
	var text strings.Builder
	for _, digest := range digests {
		text.WriteString(digest + "\n")
	}
	return disk.Place(filepath.Join(d.history(name), file), []byte(text.String()), 0o644)
}

// stage writes a module beside its place, with the permissions of what is there.
func (d *Dir) stage(change Change, module []byte) (step, error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(d.file(change.Name)); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := disk.Stage(d.file(change.Name), module, mode)
	return step{Change: change, file: file}, err
}
