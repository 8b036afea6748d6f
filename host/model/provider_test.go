package model_test

import (
	"compress/gzip"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// endless is an answer without an end.
func endless(_ int, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	chunk := []byte(`{"choices": "` + strings.Repeat("x", 1<<20))
	for r.Context().Err() == nil {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// bomb is a small answer without an end.
func bomb(_ int, w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Encoding", "gzip")
	packed := gzip.NewWriter(w)
	for chunk := make([]byte, 1<<20); r.Context().Err() == nil; {
		if _, err := packed.Write(chunk); err != nil || packed.Flush() != nil {
			return
		}
	}
}

// endsInTheMiddle is half an answer.
func endsInTheMiddle(_ int, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, "{")
}

// Whatever a provider does, there is one line about it, and no error.
func TestBadProviders(t *testing.T) {
	t.Parallel()
	const ok = "application/json"
	for _, c := range []struct {
		name     string
		answer   func(int, http.ResponseWriter, *http.Request)
		outcome  abi.CompletionOutcome
		detail   string
		requests int
	}{
		{"1 GB", endless, abi.CompletionFailed, "here: the answer has more than 8388608 bytes", 1},
		{"a gzip bomb", bomb, abi.CompletionFailed, "here: the answer has more than 8388608 bytes", 1},
		{"half a JSON", status(200, "Content-Type", ok, `{"choices": [{"mess`), abi.CompletionFailed, "here: the answer is half a JSON (3 requests)", 3},
		{"nothing at all", status(200, "Content-Type", ok, " "), abi.CompletionFailed, "here: the answer is empty (3 requests)", 3},
		{"no JSON", status(200, "Content-Type", ok, "{\"a\": \"\x1b\"}"), abi.CompletionFailed, `here: the answer is not JSON, or nested too deep: invalid character '\x1b' in string literal`, 1},
		{"nested deep", status(200, "Content-Type", ok, `{"choices": `+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+"}"), abi.CompletionFailed, "here: the answer is not JSON, or nested too deep: invalid character '[' exceeded max depth", 1},
		{"long headers", func(n int, w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Long", strings.Repeat("y", 100_000))
			says("yes")(n, w, r)
		}, abi.CompletionFailed, "here: the headers of the answer have more than 65536 bytes", 1},
		{"a rejected parameter", status(400, "Content-Type", ok, `{"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}}`), abi.CompletionFailed, "Use 'max_completion_tokens' instead.", 1},
		{"other JSON", status(200, "Content-Type", ok, `{"choices": 7}`), abi.CompletionFailed, "here: the answer is not the JSON that was expected: check its url", 1},
		{"no choices", status(200, "Content-Type", ok, `{}`), abi.CompletionFailed, "here: the answer has no choices", 1},
		{"an error in place of an answer", status(200, "Content-Type", ok, `{"error": {"message": "no\ncredit", "code": 402}}`), abi.CompletionFailed, "here: no credit", 1},
		{"a page", status(200, "Content-Type", "text/html; charset=utf-8", "<html>"), abi.CompletionFailed, `here: the answer is "text/html" and not application/json: check its url`, 1},
		{"no type", status(200, "Content-Type", "", "{}"), abi.CompletionFailed, `here: the answer is "" and not application/json`, 1},
		{"a wrong key", status(401, "Content-Type", ok, `{"error": {"message": "bad"}}`), abi.CompletionFailed, "here: 401 Unauthorized: the key is not accepted: bad", 1},
		{"no such model", status(404, "Content-Type", ok, `{"error": "model 'tiny' not found"}`), abi.CompletionFailed, "here: 404 Not Found: check the url and the name of the model: model 'tiny' not found", 1},
		{"redirected", status(302, "Location", "https://elsewhere.example/v1?a=b", ""), abi.CompletionFailed, "here: the server redirects to https://elsewhere.example, which is not followed: change its url", 1},
		{"redirected far", status(302, "Location", "https://"+strings.Repeat("a", 60_000)+".example", ""), abi.CompletionFailed, "aaa..., which is not followed: change its url", 1},
		{"another protocol", func(_ int, w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: gopher\r\n\r\n")
			_, _ = io.Copy(io.Discard, conn) // until the client hangs up
			_ = conn.Close()
		}, abi.CompletionFailed, "here: the server switches to another protocol: check its url", 1},
		{"redirected to nowhere", status(308, "X-Nothing", "", ""), abi.CompletionFailed, "here: the server redirects elsewhere", 1},
		{"busy", status(429, "Content-Type", "text/plain", "later"), abi.CompletionFailed, "here: 429 Too Many Requests: later (3 requests)", 3},
		{"broken", status(503, "Content-Type", "text/html", "<html>"), abi.CompletionFailed, "here: 503 Service Unavailable (3 requests)", 3},
		{"a code of its own", status(599, "Content-Type", ok, `{"detail": "x", "type": "y"}`), abi.CompletionFailed, "here: 599: x, y (3 requests)", 3},
		{"an hour", status(429, "Retry-After", "3600", ""), abi.CompletionFailed, "here: 429 Too Many Requests; it asks to wait 3600 s, longer than 1m0s", 1},
		{"a long question", status(400, "Content-Type", ok, `{"error": {"message": "too long", "code": "context_length_exceeded"}}`), abi.CompletionTooLong, "here: 400 Bad Request: too long, context_length_exceeded", 1},
		{"tokens beyond all bounds", func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 0 { // the request before counts, too
				endsInTheMiddle(n, w, r)
				return
			}
			status(200, "Content-Type", ok, `{"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": 1073741824, "completion_tokens": 1073741824}}`)(n, w, r)
		}, abi.CompletionAnswered, "", 2},
		{"a long answer", func(_ int, w http.ResponseWriter, _ *http.Request) { reply(w, "I thi", "length") }, abi.CompletionTooLong, "the answer was cut at its limit of 200 tokens", 1},
		{"a huge answer", says(strings.Repeat("x", 300_000)), abi.CompletionTooLong, "the answer has more than 262144 bytes", 1},
		{"an empty answer", says(""), abi.CompletionFailed, "here: the answer is empty", 1},
		{"filtered", func(_ int, w http.ResponseWriter, _ *http.Request) { reply(w, "I", "content_filter") }, abi.CompletionFailed, "here: the provider's filter ended the answer", 1},
		{"rejected", status(200, "Content-Type", ok, `{"choices": [{"message": {"refusal": "I won't"}}]}`), abi.CompletionFailed, "here: the model rejects the question: I won't", 1},
		{"cut", endsInTheMiddle, abi.CompletionFailed, "here: the answer ended in the middle (3 requests)", 3},
		{"closed", func(_ int, w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_ = conn.Close()
		}, abi.CompletionFailed, "here: ", 3},
		{"a long error", status(500, "Content-Type", ok, `{"error": {"message": "`+strings.Repeat("\\u001b[31mx ", 1000)+`"}}`), abi.CompletionFailed, "here: 500 Internal Server Error: ", 3},
		{"no HTTP", func(_ int, w http.ResponseWriter, _ *http.Request) {
			conn, _, _ := w.(http.Hijacker).Hijack()
			_, _ = io.WriteString(conn, "hello\n")
			_ = conn.Close()
		}, abi.CompletionFailed, "here: the server does not answer in HTTP: ", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, c.answer)
			name := filepath.Join(t.TempDir(), "tape")
			tape := must.Get(model.RecordCassette(name))(t)
			s, _ := open(t, file(p.URL, ""), func(config *model.Config) { config.Cassette = tape })
			got := complete(t, s, ask())
			expect(t, got, c.outcome, c.detail)
			if len(p.asked()) != c.requests || len(got.Detail) > 700 || strings.Contains(got.Detail, "\x1b") {
				t.Errorf("%d requests, want %d: %q", len(p.asked()), c.requests, got.Detail)
			}
			must.Do(t, s.Close())
			tape = must.Get(model.PlayCassette(name))(t) // whatever came is a cassette that plays
			s, _ = open(t, file(p.URL, ""), func(config *model.Config) { config.Cassette = tape })
			check.Same(t, cmp.Diff(got, complete(t, s, ask())))
		})
	}
}

