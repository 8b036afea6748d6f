package killtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Serve runs a service, uses it, and tells it to stop.
func (p Program) Serve(ctx context.Context, use func(server string) error) (Ending, error) {
	return p.serve(exec.CommandContext(ctx, p.Path, p.Args...), use)
}

// Served is Serve, with what the service does to its folder recorded.
func (p Program) Served(ctx context.Context, use func(server string) error) (*Power, Ending, error) {
	return p.traced(ctx, func(cmd *exec.Cmd) (Ending, error) { return p.serve(cmd, use) })
}

func (p Program) serve(cmd *exec.Cmd, use func(server string) error) (Ending, error) {
	cmd.Dir, cmd.Env = p.Dir, p.Env
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return Ending{}, err
	}
	lines := bufio.NewReader(stderr)
	first, _ := lines.ReadString('\n') // the address, or why there is none
	said := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(lines)
		said <- first + string(rest)
	}()
	if server, ok := strings.CutPrefix(first, "serving at "); ok {
		if err = errors.Join(use(strings.TrimSpace(server)), cmd.Process.Signal(os.Interrupt)); err != nil {
			_ = cmd.Process.Kill()
		}
	} else {
		err = fmt.Errorf("the service did not start: %s", first)
	}
	all := <-said
	waited := cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](waited); !exited { // the exit code says it
		err = errors.Join(err, waited)
	}
	return Ending{Code: cmd.ProcessState.ExitCode(), Stderr: all}, err
}
