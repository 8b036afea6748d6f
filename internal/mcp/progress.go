package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/host/alibi/investigate"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// progress tells a client what runs, if it wants to know: the latest step, at most one a second. A client that reads slowly holds up nothing.
// Safe for concurrent use.
type progress struct {
	token any
	total int           // failures
	ends  chan struct{} // closed when nothing more is to be told
	told  chan struct{} // closed when nothing more is told

	mu    sync.Mutex
	next  chan *sdk.ProgressNotificationParams // at most one; nil where nobody wants to know
	done  int                                  // failures that are answered
	steps int                                  // since the last of them
}

// between is the least time between two steps that are told.
const between = time.Second

// notify begins to tell the client of a call with a number of failures. The caller closes it.
func notify(ctx context.Context, r *sdk.CallToolRequest, total int) *progress {
	p := &progress{token: r.Params.GetProgressToken(), total: total, ends: make(chan struct{}), told: make(chan struct{})}
	if p.token == nil {
		close(p.told)
		return p
	}
	next := make(chan *sdk.ProgressNotificationParams, 1)
	p.next = next
	go func() {
		defer close(p.told)
		for n := range next {
			if r.Session.NotifyProgress(ctx, n) != nil {
				return
			}
			select {
			case <-time.After(between):
			case <-p.ends:
			}
		}
	}()
	return p
}

// close tells what waits, and ends.
func (p *progress) close() {
	close(p.ends)
	p.mu.Lock()
	if p.next != nil {
		close(p.next)
		p.next = nil
	}
	p.mu.Unlock()
	<-p.told
}

// runs tells of experiments.
func (p *progress) runs(now experiment.Progress) {
	if len(now.Running) > 0 {
		p.step("running " + strings.Join(now.Running, ", "))
	}
}

// search tells of the search for a commit.
func (p *progress) search(now investigate.Step) {
	p.step(fmt.Sprintf("commit %d of %d, %.12s %q: running the test %d times", now.Commit, now.Commits, now.ID, now.Title, now.Runs))
}

// answered tells that one more failure has its answer.
func (p *progress) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.steps = p.done+1, 0
	p.tell(fmt.Sprintf("%d of %d answered", p.done, p.total))
}

func (p *progress) step(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.steps++
	p.tell(message)
}

// tell replaces what waits to be told. The caller holds the lock.
func (p *progress) tell(message string) {
	if p.next == nil {
		return
	}
	// The protocol wants a number that rises with every message.
	n := &sdk.ProgressNotificationParams{
		ProgressToken: p.token, Message: short(message, maxProofRunes), Total: float64(p.total), Progress: float64(p.done) + float64(p.steps)/float64(p.steps+1),
	}
	select {
	case <-p.next:
	default:
	}
	p.next <- n
}
