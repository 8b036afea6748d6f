package repo

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	maxFiles     = 100_000
	maxFileBytes = 4 << 20
	// sniffBytes is where a NUL makes a file binary, as for git.
	sniffBytes = 8000
)

var (
	// ErrTooLarge: the file, or the folder, is over the limit.
	ErrTooLarge = errors.New("too large")
	// ErrBinary: the file is no text.
	ErrBinary = errors.New("a binary file")
	// ErrNoLine: the file has no such line.
	ErrNoLine = errors.New("no such line")
)

// Source is the folder of a module under test. Its methods may be called concurrently. The list of files and the changes
// are those of the moment of OpenSource; lines are read when they are asked for.
type Source struct {
	root     *os.Root
	names    []string // the last parts of the folder's name and of the module's: where its frames begin elsewhere
	files    []string // sorted
	known    map[string]bool
	byBase   map[string][]string
	since    string // the commit to compare with; empty for none
	changes  []Change
	touched  map[string][]Hunk
	oldTests map[string][]byte // changed test files as they are in the revision
	began    string            // see Fork
	ahead    int

	goModules func() []goModule          // made when they are first asked for
	testIndex func() map[string][]string // files by the tests that they define
	parsed    memo[*parsedFile]
	same      memo[map[string]bool] // functions of changed test files
}

// memo keeps what was made of files, by their paths. Who asks for what is being made waits for it.
type memo[V any] struct {
	mu    sync.Mutex
	known map[string]V
}

// maxKept bounds the files of which a memo keeps something.
const maxKept = 4096

func (m *memo[V]) of(file string, made func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.known[file]
	if !ok {
		if v = made(); m.known == nil {
			m.known = map[string]V{}
		}
		if len(m.known) < maxKept {
			m.known[file] = v
		}
	}
	return v
}

// OpenSource lists the files of a folder and, with a revision, what changed since then. Without a revision no repository is needed. Left out are
// symbolic links, hidden folders and installed packages (node_modules). Errors: ErrTooLarge for more than 100,000 files, and those of files
// and of git. The caller closes it.
func OpenSource(ctx context.Context, dir, since string) (_ *Source, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	t := &Source{
		root: root, known: map[string]bool{}, byBase: map[string][]string{}, touched: map[string][]Hunk{}, oldTests: map[string][]byte{},
	}
	t.goModules = sync.OnceValue(t.listModules)
	t.testIndex = sync.OnceValue(t.indexTests)
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Close())
		}
	}()
	if err := t.list(ctx); err != nil {
		return nil, fmt.Errorf("source %s: %w", dir, err)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	t.names = []string{filepath.Base(abs)}
	if name := t.moduleName(); name != "" {
		t.names = append(t.names, name)
	}
	if since != "" {
		repository, err := Open(ctx, dir)
		if err != nil {
			return nil, err
		}
		if err := t.compareWith(ctx, repository, since); err != nil {
			return nil, fmt.Errorf("source %s: %w", dir, err)
		}
	}
	return t, nil
}

// Close lets go of the folder.
func (t *Source) Close() error { return t.root.Close() }

// list walks the folder in lexical order.
func (t *Source) list(ctx context.Context) error {
	return fs.WalkDir(t.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			return nil //nolint:nilerr // a folder that may not be read has no frames
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		case len(t.files) == maxFiles:
			return fmt.Errorf("%w: more than %d files", ErrTooLarge, maxFiles)
		}
		t.files = append(t.files, name)
		t.known[name] = true
		t.byBase[entry.Name()] = append(t.byBase[entry.Name()], name)
		return nil
	})
}

var moduleLine = regexp.MustCompile(`(?m)^module[ \t]+"?([^\s"]+)`)

// moduleName is the last part of a Go module's path that is no version.
func (t *Source) moduleName() string {
	text, err := t.read("go.mod")
	if err != nil {
		return ""
	}
	found := moduleLine.FindSubmatch(text)
	if found == nil {
		return ""
	}
	dir, last := path.Split(string(found[1]))
	if n, ok := strings.CutPrefix(last, "v"); ok && dir != "" {
		if _, err := strconv.Atoi(n); err == nil {
			last = path.Base(dir)
		}
	}
	return last
}

// read gives the text of a listed file.
func (t *Source) read(name string) ([]byte, error) {
	if !t.known[name] {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	data, err := t.readFile(name)
	if err == nil && isBinary(data) {
		err = ErrBinary
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// readFile reads a regular file within the folder, whatever has become of it since it was listed.
func (t *Source) readFile(name string) (_ []byte, err error) {
	info, err := t.root.Lstat(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fs.ErrNotExist
	}
	if info.Size() > maxFileBytes {
		return nil, ErrTooLarge
	}
	file, err := t.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = ErrTooLarge
	}
	return data, err
}

func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), sniffBytes)], 0) >= 0 }

// Digest is the SHA-256, in hexadecimal digits, of the listed files' names and contents and of the changes: the same for
// the same source. It reads everything.
func (t *Source) Digest(ctx context.Context) (string, error) {
	h := sha256.New()
	for _, name := range t.files {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		sum := sha256.New()
		file, err := t.root.Open(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it went away since it was listed, as temporary files of other programs do
		}
		if err != nil {
			return "", fmt.Errorf("source: %w", err)
		}
		if _, err := io.Copy(sum, file); err != nil {
			return "", errors.Join(fmt.Errorf("source: %w", err), file.Close())
		}
		if err := file.Close(); err != nil {
			return "", fmt.Errorf("source: %w", err)
		}
		fmt.Fprintf(h, "%q %x\n", name, sum.Sum(nil))
	}
	fmt.Fprintln(h, t.since)
	for _, c := range t.changes {
		fmt.Fprintf(h, "%q %q %q %v\n", c.Path, c.Kind, c.Role, c.Hunks)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

const (
	maxContext   = 50
	maxLineBytes = 500
)

// Excerpt is a part of a file.
type Excerpt struct {
	Path  string
	First int // the number of the first line
	Lines []string
}

// Excerpt gives the lines of a file from n before a line, counted from 1, to n after it, at most 50 on either side. Lines
// are cut at 500 bytes, and what is not UTF-8 is replaced. Errors: ErrNoLine, ErrBinary, ErrTooLarge, and one that wraps
// fs.ErrNotExist for a path that is not the slash-separated path of a listed file.
func (t *Source) Excerpt(path string, line, n int) (Excerpt, error) {
	data, err := t.read(path)
	if err != nil {
		return Excerpt{}, fmt.Errorf("source: %w", err)
	}
	lines := splitLines(string(data))
	if line < 1 || line > len(lines) {
		return Excerpt{}, fmt.Errorf("source: %s: %w: %d of %d", path, ErrNoLine, line, len(lines))
	}
	n = max(0, min(n, maxContext))
	first, last := max(1, line-n), min(len(lines), line+n)
	e := Excerpt{Path: path, First: first, Lines: make([]string, 0, last-first+1)}
	for _, text := range lines[first-1 : last] {
		e.Lines = append(e.Lines, tidy(text))
	}
	return e, nil
}

// splitLines gives the lines without their ends; a file that ends with a line end has no empty last line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines
}

func tidy(line string) string {
	if len(line) > maxLineBytes {
		end := maxLineBytes
		for end > maxLineBytes-utf8.UTFMax && !utf8.RuneStart(line[end]) {
			end--
		}
		line = line[:end]
	}
	return strings.ToValidUTF8(line, "\uFFFD")
}
