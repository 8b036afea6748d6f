package repo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// Write writes the tree into an empty folder.
func (t *Tree) Write(ctx context.Context, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	blobs := &blobs{repository: t.repository}
	for _, path := range t.Paths() {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, blobs.close())
		}
		if err := t.writeFile(ctx, root, blobs, path); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", path, err), blobs.close())
		}
	}
	return blobs.close()
}

// writeFile writes one file. The root keeps paths that lead through a link inside the folder.
func (t *Tree) writeFile(ctx context.Context, root *os.Root, blobs *blobs, path string) error {
	f, name := t.files[path], filepath.FromSlash(path)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	content, err := t.open(ctx, blobs, path, f)
	if err != nil {
		return err
	}
	defer content.Close()
	if f.Mode == Symlink {
		target, err := io.ReadAll(io.LimitReader(content, 1<<16))
		if err != nil {
			return err
		}
		return root.Symlink(string(target), name)
	}
	mode := os.FileMode(0o644)
	if f.Mode == Executable {
		mode = 0o755
	}
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

// open gives the content of a file, which has to be closed before the next one is opened.
func (t *Tree) open(ctx context.Context, blobs *blobs, path string, f File) (io.ReadCloser, error) {
	if f.work {
		return t.repository.workingContent(path, f.Mode)
	}
	return blobs.open(ctx, f.Blob)
}

// blobs reads contents from the repository through one git process.
type blobs struct {
	repository *Repository
	cmd        *exec.Cmd
	in         io.WriteCloser
	out        *bufio.Reader
}

func (b *blobs) start(ctx context.Context) error {
	b.cmd = b.repository.command(ctx, "cat-file", "--batch")
	in, err := b.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	b.in, b.out = in, bufio.NewReader(out)
	return b.cmd.Start()
}

// open gives a blob's content, which has to be closed before the next one is opened.
func (b *blobs) open(ctx context.Context, blob string) (io.ReadCloser, error) {
	if b.cmd == nil {
		if err := b.start(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := io.WriteString(b.in, blob+"\n"); err != nil {
		return nil, err
	}
	header, err := b.out.ReadString('\n') // "<blob> blob <size>", or "<blob> missing"; in a partial clone git ends instead
	fields := strings.Fields(header)
	if err != nil || len(fields) != 3 || fields[1] != "blob" {
		return nil, fmt.Errorf("%w: it lacks %s: run git fetch --refetch --no-filter", ErrIncomplete, blob)
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil {
		return nil, err
	}
	return &blobReader{LimitedReader: io.LimitedReader{R: b.out, N: size}, out: b.out}, nil
}

type blobReader struct {
	io.LimitedReader
	out *bufio.Reader
}

// Close reads the rest, and the line feed behind it.
func (r *blobReader) Close() error {
	_, err := io.Copy(io.Discard, &r.LimitedReader)
	_, lineFeed := r.out.ReadByte()
	return errors.Join(err, lineFeed)
}

func (b *blobs) close() error {
	if b.cmd == nil {
		return nil
	}
	return errors.Join(b.in.Close(), b.cmd.Wait())
}