func TestNoProvider(t *testing.T) {
	t.Parallel()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	plain := serve(t, says("x"))
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for _, c := range []struct {
		name, url, detail string
		change            func(*model.Config)
	}{
		{"nobody listens", gone.URL, "here: no connection: dial tcp 127.0.0.1", nil},
		{"a certificate that nobody vouches for", secure.URL, "here: TLS: tls: failed to verify certificate: x509: certificate signed by unknown authority: have the variable SSL_CERT_FILE name", nil},
		{"plain HTTP", strings.Replace(plain.URL, "http:", "https:", 1), "here: TLS: ", nil},
		{"no such host", "https://nowhere.invalid", "here: ", func(c *model.Config) { // whatever the resolver says
			for _, p := range c.Definition.Providers {
				p.Retries = 0
			}
		}},
		{"no key", plain.URL, "the model reader is not there: the environment variable TEST_KEY is not set", func(c *model.Config) { c.Getenv = func(string) string { return "" } }},
		{"a word for a key", plain.URL, "the environment variable TEST_KEY does not hold a key: a key has 8 to 4096 characters", func(c *model.Config) { c.Getenv = func(string) string { return "none" } }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, _ := open(t, file(c.url, ""), func(config *model.Config) {
				if c.change != nil {
					c.change(config)
				}
			})
			got := complete(t, s, ask(samples(3)))
			outcome := abi.CompletionFailed
			if strings.Contains(c.name, "key") {
				outcome = abi.CompletionNotAsked
			}
			expect(t, got, outcome, c.detail)
		})
	}
}

