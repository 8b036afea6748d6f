package run

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The bounds of code that is read for a finding.
const (
	maxCodeFile  = 4 << 20
	codeAround   = 3 // lines before and behind
	maxCodeBytes = 16 << 10
)

// code reads lines of files below a folder, of which the last one is kept. Not safe for concurrent use.
type code struct {
	root   *os.Root
	folder string // absolute
	name   string
	lines  []string
}

// ReadCode has findings that bring no code get the lines around them, from the files below a folder.
func (i *Dockets) ReadCode(folder string) error {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(absolute)
	if err != nil {
		return err
	}
	i.closers = append(i.closers, root.Close)
	i.code = (&code{root: root, folder: absolute}).around
	return nil
}

// around gives the lines around a line, and the number of the first; nothing where there are none. A file outside of the folder, a link
// out of it, and one that is large or no text is as if it were not there.
func (c *code) around(file string, line int) (text string, first int) {
	name := filepath.FromSlash(file)
	if filepath.IsAbs(name) {
		var err error
		if name, err = filepath.Rel(c.folder, name); err != nil {
			return "", 0
		}
	}
	if name != c.name {
		c.name, c.lines = name, c.read(name)
	}
	if line < 1 || line > len(c.lines) {
		return "", 0
	}
	first = max(1, line-codeAround)
	text = strings.Join(c.lines[first-1:min(len(c.lines), line+codeAround)], "\n")
	if len(text) > maxCodeBytes {
		return "", 0 // no lines that people write
	}
	return text, first
}

// read gives the lines of a file, none where it can't be read.
func (c *code) read(name string) []string {
	if !filepath.IsLocal(name) {
		return nil
	}
	info, err := c.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxCodeFile {
		return nil
	}
	f, err := c.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxCodeFile))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	return strings.Split(strings.ToValidUTF8(strings.ReplaceAll(string(data), "\r\n", "\n"), "\uFFFD"), "\n")
}
