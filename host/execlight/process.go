package execlight

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is one program that runs.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	said   tail // on its standard error
	finish sync.Once
	status error // of its end
}

// grace is how long a program that gave no more answers may take to end by
// itself, so that its exit code is known.
const grace = 500 * time.Millisecond

func start(command string) (*process, error) {
	p := &process{cmd: shell(command)}
	p.cmd.Stderr = &p.said
	p.cmd.WaitDelay = grace
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	return p, p.cmd.Start()
}

// ask writes a request and reads the answer. When the context ends the program
// is killed, which ends both.
func (p *process) ask(ctx context.Context, line []byte, most int) ([]byte, error) {
	defer context.AfterFunc(ctx, func() { kill(p.cmd) })()
	if p.out.Buffered() > 0 {
		return nil, errors.New("it wrote more than one line for a request")
	}
	written := make(chan error, 1)
	go func() {
		_, err := p.in.Write(line)
		written <- err
	}()
	answer, err := p.read(most)
	switch {
	case err == nil:
		return answer, nil
	case errors.Is(err, io.EOF):
		return nil, errors.New("it ended without an answer")
	}
	return nil, err
}

// read gives the next line that is not blank.
func (p *process) read(most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := p.out.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > most:
			return nil, fmt.Errorf("its answer is longer than %d bytes", most)
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, io.EOF // a pipe that was closed is an end, too
		case len(bytes.TrimSpace(line)) == 0:
			line = line[:0]
		default:
			return line, nil
		}
	}
}

// end kills the program, and adds to an error how it ended and what it said.
func (p *process) end(err error) error {
	p.finish.Do(func() {
		_ = p.in.Close()
		timer := time.AfterFunc(grace, func() { kill(p.cmd) })
		if err == nil {
			kill(p.cmd)
		}
		p.status = p.cmd.Wait()
		timer.Stop()
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
	return errors.New(text)
}

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
