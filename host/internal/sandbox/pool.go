package sandbox

import (
	"context"
	"sync"
	"time"
)

// pool keeps instances of one program from call to call, which begin as its template says. Modules that share the program share it: an
// instance belongs to nobody between two calls. What a call left is reset after its reply was given, by a goroutine that runs while there
// is something to do; a call that comes before that does it itself, and never waits.
type pool struct {
	program  *program
	template *template // nil: every call begins with a new instance
	cleaners sync.WaitGroup

	mu       sync.Mutex
	idle     []*instance // pristine; the last one used is the first one taken
	used     []*instance // calls have ended in them
	cleaning bool
}

// maxIdle is how many pristine instances a program keeps. Each holds what a call
// usually writes, about 200 KB for a module of the Go toolchain.
const maxIdle = 32

// take gives a pristine instance, its own to the caller until give, that is under the clock of the caller's engine. The instance is given
// even with an error, for what it tells of it.
func (p *pool) take(caller context.Context, now func() time.Time) (*instance, error) {
	p.mu.Lock()
	in, pristine := p.pop()
	p.mu.Unlock()
	if in != nil && !pristine {
		if err := in.restore(); err != nil {
			in.close()
			in = nil
		}
	}
	if in != nil {
		in.state.meter.now = now
		return in, nil
	}
	if p.template == nil {
		return p.program.begin(caller, now)
	}
	return p.program.instantiate(now, p.template)
}

// pop gives an instance that is there, or nil.
func (p *pool) pop() (in *instance, pristine bool) {
	if n := len(p.idle); n > 0 {
		in, p.idle = p.idle[n-1], p.idle[:n-1]
		return in, true
	}
	if n := len(p.used); n > 0 {
		in, p.used = p.used[n-1], p.used[:n-1]
	}
	return in, false
}

// keep takes the first instance, which is pristine if there is a template.
func (p *pool) keep(in *instance) {
	if p.template == nil {
		in.close()
		return
	}
	in.leave()
	p.idle = append(p.idle, in)
}

// give takes an instance back after a call. One that trapped or was ended is not used again. The caller's module is open.
func (p *pool) give(in *instance, returned bool) {
	if !returned || p.template == nil {
		in.close()
		return
	}
	in.leave()
	p.mu.Lock()
	p.used = append(p.used, in)
	start := !p.cleaning
	p.cleaning = true
	p.mu.Unlock()
	if start {
		p.cleaners.Go(p.clean)
	}
}

// clean resets what calls left, until there is nothing.
func (p *pool) clean() {
	for {
		p.mu.Lock()
		n := len(p.used)
		if n == 0 {
			p.cleaning = false
			p.mu.Unlock()
			return
		}
		in := p.used[n-1]
		p.used = p.used[:n-1]
		keep := len(p.idle) < maxIdle
		p.mu.Unlock()
		if !keep || in.restore() != nil {
			in.close()
			continue
		}
		p.mu.Lock()
		p.idle = append(p.idle, in)
		p.mu.Unlock()
	}
}

// close frees the instances. No call runs in any of them, or will.
func (p *pool) close() {
	p.cleaners.Wait()
	for _, in := range append(p.idle, p.used...) {
		in.close()
	}
	p.idle, p.used = nil, nil
}

// free frees what the instances began as. They are closed.
func (p *pool) free() error {
	if p.template == nil {
		return nil
	}
	return p.template.image.Close()
}
