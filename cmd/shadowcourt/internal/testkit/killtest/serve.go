package killtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// startLine is before the address that a service says on the standard error.
const startLine = "serving at "

// said is what a program has written so far. Safe for concurrent use.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// String is all of it.
func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Serve runs a service, uses it, and tells it to stop.
func (p Program) Serve(ctx context.Context, use func(server string) error) (Ending, error) {
	cmd := exec.CommandContext(ctx, p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	return serve(ctx, cmd, use)
}

// Served is Serve, with what the service does to its folder recorded.
func (p Program) Served(ctx context.Context, use func(server string) error) (*Power, Ending, error) {
	return p.traced(ctx, func(cmd *exec.Cmd) (Ending, error) { return serve(ctx, cmd, use) })
}

func serve(ctx context.Context, cmd *exec.Cmd, use func(server string) error) (Ending, error) {
	out := &said{}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		return Ending{}, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	server, err := address(ctx, out, ended)
	if err == nil {
		err = errors.Join(use(server), cmd.Process.Signal(os.Interrupt))
		if err != nil {
			_ = cmd.Process.Kill()
		}
		waited := <-ended
		if _, exited := errors.AsType[*exec.ExitError](waited); !exited { // the exit code says it
			err = errors.Join(err, waited)
		}
	}
	return Ending{Code: cmd.ProcessState.ExitCode(), Stderr: out.String()}, err
}

// address waits for the address of a service.
func address(ctx context.Context, out *said, ended <-chan error) (string, error) {
	for {
		for line := range strings.Lines(out.String()) {
			if server, ok := strings.CutPrefix(line, startLine); ok && strings.HasSuffix(server, "\n") {
				return strings.TrimSpace(server), nil
			}
		}
		select {
		case err := <-ended:
			return "", fmt.Errorf("the service ended: %w\n%s", err, out)
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
