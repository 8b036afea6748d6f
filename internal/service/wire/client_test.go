package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const token = "sct_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// at makes a client of a server that waits for nothing but the end of a request.
func at(t *testing.T, h http.HandlerFunc) *wire.Client {
	t.Helper()
	return connect(t, h, wire.ClientConfig{Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
}

func connect(t *testing.T, h http.HandlerFunc, config wire.ClientConfig) *wire.Client {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Listener = httplimit.NewPool(0).Listener(server.Listener) // as the service does
	server.Start()
	t.Cleanup(server.Close)
	config.Server, config.Token, config.Program = server.URL+"/", token, "test/1"
	return must.Get(wire.NewClient(config))(t)
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

// read reads all trials, until an error.
func read(t *testing.T, c *wire.Client) (ordinals []int, err error) {
	t.Helper()
	for l, err := range c.Trials(t.Context(), &wire.Docket{ID: 7, Cases: 3}, wire.Results) {
		if err != nil {
			return ordinals, err
		}
		ordinals = append(ordinals, l.Ordinal)
	}
	return ordinals, nil
}

// TestAccept_SV6_AHostileServerGetsOneClearMessage: whatever a server answers, the error says what is wrong, is no page long, and has
// nothing of the token.
func TestAccept_SV6_AHostileServerGetsOneClearMessage(t *testing.T) {
	t.Parallel()
	me := func(c *wire.Client, t *testing.T) error { //nolint:thelper // it is what the test does
		_, err := c.Me(t.Context())
		return err
	}
	trials := func(c *wire.Client, t *testing.T) error { //nolint:thelper // it is what the test does
		_, err := read(t, c)
		return err
	}
	lines := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			_, _ = io.WriteString(w, text)
		}
	}
	const result = `{"docket":7,"ordinal":1,"case":"a","result":{"id":"a","final":{"status":"accepted"}}}` + "\n"
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		do      func(*wire.Client, *testing.T) error
		want    string
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>Welcome</html>")
		}, me, "is not a Shadowcourt service: its answer is no JSON"},
		"other JSON": {func(w http.ResponseWriter, _ *http.Request) { answer(w, `{"login":"octocat"}`) }, me, "is not a Shadowcourt service: it does not say who you are"},
		"a list":     {func(w http.ResponseWriter, _ *http.Request) { answer(w, `[]`) }, me, "is not a Shadowcourt service: its answer has another form"},
		"nothing":    {func(w http.ResponseWriter, _ *http.Request) { answer(w, ``) }, me, "is not a Shadowcourt service: its answer has another form"},
		"no path":    {http.NotFound, me, "is not a Shadowcourt service: it answers with status 404"},
		"an answer without end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			for r.Context().Err() == nil {
				_, _ = w.Write(bytes.Repeat([]byte(" "), 1<<16))
			}
		}, me, "is not a Shadowcourt service: its answer is too long"},
		"headers without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
		}, me, "server response headers exceeded"},
		"compressed": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			answer(w, "\x1f\x8b\x08")
		}, me, "its answer has another form"},
		"nobody": {func(w http.ResponseWriter, _ *http.Request) {
			wire.WriteProblem(w, wire.NewProblem(http.StatusUnauthorized, wire.Unauthenticated, "the token is not valid here"))
		}, me, "the token is not valid here (unauthenticated); `shadowcourt login http://"},
		"not allowed": {func(w http.ResponseWriter, _ *http.Request) {
			wire.WriteProblem(w, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "this needs the scope submit"))
		}, me, "this needs the scope submit (forbidden)"},
		"too many requests, for hours": {func(w http.ResponseWriter, _ *http.Request) {
			wire.WriteProblem(w, wire.NewProblem(http.StatusTooManyRequests, wire.TooManyRequests, "too many requests").After(2*time.Hour))
		}, me, "too many requests (too_many_requests); try again in 2h0m0s"},
		"a proxy without a service": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, trials, "status 502, and not from a Shadowcourt service"},
		"a page of trials":          {func(w http.ResponseWriter, _ *http.Request) { answer(w, `{}`) }, trials, "is not a Shadowcourt service: it gives no trials"},
		"another docket":            {lines(strings.Replace(result, "7", "8", 1)), trials, "behind entry 7-0 can't be read: it is not of this docket"},
		"an entry again":            {lines(result + result), trials, "behind entry 7-1 can't be read: it is not of this docket, or out of order"},
		"fields of another version": {lines(strings.Replace(result, `"id"`, `"surprise":1,"id"`, 1)), trials, `unknown field "surprise"; has the service another version`},
		"a line without end": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			for r.Context().Err() == nil {
				_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20))
			}
		}, trials, "a trial has more than 67108864 bytes"},
		"too many values": {lines(`{"docket":7,"ordinal":1,"case":"a","result":{"id":"a","path":[` + strings.Repeat(`"",`, 1<<20) + `""]}}` + "\n"), trials, "it has too many values"},
		"half a body, always": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/jsonl")
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, result[:20])
		}, trials, "the connection was closed before the answer was complete"},
		"the end of the answer before that of the docket": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/trials") {
				lines("\n")(w, r)
				return
			}
			answer(w, `{"id":7,"state":"running"}`)
		}, trials, "the answer ended before the docket did"},
		"the end of a docket without all results": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/trials") {
				if w.Header().Set("Content-Type", "application/jsonl"); r.URL.Query().Get("from") == "1" {
					_, _ = io.WriteString(w, result)
				}
				return
			}
			answer(w, `{"id":7,"state":"done","cases":1,"tried":1}`)
		}, trials, "docket 7 is done, and 2 of its 3 results are missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.do(at(t, tc.handler), t)
			switch {
			case err == nil || !strings.Contains(err.Error(), tc.want):
				t.Errorf("%v, want one with %q", err, tc.want)
			case len(err.Error()) > 300 || strings.Contains(err.Error(), token):
				t.Errorf("the error is %q", err)
			}
		})
	}
}

