package killtest

import (
	"context"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// node is a file or a folder. What is durable survives a loss of power; what is pending was done and not synced, and may be lost from any
// place on.
type node struct {
	folder bool
	// text is the content of a file, names are those in a folder, at the last sync.
	text  []byte
	names map[string]*node
	mode  fs.FileMode
	// pending are changes since.
	pending []change
}

// change is one of a file or a folder.
type change struct {
	at int
	// of a file: bytes at an offset, or without bytes the size.
	offset int64
	bytes  []byte
	// of a folder: names and what they are from then on, nil for nothing.
	names map[string]*node
}

func (n *node) apply(c *change) {
	switch {
	case n.folder:
		for name, is := range c.names {
			if is == nil {
				delete(n.names, name)
			} else {
				n.names[name] = is
			}
		}
	case c.bytes == nil:
		n.resize(c.offset)
	default:
		n.resize(max(int64(len(n.text)), c.offset+int64(len(c.bytes))))
		copy(n.text[c.offset:], c.bytes)
	}
}

func (n *node) resize(size int64) {
	if size <= int64(len(n.text)) {
		n.text = n.text[:size]
		return
	}
	n.text = append(n.text, make([]byte, size-int64(len(n.text)))...)
}

// sync makes durable what was done before a line of the log.
func (n *node) sync(before int) {
	i := 0
	for ; i < len(n.pending) && n.pending[i].at < before; i++ {
		n.apply(&n.pending[i])
	}
	n.pending = slices.Clone(n.pending[i:])
}

// now is what a name in a folder is, whether that is durable or not.
func (n *node) now(name string) *node {
	for _, c := range slices.Backward(n.pending) {
		if is, ok := c.names[name]; ok {
			return is
		}
	}
	return n.names[name]
}

// size is that of a file with what is pending.
func (n *node) size() int64 {
	size := int64(len(n.text))
	for i := range n.pending {
		if c := &n.pending[i]; c.bytes == nil {
			size = c.offset
		} else {
			size = max(size, c.offset+int64(len(c.bytes)))
		}
	}
	return size
}

// Said is what a program told somebody: by its standard output, or over a connection.
type Said struct {
	At   int // line of the log
	FD   int64
	Text string
}

// Power is a run of a program of which it is known what it did to the files of a folder, in which order, and what it synced.
type Power struct {
	root  string
	calls []call
	// Lines of the log: a loss of power is at one of them.
	Lines int
	Said  []Said
	start *node
}

// RunTraced runs the program to its end, and records what it does to its folder.
func (p Program) RunTraced(ctx context.Context) (*Power, Ending, error) {
	return p.traced(ctx, func(cmd *exec.Cmd) (Ending, error) { return end(ctx, cmd, p, -1) })
}

func (p Program) traced(ctx context.Context, run func(*exec.Cmd) (Ending, error)) (*Power, Ending, error) {
	root, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return nil, Ending{}, err
	}
	power := &Power{root: root}
	if power.start, err = load(root); err != nil {
		return nil, Ending{}, err
	}
	folder, err := os.MkdirTemp("", "killtest-")
	if err != nil {
		return nil, Ending{}, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	log := filepath.Join(folder, "log")
	ending, err := run(p.Trace(ctx, log))
	if err == nil {
		err = awaitLog(ctx, log)
	}
	if err != nil {
		return nil, ending, err
	}
	power.Lines, err = readCalls(log, func(c *call) error {
		power.calls = append(power.calls, *c)
		return nil
	})
	if err != nil {
		return nil, ending, err
	}
	return power, ending, power.disk(power).run(power.Lines)
}

// Changing is a random line of the log behind a call that changed a file of the folder.
func (p *Power) Changing(random *rand.Rand) int {
	for range 100 {
		c := &p.calls[random.IntN(len(p.calls))]
		if strings.HasPrefix(c.name, "rename") || strings.HasPrefix(c.name, "link") || c.name == "pwrite64" || c.name == "fsync" || strings.HasPrefix(c.name, "unlink") {
			return c.at
		}
	}
	return p.Lines / 2
}

// disk is what was there before the run. What the program says is noted in a Power.
func (p *Power) disk(note *Power) *disk {
	return &disk{root: p.root, calls: p.calls, said: &note.Said, names: clone(p.start, map[*node]*node{}), open: map[int64]*handle{}}
}

// load reads a folder as it is: all of it is durable.
func load(path string) (*node, error) {
	n := &node{folder: true, names: map[string]*node{}, mode: 0o700}
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, entry := range list {
		name := filepath.Join(path, entry.Name())
		if entry.IsDir() {
			n.names[entry.Name()], err = load(name)
		} else {
			f := &node{mode: 0o600}
			f.text, err = os.ReadFile(name)
			n.names[entry.Name()] = f
		}
		if err != nil {
			return nil, err
		}
	}
	return n, nil
}

func clone(n *node, seen map[*node]*node) *node {
	if seen[n] != nil {
		return seen[n]
	}
	c := &node{folder: n.folder, text: slices.Clone(n.text), mode: n.mode}
	seen[n] = c
	if n.folder {
		c.names = map[string]*node{}
	}
	for name, is := range n.names {
		c.names[name] = clone(is, seen)
	}
	return c
}

// Cut writes into a new folder what is there after a loss of power at a line of the log: what was synced before, and of the rest of each
// file and folder a random beginning, whose last write may be torn. Without random the program alone was killed: all that it did is there.
func (p *Power) Cut(random *rand.Rand, line int, folder string) error {
	d := p.disk(&Power{})
	if err := d.run(line); err != nil {
		return err
	}
	return lose(d.names, random, folder)
}

func lose(n *node, random *rand.Rand, path string) error {
	kept := len(n.pending)
	if random != nil {
		kept = random.IntN(len(n.pending) + 1)
	}
	for i := range n.pending[:kept] {
		c := n.pending[i]
		if random != nil && i == kept-1 && len(c.bytes) > 1 && random.IntN(2) == 0 {
			c.bytes = c.bytes[:random.IntN(len(c.bytes)-1)+1]
		}
		n.apply(&c)
	}
	if !n.folder {
		return os.WriteFile(path, n.text, n.mode)
	}
	if err := os.MkdirAll(path, n.mode); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(n.names)) {
		if strings.HasSuffix(name, "-shm") {
			continue // memory that processes share: SQLite makes it again
		}
		if err := lose(n.names[name], random, filepath.Join(path, name)); err != nil {
			return err
		}
	}
	return nil
}
