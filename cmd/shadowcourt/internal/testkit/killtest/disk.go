package killtest

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// disk repeats what a program did to the files of a folder.
type disk struct {
	root  string
	names *node
	open  map[int64]*handle // by file descriptor
	calls []call
	said  *[]Said
}

// handle is an open file or folder; node is nil for what is elsewhere.
type handle struct {
	node     *node
	path     string
	position int64
	appends  bool
}

func (d *disk) run(line int) error {
	for i := range d.calls {
		c := &d.calls[i]
		if c.at > line {
			return nil
		}
		if err := d.do(c); err != nil {
			return fmt.Errorf("line %d: %s(%.200s): %w", c.at, c.name, strings.Join(c.args, ", "), err)
		}
	}
	return nil
}

func (d *disk) do(c *call) error {
	switch c.name {
	case "openat", "open", "creat":
		return d.openFile(c)
	case "write", "pwrite64":
		return d.write(c)
	case "renameat", "renameat2", "rename":
		return d.rename(c)
	case "unlinkat", "unlink", "rmdir":
		return d.remove(c)
	case "mkdirat", "mkdir":
		path, err := d.path(c, "mkdirat", 0)
		if err != nil {
			return err
		}
		return d.set(c, path, &node{folder: true, names: map[string]*node{}, mode: 0o700})
	case "linkat", "link":
		return d.link(c)
	case "truncate", "symlink", "symlinkat":
		return d.foreign(c)
	}
	fd, err := c.number(0)
	if err != nil {
		return err
	}
	switch h := d.open[fd]; {
	case c.name == "dup2" || c.name == "dup3" || c.name == "dup" || c.name == "fcntl" && strings.HasPrefix(c.args[1], "F_DUPFD"):
		if h != nil {
			d.open[c.result] = h
		}
	case c.name == "copy_file_range":
		to, err := c.number(2)
		if err != nil || d.open[to] == nil {
			return err
		}
		return errors.New("the copy of a file is not known")
	case h == nil || h.node == nil:
		if c.name == "close" {
			delete(d.open, fd)
		}
	case c.name == "close":
		delete(d.open, fd)
	case c.name == "lseek":
		h.position = c.result
	case c.name == "ftruncate":
		size, err := c.number(1)
		h.node.pending = append(h.node.pending, change{at: c.at, offset: size})
		return err
	case c.name == "fsync" || c.name == "fdatasync":
		h.node.sync(c.from)
	case c.name == "fcntl":
	default:
		return errors.New("this call is not known for files")
	}
	return nil
}

// foreign rejects a call that is not repeated where it is about the folder.
func (d *disk) foreign(c *call) error {
	for i := range c.args {
		if text, err := c.data(i); err == nil && d.inside(string(text)) {
			return errors.New("this call is not known for files")
		}
	}
	return nil
}

// inside says whether a path is in the folder: relative ones are.
func (d *disk) inside(path string) bool {
	return !filepath.IsAbs(path) || path == d.root || strings.HasPrefix(path, d.root+"/")
}

// path is that of a call whose name with a folder is at, and whose argument i is the path, or the folder before it.
func (d *disk) path(c *call, at string, i int) (string, error) {
	base := d.root
	if c.name == at || c.name == at+"2" {
		if fd, err := c.number(i); err == nil {
			h := d.open[fd]
			if h == nil {
				return "/elsewhere", nil
			}
			base = h.path
		}
		i++
	}
	text, err := c.data(i)
	if err != nil {
		return "", err
	}
	if filepath.IsAbs(string(text)) {
		return filepath.Clean(string(text)), nil
	}
	return filepath.Join(base, string(text)), nil
}

// find gives the folder that a path is in; nil for elsewhere.
func (d *disk) find(path string) (folder *node, name string, err error) {
	if !d.inside(path) || path == d.root {
		return nil, "", nil
	}
	relative, err := filepath.Rel(d.root, path)
	if err != nil {
		return nil, "", err
	}
	parts := strings.Split(relative, "/")
	folder = d.names
	for _, part := range parts[:len(parts)-1] {
		if folder = folder.now(part); folder == nil || !folder.folder {
			return nil, "", fmt.Errorf("%s is not there", path)
		}
	}
	return folder, parts[len(parts)-1], nil
}

// set changes what a name is.
func (d *disk) set(c *call, path string, is *node) error {
	folder, name, err := d.find(path)
	if err == nil && folder != nil {
		folder.pending = append(folder.pending, change{at: c.at, names: map[string]*node{name: is}})
	}
	return err
}

func (d *disk) openFile(c *call) error {
	path, err := d.path(c, "openat", 0)
	if err != nil {
		return err
	}
	flags := strings.Join(c.args, " ")
	h := &handle{path: path, appends: strings.Contains(flags, "O_APPEND")}
	d.open[c.result] = h
	if path == d.root {
		h.node = d.names
		return nil
	}
	folder, name, err := d.find(path)
	if err != nil || folder == nil {
		return err
	}
	if h.node = folder.now(name); h.node == nil {
		h.node = &node{mode: 0o600}
		return d.set(c, path, h.node)
	}
	if strings.Contains(flags, "O_TRUNC") && h.node.size() > 0 {
		h.node.pending = append(h.node.pending, change{at: c.at})
	}
	return nil
}

func (d *disk) write(c *call) error {
	fd, err := c.number(0)
	if err != nil {
		return err
	}
	h := d.open[fd]
	if h == nil {
		text, err := c.data(1)
		*d.said = append(*d.said, Said{c.at, fd, string(text[:min(int64(len(text)), c.result)])})
		return err
	}
	if h.node == nil {
		return nil
	}
	text, err := c.data(1)
	if err != nil {
		return err
	}
	text = text[:min(int64(len(text)), c.result)]
	offset := h.position
	if c.name == "pwrite64" {
		if offset, err = c.number(3); err != nil {
			return err
		}
	} else {
		if h.appends {
			offset = h.node.size()
		}
		h.position = offset + int64(len(text))
	}
	if len(text) > 0 {
		h.node.pending = append(h.node.pending, change{at: c.at, offset: offset, bytes: text})
	}
	return nil
}

func (d *disk) rename(c *call) error {
	second := 1
	if c.name != "rename" {
		second = 2
	}
	from, err := d.path(c, "renameat", 0)
	if err != nil {
		return err
	}
	to, err := d.path(c, "renameat", second)
	if err != nil {
		return err
	}
	old, name, err := d.find(from)
	if err != nil || old == nil {
		return err
	}
	folder, next, err := d.find(to)
	if err != nil {
		return err
	}
	is := old.now(name)
	if is == nil {
		return fmt.Errorf("%s is not there", from)
	}
	for _, h := range d.open {
		if h.path == from {
			h.path = to
		}
	}
	if folder == old { // at once
		old.pending = append(old.pending, change{at: c.at, names: map[string]*node{name: nil, next: is}})
		return nil
	}
	return errors.Join(d.set(c, to, is), d.set(c, from, nil))
}

func (d *disk) remove(c *call) error {
	path, err := d.path(c, "unlinkat", 0)
	if err != nil {
		return err
	}
	return d.set(c, path, nil)
}

func (d *disk) link(c *call) error {
	second := 1
	if c.name == "linkat" {
		second = 2
	}
	from, err := d.path(c, "linkat", 0)
	if err != nil {
		return err
	}
	to, err := d.path(c, "linkat", second)
	if err != nil {
		return err
	}
	folder, name, err := d.find(from)
	if err != nil || folder == nil {
		return err
	}
	return d.set(c, to, folder.now(name))
}