// TestAccept_SV6_NoTokenFollowsARedirect: neither to another host nor to another path of the same one.
func TestAccept_SV6_NoTokenFollowsARedirect(t *testing.T) {
	t.Parallel()
	var others atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others.Add(1) }))
	t.Cleanup(other.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		var requests atomic.Int32
		c := at(t, func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			check.Equal(t, r.Header.Get("Authorization"), "Bearer "+token, "the server itself")
			http.Redirect(w, r, other.URL+"/steal?x=1", status)
		})
		_, err := c.Me(t.Context())
		want := " redirects to " + other.URL + "/steal, which gets no token from here"
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), token) {
			t.Errorf("%d: %v, want %q", status, err, want)
		}
		_, _, err = c.Submit(t.Context(), &wire.Submission{Key: "k"}, []byte("docket"))
		if err == nil || !strings.Contains(err.Error(), want) || requests.Load() != 2 {
			t.Errorf("%d: a docket: %v after %d requests", status, err, requests.Load())
		}
	}
	check.Equal(t, others.Load(), 0, "the other server", "requests")
}

// TestAccept_SV6_ASubmissionThatWasCutOffIsSentAgain: whole, and under the same key.
func TestAccept_SV6_ASubmissionThatWasCutOffIsSentAgain(t *testing.T) {
	t.Parallel()
	report := strings.Repeat("all of the report\n", 1<<16)
	var keys []string
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		switch len(keys) {
		case 1: // in the middle
			_, _ = z.Read(make([]byte, 100))
			panic(http.ErrAbortHandler)
		case 2: // behind the whole, when the docket is there
			_, _ = io.Copy(io.Discard, z)
			panic(http.ErrAbortHandler)
		case 3:
			wire.WriteProblem(w, wire.NewProblem(http.StatusServiceUnavailable, wire.Unavailable, "too many dockets are received at once").After(time.Second))
			return
		}
		if text, err := io.ReadAll(z); err != nil || string(text) != report {
			t.Errorf("%d bytes, %v", len(text), err)
		}
		answer(w, `{"id":7,"name":"r","state":"queued","format":"junit","cases":3}`)
	})
	d, known, err := c.Submit(t.Context(), &wire.Submission{Key: "k", Name: "r"}, []byte(report))
	if err != nil || d.ID != 7 || known || fmt.Sprint(keys) != "[k k k k]" {
		t.Errorf("%+v, %t, %v, keys %q", d, known, err, keys)
	}
}

