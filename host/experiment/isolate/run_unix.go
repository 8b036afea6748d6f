//go:build linux || darwin

package isolate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// killPause is how long the supervisor may take to kill everything before it is killed itself.
const killPause = 5 * time.Second

var (
	errOverTime   = errors.New("over the limit of time")
	errOverOutput = errors.New("over the limit of output")
)

func canView() bool { return strongest() == Namespaces }

// MayWrite says whether the user may write to a path, or to the innermost folder around it that exists.
func MayWrite(path string) bool { return writable(path) == nil }

// writable says why that can't be done.
func writable(path string) error {
	for ; ; path = filepath.Dir(path) {
		if err := unix.Access(path, unix.W_OK); !errors.Is(err, unix.ENOENT) || path == filepath.Dir(path) {
			return err
		}
	}
}

// OneFileSystem says whether two folders are in the same one, as far as the system tells.
func OneFileSystem(a, b string) bool {
	var of [2]unix.Stat_t
	return unix.Stat(a, &of[0]) == nil && unix.Stat(b, &of[1]) == nil && of[0].Dev == of[1].Dev
}

func run(ctx context.Context, c *Command) (*Result, error) {
	level := strongest()
	if level == Namespaces && c.Native {
		level = Native
	}
	return start(ctx, &order{Command: *c, Level: level, Privacy: privacyOf(c)})
}

// start runs a supervisor to its end, and ends it at the limits that are this program's business: time and output.
func start(ctx context.Context, o *order) (*Result, error) {
	for _, dir := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(o.Command.Scratch, dir), 0o700); err != nil {
			return nil, err
		}
	}
	limited, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	timer := time.AfterFunc(o.Command.Limits.Time, func() { stop(errOverTime) })
	defer timer.Stop()
	began := time.Now() //nolint:forbidigo // programs run in real time
	s, err := newSupervisor(o)
	if err != nil {
		return nil, err
	}
	// The supervisor and all that it runs end when the last descriptor of its order is closed.
	ended := context.AfterFunc(limited, s.end)
	defer ended()
	output := s.read(o.Command.Limits.Output, func() { stop(errOverOutput) })
	r, err := s.wait()
	result := &Result{Ending: r.Ending, ExitCode: r.ExitCode, CPU: r.CPU, Output: <-output, Wall: time.Since(began), Level: o.Level, Unreached: r.Unreached, Asked: r.Asked}
	switch cause := context.Cause(limited); {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(cause, errOverTime):
		result.Ending, result.ExitCode = OverTime, -1
	case errors.Is(cause, errOverOutput):
		result.Ending, result.ExitCode = OverOutput, -1
	case err != nil:
		return nil, err
	case r.Error != "":
		return nil, fmt.Errorf("run %q: %s", o.Command.Args, r.Error)
	}
	return result, nil
}

// mostAsked bounds what is told of a traced program, in bytes of names.
const mostAsked = 4 << 20

// supervisor is this program's side of a supervisor.
type supervisor struct {
	cmd                   *exec.Cmd
	order, report, output *os.File
}

func newSupervisor(o *order) (*supervisor, error) {
	data, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	self, err := executable()
	if err != nil {
		return nil, err
	}
	var ours, theirs [3]*os.File // order, report, output
	defer closeAll(theirs[:])
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:])
			return nil, err
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	cmd := &exec.Cmd{Path: self, Args: []string{supervisorName}, Env: []string{}, Dir: "/", SysProcAttr: attributes(o.Level, o.Command.Network)}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = theirs[2], theirs[2], []*os.File{theirs[0], theirs[1]}
	s := &supervisor{cmd: cmd, order: ours[0], report: ours[1], output: ours[2]}
	if err = cmd.Start(); err == nil {
		if _, err = s.order.Write(append(data, '\n')); err == nil {
			return s, nil
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	closeAll(ours[:])
	return nil, err
}

// closeAll closes the files that were opened.
func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

// end has the supervisor kill everything. If it doesn't in time, it is killed, and with it all that is in its namespace.
func (s *supervisor) end() {
	_ = s.order.Close()
	time.AfterFunc(killPause, func() { _ = s.cmd.Process.Kill() })
}

// read collects output up to a limit, and calls over once if there is more.
func (s *supervisor) read(limit int64, over func()) <-chan []byte {
	done := make(chan []byte, 1)
	go func() {
		output, err := io.ReadAll(io.LimitReader(s.output, limit))
		if err == nil && int64(len(output)) == limit {
			if n, _ := io.CopyN(io.Discard, s.output, 1); n > 0 {
				over()
			}
			_, _ = io.Copy(io.Discard, s.output)
		}
		_ = s.output.Close()
		done <- output
	}()
	return done
}

// wait gives the supervisor's report, after its end.
func (s *supervisor) wait() (report, error) {
	var r report
	err := json.NewDecoder(io.LimitReader(s.report, 4*mostAsked)).Decode(&r)
	ended := s.cmd.Wait()
	// Without a namespace a daemon may hold the pipe of the output open.
	_ = s.output.SetReadDeadline(time.Now().Add(time.Second)) //nolint:forbidigo // programs run in real time
	_, _ = s.order.Close(), s.report.Close()
	if err != nil {
		return r, fmt.Errorf("the supervisor ended without a report: %w", errors.Join(err, ended))
	}
	return r, nil
}