func TestOverTLS(t *testing.T) {
	t.Parallel()
	p := httptest.NewTLSServer(&server{answer: says("yes")})
	t.Cleanup(p.Close)
	s, _ := open(t, file(p.URL, ""), func(c *model.Config) { c.Transport = p.Client().Transport })
	expect(t, complete(t, s, ask()), abi.CompletionAnswered, "")
}

func TestWhatIsNotThere(t *testing.T) {
	t.Parallel()
	p := serve(t, says("x"))
	s, _ := open(t, file(p.URL, ""))
	for _, c := range []struct {
		change  func(*abi.Completion)
		outcome abi.CompletionOutcome
		detail  string
	}{
		{func(c *abi.Completion) { c.Model = "writer\x1b" }, abi.CompletionNotAsked, "there is no model writer␛; there are reader"},
		{func(c *abi.Completion) { c.AnswerTokens = 501 }, abi.CompletionTooLong, "an answer of 501 tokens is asked for, and the model reader gives 500"},
		{func(c *abi.Completion) { c.Messages[1].Content = strings.Repeat("x", 40_000) }, abi.CompletionTooLong, "question and answer have about 10202 tokens, and the context of the model reader has 8000"},
		{func(c *abi.Completion) { c.Messages = nil }, abi.CompletionInvalid, "the question has no messages"},
		{func(c *abi.Completion) { c.Schema = "{" }, abi.CompletionInvalid, "the schema of the question is rejected, and nothing was asked: the JSON ends in the middle"},
	} {
		expect(t, complete(t, s, ask(c.change)), c.outcome, c.detail)
	}
	if len(p.asked()) > 0 {
		t.Errorf("asked %v", p.asked())
	}
	offers := s.Offers(t.Context(), []string{"writer", "reader"})
	if !slices.Equal(offers, []abi.ModelOffer{{Model: "reader", ContextTokens: 8000, AnswerTokens: 500}}) {
		t.Errorf("offers %v", offers)
	}
	if _, err := model.Open(model.Config{}); err == nil {
		t.Error("opened without a definition")
	}
}