// A docket that is rejected is not sent, where the server says so before the body, and not sent again.
func TestARejectedDocketIsRejectedOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reads int
		fault *wire.Problem
		want  string
	}{
		{0, wire.NewProblem(http.StatusForbidden, wire.Forbidden, "this needs the scope submit"), "this needs the scope submit (forbidden)"},
		{1000, wire.NewProblem(http.StatusRequestEntityTooLarge, wire.TooLarge, "the docket has more than 1000 bytes"), "the docket has more than 1000 bytes (too_large)"},
		{1000, wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, "no case can be tried").
			Add(wire.Fault{Path: "line 3: labels[1]", Code: "duplicate_label", Message: "occurs twice"}), "no case can be tried (bad_docket)\nline 3: labels[1]: occurs twice (duplicate_label)"},
	} {
		requests := 0
		c := at(t, func(w http.ResponseWriter, r *http.Request) {
			requests++
			_, _ = io.ReadFull(r.Body, make([]byte, tc.reads))
			wire.WriteProblem(w, tc.fault)
		})
		_, _, err := c.Submit(t.Context(), &wire.Submission{Key: "k"}, long)
		rejected, ok := errors.AsType[*wire.Error](err)
		if !ok || !rejected.Rejected() || !strings.Contains(err.Error(), tc.want) || requests != 1 {
			t.Errorf("%v after %d requests, want %q", err, requests, tc.want)
		}
	}
}

// What stands before a service may reset the connection right behind its answer, as this server does. Linux lets the answer be read then;
// other systems may drop it.
func TestAnAnswerBeforeAResetIsRead(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1000))
		wire.WriteProblem(w, wire.NewProblem(http.StatusUnprocessableEntity, wire.BadDocket, "no case can be tried"))
	}))
	t.Cleanup(server.Close)
	c := must.Get(wire.NewClient(wire.ClientConfig{Server: server.URL, Program: "test/1", Again: func(err error, _ time.Duration) { t.Error(err) }}))(t)
	for range 5 {
		if _, _, err := c.Submit(t.Context(), &wire.Submission{Key: "k"}, long); err == nil || !strings.Contains(err.Error(), "no case can be tried (bad_docket)") {
			t.Fatal(err)
		}
	}
}

// long are bytes that can't be compressed, more than a connection takes that nobody reads.
var long = func() []byte {
	text := make([]byte, 16<<20)
	_, _ = rand.NewChaCha8([32]byte{}).Read(text)
	return text
}()

// TestAccept_SV6_TrialsContinueWhereTheyWereCutOff: behind the last whole line, whether the connection broke or ended as if all was said.
func TestAccept_SV6_TrialsContinueWhereTheyWereCutOff(t *testing.T) {
	t.Parallel()
	var from []string
	c := at(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/trials") {
			state := "running"
			if len(from) >= 3 {
				state = "done"
			}
			answer(w, `{"id":7,"state":"`+state+`","cases":3}`)
			return
		}
		from = append(from, r.URL.Query().Get("from"))
		w.Header().Set("Content-Type", "application/jsonl")
		line := func(n int) string {
			return fmt.Sprintf(`{"docket":7,"ordinal":%d,"case":"a","result":{"id":"a","final":{"status":"accepted"}}}`+"\n", n)
		}
		flush := func(text string) {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		switch len(from) {
		case 1:
			flush("\n" + line(1) + line(2)[:30])
			panic(http.ErrAbortHandler)
		case 2:
			flush(line(2) + line(3)[:30]) // ends as if it was whole
		case 3:
			flush("")
		case 4:
			flush(line(3))
		}
	})
	ordinals, err := read(t, c)
	if err != nil || fmt.Sprint(ordinals) != "[1 2 3]" || fmt.Sprint(from) != "[1 2 3 3]" {
		t.Errorf("%v, %v, from %v", ordinals, err, from)
	}
}

