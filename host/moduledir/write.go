package moduledir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// keep puts a module that leaves its place into the history, if it is not there.
func (d *Dir) keep(name string, module []byte) error {
	digest := Digest(module)
	if _, err := d.kept(name, digest); err == nil {
		return d.noteLeaving(name, digest)
	}
	if err := os.MkdirAll(d.history(name), 0o755); err != nil {
		return err
	}
	if err := replaceFile(d.keptFile(name, digest), module, 0o644); err != nil {
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
	return replaceFile(filepath.Join(d.history(name), file), []byte(text.String()), 0o644)
}

// stage writes a module beside its place, with the permissions of what is there.
func (d *Dir) stage(change Change, module []byte) (step, error) {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(d.file(change.Name)); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := writeBeside(d.file(change.Name), module, mode)
	return step{Change: change, from: temp}, err
}

// replaceFile writes a file as a whole, or leaves it as it was.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	temp, err := writeBeside(path, data, mode)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return syncDir(filepath.Dir(path))
}

// writeBeside writes a file of a name of its own beside path, to the disk. No
// reader of the folder takes it for a module.
func writeBeside(path string, data []byte, mode fs.FileMode) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// syncDir has the names in a folder reach the disk.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	err = f.Sync()
	return errors.Join(err, f.Close())
}
