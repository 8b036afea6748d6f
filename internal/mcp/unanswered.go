package mcp

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// unanswered are the requests of a client that have no answer yet. A client that closes its input gets the answers to all it asked.
type unanswered struct {
	mu   sync.Mutex
	ids  map[any]bool
	last bool          // nothing more is asked
	none chan struct{} // closed once nothing more is asked and all is answered
}

func newUnanswered() *unanswered {
	return &unanswered{ids: map[any]bool{}, none: make(chan struct{})}
}

// asked notes a line of the client: a request, or that an answer is no longer wanted.
func (u *unanswered) asked(line []byte) {
	message, err := jsonrpc.DecodeMessage(line)
	request, ok := message.(*jsonrpc.Request)
	if err != nil || !ok {
		return
	}
	if request.IsCall() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.ids[request.ID.Raw()] = true
		return
	}
	var cancelled struct {
		ID any `json:"requestId"`
	}
	if request.Method != "notifications/cancelled" || json.Unmarshal(request.Params, &cancelled) != nil {
		return
	}
	if id, err := jsonrpc.MakeID(cancelled.ID); err == nil {
		u.done(id)
	}
}

// answered notes a message to the client.
func (u *unanswered) answered(message []byte) {
	decoded, err := jsonrpc.DecodeMessage(message)
	if response, ok := decoded.(*jsonrpc.Response); err == nil && ok {
		u.done(response.ID)
	}
}

func (u *unanswered) done(id jsonrpc.ID) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.ids, id.Raw())
	u.check()
}

// end says that nothing more is asked. It may be called again.
func (u *unanswered) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = true
	u.check()
}

// check closes none where nothing more is to come. The caller holds the lock.
func (u *unanswered) check() {
	if !u.last || len(u.ids) > 0 {
		return
	}
	select {
	case <-u.none:
	default:
		close(u.none)
	}
}

// patient is the input of a client, which ends when all its requests are answered: the SDK drops the answers that it has not given by then.
type patient struct {
	io.ReadCloser
	unanswered *unanswered
	ended      <-chan struct{}
	closed     chan struct{}
	once       sync.Once
}

// Read reads, and waits at the end.
func (p *patient) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	if err != nil {
		p.unanswered.end()
		select {
		case <-p.unanswered.none:
		case <-p.ended:
		case <-p.closed:
		}
	}
	return n, err
}

// Close ends a wait, too.
func (p *patient) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.ReadCloser.Close()
}