// A server that sends a byte now and then, and never an answer or a line, is left as one that stands still.
func TestAServerThatDripsIsLeft(t *testing.T) {
	t.Parallel()
	for kind, do := range map[string]func(*wire.Client) error{
		"application/json":  func(c *wire.Client) error { _, err := c.Docket(t.Context(), 7); return err },
		"application/jsonl": func(c *wire.Client) error { _, err := read(t, c); return err },
	} {
		c := connect(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				_ = http.NewResponseController(w).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		}, wire.ClientConfig{Stall: 50 * time.Millisecond, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
		var lost *wire.ConnectionError
		// On a busy machine the bytes come so late that the connection counts as standing still.
		if err := do(c); !errors.As(err, &lost) || !strings.Contains(err.Error(), "no whole answer came in time") && !strings.Contains(err.Error(), "stood still") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// A server that says nothing any more, in an answer or while it should read, is left after a time.
func TestAServerThatStandsStillIsLeft(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*wire.Client) error{
		"answer": func(c *wire.Client) error { _, err := c.Docket(t.Context(), 7); return err },
		"upload": func(c *wire.Client) error {
			_, _, err := c.Submit(t.Context(), &wire.Submission{Key: "k"}, long)
			return err
		},
	} {
		left := make(chan struct{})
		c := connect(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
			} else {
				_, _ = r.Body.Read(make([]byte, 1)) // it wants the body
			}
			<-left // r.Context does not end while the body is unread: net/http reads no further to see that the client left
		}, wire.ClientConfig{Stall: 100 * time.Millisecond, Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() }})
		var lost *wire.ConnectionError
		if err := do(c); !errors.As(err, &lost) || !strings.Contains(err.Error(), "the connection stood still for too long") {
			t.Errorf("%s: %v", name, err)
		}
		close(left)
	}
}

// The same requests are made again after faults that may pass, until too many came without progress.
func TestWhatMayPassIsTriedAgain(t *testing.T) {
	t.Parallel()
	var waited time.Duration
	requests := 0
	c := connect(t, func(w http.ResponseWriter, _ *http.Request) {
		requests++
		w.WriteHeader(http.StatusBadGateway)
	}, wire.ClientConfig{Wait: func(ctx context.Context, d time.Duration) error {
		waited += d
		return ctx.Err()
	}})
	_, err := c.Docket(t.Context(), 7)
	if err == nil || requests != 9 || waited < 30*time.Second || waited > 2*time.Minute {
		t.Errorf("%v after %d requests and %s", err, requests, waited)
	}
	requests = 0
	if _, err := c.Me(t.Context()); err == nil || requests != 1 {
		t.Errorf("%v after %d requests: the first request does not wait", err, requests)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(c.Docket(ctx, 7)), context.Canceled, "canceled")
}

func TestServersAndTheirOrigins(t *testing.T) {
	t.Parallel()
	for server, want := range map[string]string{
		"https://court.example":         "https://court.example",
		"https://Court.Example:443/x/":  "https://court.example",
		"http://court.example:80":       "http://court.example",
		"http://court.example:443":      "http://court.example:443",
		"http://[::1]:8712":             "http://[::1]:8712",
		"http://127.0.0.1:8712":         "http://127.0.0.1:8712",
		"https://court.example/?a=b":    "",
		"https://a:" + token + "@court": "",
		"court.example":                 "",
		"ftp://court.example":           "",
		"https://":                      "",
		"":                              "",
		"https://court.example#x":       "",
	} {
		got, err := wire.Origin(server)
		if got != want || (err == nil) != (want != "") || err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%q: %q, %v", server, got, err)
		}
	}
}
