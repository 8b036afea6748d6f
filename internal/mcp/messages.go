package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages gives the lines of a client to the SDK, which ends the session at the first line that is no message. Such a line is answered
// with an error here, and skipped.
type messages struct {
	io.Closer
	in      *bufio.Reader
	answers io.Writer
	line    int    // number of the last line read
	rest    []byte // of the line, for the SDK to read
	asked   func(message []byte)
}

func newMessages(in io.ReadCloser, answers io.Writer, asked func(message []byte)) *messages {
	return &messages{Closer: in, in: bufio.NewReaderSize(in, 64<<10), answers: answers, asked: asked}
}

// Read gives bytes of lines that are messages.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.rest) == 0 {
		if err := m.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

// next reads a line. One that is no message leaves nothing to read.
func (m *messages) next() error {
	var line []byte
	size := 0
	for {
		part, err := m.in.ReadSlice('\n')
		if size += len(part); size <= maxRequestBytes {
			line = append(line, part...)
		} else {
			line = nil // only its length matters
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && size == 0 {
			return err
		}
		break // a last line without a break is one, too
	}
	m.line++
	switch fault := read(line, size); {
	case fault != nil:
		return m.answer(line, fault)
	case len(bytes.TrimSpace(line)) > 0:
		m.asked(line)
		m.rest = line
	}
	return nil
}

// read says what is wrong with a line; nil if it is blank or a message.
func read(line []byte, size int) *jsonrpc.Error {
	if size > maxRequestBytes {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("has %d bytes; a message has at most %d", size, maxRequestBytes)}
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	if err := json.Unmarshal(line, new(json.RawMessage)); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "is not JSON: " + err.Error()}
	}
	if line[0] == '[' {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "is a batch: write one message a line"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "is no message of JSON-RPC: " + err.Error()}
	}
	var named struct {
		ID any `json:"id"`
	}
	err := json.Unmarshal(line, &named)
	if id, ok := named.ID.(float64); ok && err == nil && id != math.Trunc(id) { // which the SDK would round
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "has an id that is neither a text nor a whole number"}
	}
	return nil
}

// answer tells the client what is wrong with its last line.
func (m *messages) answer(line []byte, fault *jsonrpc.Error) error {
	var named struct {
		ID any `json:"id"`
	}
	if json.Unmarshal(line, &named) != nil {
		named.ID = nil // nobody knows what was asked
	}
	switch named.ID.(type) {
	case string, float64:
	default:
		named.ID = nil
	}
	data, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": named.ID,
		"error": map[string]any{"code": fault.Code, "message": fmt.Sprintf("line %d of the input %s", m.line, fault.Message)},
	})
	if err != nil {
		return err
	}
	_, err = m.answers.Write(append(data, '\n'))
	return err
}

// lockedWriter writes one message at a time: those of the SDK, and errors. Once the server ends it waits no longer for a client that does not
// read.
type lockedWriter struct {
	io.WriteCloser
	answered func(message []byte)
	ended    <-chan struct{}
	mu       sync.Mutex
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	message := bytes.Clone(p) // which is written still when this returned
	written := make(chan error, 1)
	go func() {
		_, err := w.WriteCloser.Write(message)
		written <- err
	}()
	select {
	case err := <-written:
		w.answered(message)
		return len(p), err
	case <-w.ended:
	}
	select {
	case err := <-written: // at the same time
		return len(p), err
	default:
		return 0, errEnds
	}
}

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
