// Package killtest runs a program that is killed at random moments, or whose disk is full at random offsets, until a run comes
// to its end. It is for tests of what is left behind.
package killtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// Program is a command line to run.
type Program struct {
	Path string
	Args []string
	Dir  string
	Env  []string
}

// Ending says how a run ended.
type Ending struct {
	Killed         bool
	Code           int // -1 for a killed one
	Stdout, Stderr string
	Took           time.Duration
}

// String tells an ending in a test's message.
func (e Ending) String() string {
	return fmt.Sprintf("exit code %d after %v\n%s%s", e.Code, e.Took, e.Stdout, e.Stderr)
}

// Run runs the program to its end.
func (p Program) Run(ctx context.Context) (Ending, error) { return p.Kill(ctx, -1) }

// Kill runs the program and kills it with SIGKILL after that time, if it still runs; never if that is negative.
func (p Program) Kill(ctx context.Context, after time.Duration) (Ending, error) {
	return end(ctx, exec.CommandContext(ctx, p.Path, p.Args...), p, after)
}

func end(ctx context.Context, cmd *exec.Cmd, p Program, after time.Duration) (Ending, error) {
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, &stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Ending{}, err
	}
	if after >= 0 {
		defer time.AfterFunc(after, func() { _ = cmd.Process.Kill() }).Stop()
	}
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return Ending{}, err
	}
	code := cmd.ProcessState.ExitCode()
	return Ending{Killed: code == -1, Code: code, Stdout: stdout.String(), Stderr: stderr.String(), Took: time.Since(start)}, ctx.Err()
}

// limitVariable holds the most bytes that a program may write into one file, afterVariable the file that has to be there before that holds.
const (
	limitVariable = "KILLTEST_FILE_BYTES"
	afterVariable = "KILLTEST_AFTER"
)

// Full gives the program with a disk that is full behind so many bytes of each file, from when a file of its folder is there:
// the limit holds for memory that has no name, too, into which modules are loaded before. Without a name it holds from the
// beginning. The program's main has to call [LimitFiles].
func (p Program) Full(bytes int64, after string) Program {
	p.Env = append(slices.Clip(p.Env), limitVariable+"="+strconv.FormatInt(bytes, 10), afterVariable+"="+after)
	return p
}

// LimitFiles sets the limit that Full asks for, if it does.
func LimitFiles() error {
	text := os.Getenv(limitVariable)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return err
	}
	after := os.Getenv(afterVariable)
	if after == "" {
		return limitFiles(n)
	}
	go func() {
		for {
			if info, err := os.Stat(after); err == nil {
				if info.Size() > n { // of an earlier run: nothing can be added
					n = info.Size()
				}
				_ = limitFiles(n)
				return
			}
			time.Sleep(100 * time.Microsecond)
		}
	}()
	return nil
}
