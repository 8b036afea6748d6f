package execlight

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// process is one program that runs. One goroutine asks it at a time.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	ear    *ear
	asked  bool // before
	said   tail // on its standard error
	finish sync.Once
	status error // of its end
}

// grace is how long a program that gave no more answers may take to end by itself, so that its exit code is known, and how long those that
// it started may hold its standard error then.
const grace = 500 * time.Millisecond

// start starts a program. Its first line is its first answer, be it asked before or not.
func start(command string, config Config) (*process, error) {
	p := &process{cmd: shell(command)}
	p.cmd.Env = environment(p.cmd.Environ(), config.Without)
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = grace
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.out, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.ear = newEar(config.AnswerBytes)
	go p.ear.listen(p.out)
	return p, nil
}

// environment leaves variables out.
func environment(all, without []string) []string {
	return slices.DeleteFunc(all, func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return slices.Contains(without, name)
	})
}

// ask writes a request and gives the answer. When the context ends the program is killed, and nobody waits for those that it left behind.
func (p *process) ask(ctx context.Context, line []byte) (heard, error) {
	if p.asked {
		if err := p.ear.expect(); err != nil {
			return heard{}, err
		}
	}
	p.asked = true
	go func() { _, _ = p.in.Write(line) }() // an error shows in the answer
	select {
	case h := <-p.ear.answer:
		return h, h.err
	case <-ctx.Done():
		p.abandon()
		return heard{}, context.Cause(ctx)
	}
}

// abandon kills the program and closes our ends of its pipes: another program that it started may hold theirs for ever.
func (p *process) abandon() {
	kill(p.cmd)
	_ = p.in.Close()
	_ = p.out.Close()
}

// end ends the program, at once where err is nil, and adds to an error how it ended and what it said.
func (p *process) end(err error) error {
	p.finish.Do(func() {
		if err == nil {
			p.abandon()
		}
		_ = p.in.Close()
		timer := time.AfterFunc(grace, p.abandon)
		p.status = p.cmd.Wait()
		timer.Stop()
		_ = p.out.Close()
	})
	if err == nil {
		return nil
	}
	text := err.Error()
	if exit := (*exec.ExitError)(nil); errors.As(p.status, &exit) && exit.ExitCode() > 0 {
		text += " (" + exit.Error() + ")"
	}
	if said := strings.TrimSpace(p.said.String()); said != "" {
		text += "; it said: " + said
	}
	return &endError{text, err}
}

// endError is an error with how the program ended.
type endError struct {
	text string
	err  error
}

func (e *endError) Error() string { return e.text }
func (e *endError) Unwrap() error { return e.err }

// succeeded says of a program that ended whether its exit code is 0.
func (p *process) succeeded() bool { return p.cmd.ProcessState != nil && p.cmd.ProcessState.Success() }

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const tailBytes = 2 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - tailBytes; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(t.data), "\uFFFD")
}
