package killtest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Tracer is the program that records system calls, of the Debian package of that name.
const Tracer = "strace"

// traced are the system calls that change files, and those that tell where.
const traced = "openat,open,creat,close,fcntl,dup,dup2,dup3,write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,splice,lseek,ftruncate,truncate," +
	"fallocate,fsync,fdatasync,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir"

// Trace gives the command that runs the program and records its system calls in a file. The process is that of the program.
func (p Program) Trace(ctx context.Context, log string) *exec.Cmd {
	args := append([]string{"-D", "-f", "--seccomp-bpf", "-q", "-xx", "-s", "16777216", "-e", "trace=" + traced, "-e", "signal=none", "-o", log, "--", p.Path}, p.Args...)
	cmd := exec.CommandContext(ctx, Tracer, args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	return cmd
}

// call is a system call that succeeded.
type call struct {
	name string
	args []string
	// result is what it gave. from and at are the lines of the log where it began and ended.
	result   int64
	from, at int
}

// readCalls reads a log of strace to its end.
func readCalls(log string, do func(*call) error) (lines int, err error) {
	f, err := os.Open(log)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(f, 1<<20)
	type begun struct {
		text string
		at   int
	}
	unfinished := map[string]begun{} // by thread
	for lines = 1; ; lines++ {
		text, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
		thread, rest, _ := strings.Cut(strings.TrimSuffix(text, "\n"), " ")
		rest = strings.TrimLeft(rest, " ")
		from := lines
		if head, ok := strings.CutSuffix(rest, " <unfinished ...>"); ok {
			unfinished[thread] = begun{head, lines}
			continue
		}
		if strings.HasPrefix(rest, "<... ") {
			_, tail, _ := strings.Cut(rest, " resumed>")
			before := unfinished[thread]
			rest, from = before.text+tail, before.at
		}
		c := parseCall(rest)
		if c == nil {
			continue
		}
		c.from, c.at = from, lines
		if err := do(c); err != nil {
			return lines, fmt.Errorf("%s:%d: %s: %w", log, lines, c.name, err)
		}
	}
}

// parseCall reads a line; nil for one that is no call, and for a call that failed.
func parseCall(text string) *call {
	name, rest, ok := strings.Cut(text, "(")
	end := strings.LastIndex(rest, ") ")
	if !ok || end < 0 || strings.HasPrefix(text, "+++") || strings.HasPrefix(text, "---") {
		return nil
	}
	_, result, _ := strings.Cut(rest[end:], "= ")
	result, _, _ = strings.Cut(result, " ")
	n, err := strconv.ParseInt(result, 0, 64)
	if err != nil || n < 0 {
		return nil // it failed, or its thread ended
	}
	return &call{name: name, args: splitArgs(rest[:end]), result: n}
}

// splitArgs splits at commas that are in no text, list or structure.
func splitArgs(text string) []string {
	var args []string
	depth, start, quoted := 0, 0, false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted // all bytes of texts are escaped
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			args = append(args, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(args, strings.TrimSpace(text[start:]))
}

// data is an argument with bytes: "\x68\x69".
func (c *call) data(i int) ([]byte, error) {
	if i >= len(c.args) || len(c.args[i]) < 2 || !strings.HasPrefix(c.args[i], `"`) || !strings.HasSuffix(c.args[i], `"`) {
		return nil, fmt.Errorf("argument %d is no text, or was cut", i)
	}
	return hex.DecodeString(string(bytes.ReplaceAll([]byte(c.args[i][1:len(c.args[i])-1]), []byte(`\x`), nil)))
}

// number is an argument with a number, such as a file descriptor.
func (c *call) number(i int) (int64, error) {
	if i >= len(c.args) {
		return 0, fmt.Errorf("argument %d is missing", i)
	}
	return strconv.ParseInt(c.args[i], 0, 64)
}

// awaitLog waits until the tracer has written that the program ended: its first thread is the last to end.
func awaitLog(ctx context.Context, log string) error {
	for range 1000 {
		if ended, err := hasEnd(log); ended || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("%s has no end", log)
}

func hasEnd(log string) (bool, error) {
	f, err := os.Open(log)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }()
	ends := make([]byte, 1<<10)
	n, err := f.Read(ends)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	first, _, _ := strings.Cut(string(ends[:n]), " ")
	info, err := f.Stat()
	if err != nil || n == 0 {
		return false, err
	}
	n, err = f.ReadAt(ends, max(info.Size()-int64(len(ends)), 0))
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	for line := range strings.Lines(string(ends[:n])) {
		thread, rest, _ := strings.Cut(line, " ")
		if thread == first && strings.Contains(rest, "+++ ") && strings.HasSuffix(line, "\n") {
			return true, nil
		}
	}
	return false, nil
}
