package execlight

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
)

// The defaults of a Config.
const (
	DefaultTimeout     = time.Minute
	DefaultAnswerBytes = 1 << 20
)

// Config bounds the programs. Zero fields mean the defaults.
type Config struct {
	// Timeout of one answer, the start of the program included.
	Timeout time.Duration
	// AnswerBytes is the longest line that is read.
	AnswerBytes int
	// Without are variables of the environment that the programs do not get, such as those with keys.
	Without []string
}

// Light answers through programs. It is safe for concurrent use.
type Light struct {
	command string
	config  Config

	mu      sync.Mutex
	idle    []*process
	all     map[*process]struct{}
	closed  bool
	unasked int
}

// ErrClosed: the Light was closed.
var ErrClosed = errors.New("the programs were ended")

// New makes a Light of a command line, which the system's shell reads. Nothing is started yet. The caller closes it.
func New(command string, config Config) *Light {
	if config.Timeout <= 0 {
		config.Timeout = DefaultTimeout
	}
	if config.AnswerBytes <= 0 {
		config.AnswerBytes = DefaultAnswerBytes
	}
	return &Light{command: command, config: config, all: make(map[*process]struct{})}
}

// Answer asks a program. It is one that has nothing to do, or a new one; one that ended since its last answer, or wrote more than that, is
// left for a new one.
func (l *Light) Answer(ctx context.Context, req host.LightRequest) (host.LightResponse, error) {
	line, err := encode(req)
	if err != nil {
		return host.LightResponse{}, fmt.Errorf("encode the request: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, l.config.Timeout, fmt.Errorf("no answer within %s", l.config.Timeout))
	defer cancel()
	for {
		p, err := l.take()
		if err != nil {
			return host.LightResponse{}, err
		}
		used := p.asked
		response, err := l.ask(ctx, p, line, &req)
		if err == nil || !used || ctx.Err() != nil || !errors.Is(err, errUnasked) && !errors.Is(err, errEnded) {
			return response, err
		}
	}
}

// ask asks one program, and keeps it for the next case if its answer is one.
func (l *Light) ask(ctx context.Context, p *process, line []byte, req *host.LightRequest) (host.LightResponse, error) {
	answer, err := p.ask(ctx, line)
	if err != nil {
		return host.LightResponse{}, l.drop(ctx, p, err)
	}
	if answer.cut {
		cut := errors.New("it ended in the middle of an answer")
		if err := l.drop(ctx, p, cut); !p.succeeded() {
			return host.LightResponse{}, err
		}
	}
	response, err := decode(answer.line, req)
	if err != nil {
		return host.LightResponse{}, l.drop(ctx, p, fmt.Errorf("its answer makes no sense: %w", err))
	}
	if !answer.cut {
		l.give(p)
	}
	return response, nil
}

// Unasked is how many programs were ended since they had written more than they were asked for. The answers before that stand.
func (l *Light) Unasked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unasked
}

func (l *Light) take() (*process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, ErrClosed
	}
	if n := len(l.idle); n > 0 {
		p := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return p, nil
	}
	p, err := start(l.command, l.config)
	if err != nil {
		return nil, fmt.Errorf("start %q: %w", l.command, err)
	}
	l.all[p] = struct{}{}
	return p, nil
}

func (l *Light) give(p *process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idle = append(l.idle, p)
}

// drop ends a program, and says what became of it.
func (l *Light) drop(ctx context.Context, p *process, err error) error {
	l.mu.Lock()
	delete(l.all, p)
	if errors.Is(err, errUnasked) {
		l.unasked++
	}
	l.mu.Unlock()
	if errors.Is(err, errUnasked) {
		p.abandon()
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return p.end(err)
}

// Close ends all programs, those that are at work included.
func (l *Light) Close() error {
	l.mu.Lock()
	l.closed = true
	all := l.all
	l.all, l.idle = nil, nil
	for p := range all {
		if p.ear.unasked() {
			l.unasked++
		}
	}
	l.mu.Unlock()
	var ended sync.WaitGroup
	for p := range all {
		ended.Go(func() { _ = p.end(nil) }) // that it was killed is no news
	}
	ended.Wait()
	return nil
}
