package httplimit

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// serve gives the address of a server that rejects each request after some bytes of its body.
func serve(t *testing.T, wrap func(net.Listener) net.Listener) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1000))
		http.Error(w, "why", http.StatusUnprocessableEntity)
	}))
	s.Listener = wrap(s.Listener)
	s.Start()
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// send sends a request up to some bytes of its body, without a look at the answer.
func send(t *testing.T, address, header string, body int) (net.Conn, error) {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	must.Do(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", header, 1<<40, strings.Repeat("x", body))
	return c, err
}

// A client that looks at the answer only when it has sent more than the sockets keep finds it.
func TestAClientThatSendsAllFindsTheAnswer(t *testing.T) {
	t.Parallel()
	address := serve(t, NewPool(0).Listener)
	for _, header := range []string{"", "Expect: 100-continue\r\n"} {
		c := must.Get(send(t, address, header, lingerBytes/2))(t, header)
		in := bufio.NewReader(c)
		response, err := http.ReadResponse(in, nil)
		if err == nil && response.StatusCode == http.StatusContinue {
			response, err = http.ReadResponse(in, nil)
		}
		must.Do(t, err, header)
		if text, err := io.ReadAll(response.Body); err != nil || string(text) != "why\n" || response.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%q: %s, %q, %v", header, response.Status, text, err)
		}
		_ = response.Body.Close()
	}
}

// A client that sends on, or does nothing, is cut off.
func TestAClientIsNotWaitedForLonger(t *testing.T) {
	t.Parallel()
	for _, bytes := range []int64{1, 1 << 40} {
		address := serve(t, func(l net.Listener) net.Listener { return listener{l, time.Millisecond, bytes, NewPool(0)} })
		c, err := send(t, address, "Expect: 100-continue\r\n", 1<<20)
		for err == nil { // for ever, if it was waited for
			_, err = c.Write(make([]byte, 1<<16))
		}
	}
}

// A server that waits for the next request closes at once when it stops.
func TestAConnectionThatIsReadIsClosedAtOnce(t *testing.T) {
	t.Parallel()
	l := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = l.Close() })
	client := must.Get((&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()))(t)
	t.Cleanup(func() { _ = client.Close() })
	accepted := must.Get(listener{l, time.Hour, 1 << 40, NewPool(0)}.Accept())(t)
	c, ok := accepted.(*conn)
	if !ok {
		t.Fatalf("%T", accepted)
	}
	read := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 1))
		read <- err
	}()
	for c.reading.Load() == 0 {
		runtime.Gosched()
	}
	must.Do(t, c.Close())
	check.Is(t, <-read, net.ErrClosed, "the read ended with")
}
