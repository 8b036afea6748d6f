package work_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const (
	oneSecret     = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	anotherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD2kdMNhU1zk8="
	hiddenPart    = "T0SECRETPART"
)

func environment(name string) string {
	return map[string]string{"SECRET": oneSecret, "OLD": anotherSecret, "URL": "https://chat.example/services/" + hiddenPart, "BAD": hiddenPart, "BADURL": "ftp://" + hiddenPart}[name]
}

func docketEvent(yours, open int) *store.HookEvent {
	return &store.HookEvent{Type: store.FailureYours, Docket: &store.HookDocket{
		Docket: store.Docket{ID: 17, State: store.Done, Cases: 30}, Yours: yours, Open: open, NotYours: 30 - yours - open,
	}}
}

// message is the body of an event.
func message(t *testing.T, e *store.HookEvent) []byte {
	t.Helper()
	return must.Get(work.Message("https://court.example", &store.MessageArgs{Event: must.Get(json.Marshal(e))(t)}))(t)
}

// attempt sends an event once, to a webhook with these lines in the file. What is said of it has no secret, and is short.
func attempt(t *testing.T, lines string, change func(*work.Config), resolver *net.Resolver, roots *tls.Config) error {
	t.Helper()
	return sender(t, lines, change, resolver, roots)()
}

func sender(t *testing.T, lines string, change func(*work.Config), resolver *net.Resolver, roots *tls.Config) func() error {
	t.Helper()
	hooks := must.Get(work.ParseHooks(fmt.Appendf(nil, "hooks: [{name: one, events: [docket.finished], secret: env:SECRET, old_secret: env:OLD, %s}]", lines), environment))(t)
	config := work.Config{Webhooks: hooks, Now: time.Now}
	if change != nil {
		change(&config)
	}
	event := must.Get(json.Marshal(docketEvent(2, 1)))(t)
	send := work.Sender(&config, resolver, roots)
	return func() error {
		err := send(t.Context(), &store.MessageArgs{Hook: "one", ID: "msg_1", Event: event})
		text := fmt.Sprint(err)
		for _, secret := range []string{hiddenPart, oneSecret[6:], anotherSecret[6:]} {
			if strings.Contains(text, secret) {
				t.Errorf("what is said has a secret: %q", text)
			}
		}
		if len(text) > 1000 || strings.ContainsAny(text, "\x1b\n\x00") {
			t.Errorf("what is said has %d bytes: %q", len(text), text)
		}
		return err
	}
}

// at are the lines of a webhook on this machine.
func at(address string) string {
	return fmt.Sprintf("url: '%s/services/%s?token=%s', allow_private: true", address, hiddenPart, hiddenPart)
}

// receiver is a server on loopback.
func receiver(t *testing.T, do http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(do)
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s.URL
}

func TestAccept_IG7_SignaturesAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	got, err := work.Signature([]string{oneSecret}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("%s, %v", got, err)
	}
	for _, text := range []string{"", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_short", "whsec_" + strings.Repeat("A", 92), "whsec_not base64 not base64 not base6"} {
		if _, err := work.Signature([]string{text}, "a", time.Unix(0, 0), nil); err == nil || len(text) > 6 && strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A message is verified by the documented snippet with either secret. One that was recorded can't be sent again later, or changed.
func TestAccept_IG7_TheDocumentedReceiverRejectsReplays(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the documented snippet is Python")
	}
	type received struct {
		Secret  string            `json:"secret"`
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Now     int64             `json:"now"`
	}
	var good received
	address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		good = received{oneSecret, map[string]string{}, string(text), time.Now().Unix()}
		for name := range r.Header {
			good.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/services/"+hiddenPart || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	must.Do(t, attempt(t, at(address), nil, nil, nil))
	var sent []received
	for _, change := range []func(*received, map[string]string){
		func(*received, map[string]string) {}, func(m *received, _ map[string]string) { m.Secret = anotherSecret },
		func(m *received, _ map[string]string) { m.Now += 3600 }, func(m *received, _ map[string]string) { m.Now -= 3600 },
		func(m *received, _ map[string]string) { m.Body += " " }, func(_ *received, h map[string]string) { h["webhook-id"] = "msg_2" },
		func(_ *received, h map[string]string) { h["webhook-timestamp"] += "0" },
		func(m *received, _ map[string]string) { m.Secret = "whsec_" + strings.Repeat("A", 32) },
		func(_ *received, h map[string]string) {
			h["webhook-signature"] = "v1,AAAA " + strings.ReplaceAll(h["webhook-signature"], "v1,", "v2,")
		},
	} {
		m := good
		m.Headers = maps.Clone(good.Headers)
		change(&m, m.Headers)
		sent = append(sent, m)
	}
	page := must.Get(os.ReadFile("../../../docs/service.md"))(t)
	snippet := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(page)
	const rest = `
import json, sys
for m in json.load(sys.stdin):
    try:
        print(verify(m["secret"], m["headers"], m["body"].encode(), lambda: m["now"]))
    except ValueError as e:
        print(e)
`
	text := must.Get(json.Marshal(sent))(t)
	c := exec.CommandContext(t.Context(), "python3", "-c", string(snippet[1])+rest)
	c.Stdin, c.Stderr = strings.NewReader(string(text)), os.Stderr
	out := must.Get(c.Output())(t)
	const old, wrong = "too old or too new\n", "wrong signature\n"
	check.Equal(t, string(out), "msg_1\nmsg_1\n"+old+old+wrong+wrong+old+wrong+wrong)
}

// All faults are reported at once, and none quotes a secret or an address.
func TestAccept_IG7_TheFileIsReadStrictly(t *testing.T) {
	t.Parallel()
	_, err := work.ParseHooks([]byte(`
hooks:
  - {name: Upper Case, url: 'https://user:`+hiddenPart+`@chat.example/', events: [], secret: `+oneSecret+`}
  - {name: two, url: 'http://chat.example/`+hiddenPart+`', events: [nothing], secret: env:BAD, old_secret: env:UNSET, repositories: ["[", ""], format: xml, retries: 3}
  - {name: two, url: env:BADURL, events: [docket.finished], format: slack, template: a.tmpl}
  - {name: four, url: 'https://169.254.169.254/`+hiddenPart+`', events: [docket.finished]}
  - {name: five, url: 'https://127.0.0.1/', events: [docket.finished], secret: file:testdata/none}
  - {name: six, url: 'https://chat.example/', events: [docket.finished], format: slack, old_secret: env:OLD, allow_private: maybe}
`), environment)
	text := fmt.Sprint(err)
	for _, want := range []string{
		"hooks[0].name: use 1 to 40", "hooks[0].url: is no address", "hooks[0].events: is empty", "hooks[0].secret: name a variable", "hooks[1].url: must begin with https",
		"hooks[1].events[0]: is no event", "hooks[1].secret: is no secret", "hooks[1].old_secret: the variable is not set", "hooks[1].repositories[0]: is no pattern",
		"hooks[1].repositories[1]: is no pattern", "hooks[1].format: was removed: messages are JSON", "hooks[1].retries: unknown key", "hooks[2].name: is the name of another", "hooks[2].url: is no address",
		"hooks[2].template: unknown key", "hooks[3].url: is an address that", "hooks[3].secret: is missing", "hooks[4].url: is an address that", "hooks[4].secret: there is no such file",
		"hooks[5].format: was removed", "hooks[5].secret: is missing", "hooks[5].allow_private: ",
	} {
		check.Contains(t, text, want, "the error")
	}
	for _, secret := range []string{hiddenPart, oneSecret[6:], anotherSecret[6:]} {
		if strings.Contains(text, secret) {
			t.Errorf("the error has %q", secret)
		}
	}
}

// The documented file is read as it stands there; an address and a secret may be in a variable or a file beside it.
func TestAccept_IG7_TheDocumentedFileIsRead(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("../../../docs/service.md"))(t)
	dir := t.TempDir()
	file := regexp.MustCompile("(?s)```yaml\n(hooks:.*?)```").FindSubmatch(page)[1]
	must.Do(t, os.WriteFile(filepath.Join(dir, "hooks.yaml"), []byte(strings.NewReplacer("TEAM_URL", "URL", "TEAM_SECRET", "SECRET", "/run/secrets/court", "secret").Replace(string(file))), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(oneSecret+"\n"), 0o600))
	hooks, err := work.ReadHooks(filepath.Join(dir, "hooks.yaml"), environment)
	if err != nil || len(hooks) != 2 || hooks[0].Subscription().Name != "team" || len(hooks[1].Subscription().Events) != 3 {
		t.Errorf("%v, %v", hooks, err)
	}
	if _, err := work.ReadHooks(filepath.Join(dir, "nowhere.yaml"), environment); err == nil {
		t.Error("a file that is not there was read")
	}
}

// FuzzParseHooks reads files of webhooks: without a panic, and without a secret in an error. A file without hooks gives a list.
func FuzzParseHooks(f *testing.F) {
	f.Add([]byte("hooks:\n  - name: one\n    url: env:URL\n    events: [docket.finished]\n    secret: env:SECRET\n"))
	f.Add([]byte("hooks: [{name: a, url: 'http://[::1]:1/%zz', repositories: ['[']}]"))
	f.Add([]byte("hooks: []"))
	f.Fuzz(func(t *testing.T, data []byte) {
		hooks, err := work.ParseHooks(data, environment)
		must.Equal(t, err == nil, hooks != nil, hooks, err)
		if err != nil && strings.Contains(err.Error(), oneSecret[6:]) && !strings.Contains(string(data), oneSecret[6:]) {
			t.Fatal(err)
		}
	})
}

func TestAccept_IG7_MessagesLinkToPages(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*store.HookEvent{"/dockets/17": docketEvent(2, 1), "/modules/7": {Generation: &store.HookGeneration{ID: 7}}} {
		if text := message(t, e); !strings.Contains(string(text), `"url":"https://court.example`+want+`"`) {
			t.Errorf("%s lacks %s", text, want)
		}
	}
}

func TestAccept_IG7_WhatIsRetried(t *testing.T) {
	t.Parallel()
	status := http.StatusOK
	address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, "no such hook %s\x1b[2J\x00%s", r.URL, oneSecret)
	})
	send := sender(t, at(address), nil, nil, nil)
	for status = 300; status < 600; status++ {
		again := status >= 500 || status == 408 || status == 409 || status == 425 || status == 429
		if err := send(); err == nil || errors.Is(err, work.ErrLasting) == again || strings.TrimSuffix(err.Error(), ": "+work.ErrLasting.Error()) != "status "+strconv.Itoa(status) {
			t.Errorf("%d: %v", status, err)
		}
	}
}

func TestAccept_IG7_RedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	target := receiver(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, to := range []string{target, "http://169.254.169.254/latest/meta-data/", "file:///etc/passwd"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			address := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", to)
				w.WriteHeader(status)
			})
			check.Is(t, attempt(t, at(address), nil, nil, nil), work.ErrLasting, status, "to", to)
		}
	}
	check.Equal(t, asked.Load(), 0, "redirects were followed")
}

// raw is a server that writes a text, and then another one again and again until the connection breaks. It counts the bytes of the latter.
func raw(t *testing.T, first, again string, pause time.Duration, sent *atomic.Int64) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must.Do(t, err)
	var all sync.WaitGroup
	serve := func(c net.Conn) {
		defer func() { _ = c.Close() }()
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		_, err := io.WriteString(c, first)
		for err == nil && again != "" {
			var n int
			n, err = io.WriteString(c, again)
			sent.Add(int64(n))
			time.Sleep(pause)
		}
	}
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(c) })
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return "http://" + l.Addr().String()
}

// What a receiver does costs an attempt its time and some kilobytes at most, and is tried again.
func TestAccept_IG7_HostileReceiversAreHeldWithinLimits(t *testing.T) {
	t.Parallel()
	const drip, much = 20 * time.Millisecond, 16 << 20 // the system's buffers take some
	kilobyte := strings.Repeat("x", 1024)
	for name, r := range map[string]struct {
		first, again string
		pause        time.Duration
		most         int64 // bytes that the receiver gets rid of
	}{
		"endless body":       {"HTTP/1.1 500 no\r\nTransfer-Encoding: chunked\r\n\r\n", "400\r\n" + kilobyte + "\r\n", 0, much},
		"endless header":     {"HTTP/1.1 200 OK\r\n", "X-A: " + kilobyte + "\r\n", 0, much},
		"endless line":       {"", kilobyte, 0, much},
		"endless 1xx":        {"", "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", 0, much},
		"slow drip of head":  {"", "H", drip, 1 << 10},
		"slow drip of body":  {"HTTP/1.1 503 no\r\nContent-Length: 100000\r\n\r\n", "x", drip, 1 << 10},
		"closes at once":     {},
		"another protocol":   {"220 \x1b[2J" + hiddenPart + "\r\n", "", 0, 0},
		"compressed nothing": {"HTTP/1.1 500 no\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00", "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			err := attempt(t, at(raw(t, r.first, r.again, r.pause, &sent)), func(c *work.Config) { c.HookTime = 700 * time.Millisecond }, nil, nil)
			if err == nil || errors.Is(err, work.ErrLasting) || sent.Load() > r.most {
				t.Errorf("%d bytes were taken: %v", sent.Load(), err)
			}
		})
	}
}

func TestAccept_IG7_CertificatesAreVerified(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	check.Fails(t, attempt(t, at(s.URL), nil, nil, nil), "certificate", "an unknown certificate")
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	must.Do(t, attempt(t, at(s.URL), nil, nil, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}))
}

func TestAccept_IG7_AddressesThatAreBlocked(t *testing.T) {
	t.Parallel()
	for allowed, addresses := range map[string]string{
		"never": "169.254.169.254 169.254.0.1 fe80::1 fe80::1%eth0 ::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe::1 fd00:ec2::254 168.63.129.16 100.100.100.200 192.0.0.192 " +
			"0.0.0.0 :: 224.0.0.1 255.255.255.255 ff02::1 ::7f00:1 2001:0:1::1 64:ff9b:1::1",
		"private": "127.0.0.1 127.8.8.8 ::1 10.1.2.3 172.31.0.1 192.168.1.1 100.64.0.1 fd12::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:a00:1::1 198.18.0.1",
		"always":  "93.184.216.34 172.32.0.1 2606:2800:220:1::1 64:ff9b::5db8:d822 100.128.0.1",
	} {
		for address := range strings.FieldsSeq(addresses) {
			a := netip.MustParseAddr(address)
			if httplimit.AllowedAddress(a, false) != (allowed == "always") || httplimit.AllowedAddress(a, true) != (allowed != "never") {
				t.Errorf("%s must be allowed %s", address, allowed)
			}
		}
	}
}

// names is a DNS server whose answers for every name change from query to query.
func names(t *testing.T, answers ...[4]byte) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		for asked := 0; ; {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var m dnsmessage.Message
			if m.Unpack(buffer[:n]) != nil || len(m.Questions) != 1 {
				continue
			}
			q := m.Questions[0]
			reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true, RecursionAvailable: true}, Questions: m.Questions}
			if q.Type == dnsmessage.TypeA {
				reply.Answers = []dnsmessage.Resource{{
					Header: dnsmessage.ResourceHeader{Name: q.Name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET},
					Body:   &dnsmessage.AResource{A: answers[min(asked, len(answers)-1)]},
				}}
				asked++
			}
			if packed, err := reply.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// A name that resolved to a public address before, and now to one of this machine or of the cloud, is not dialled.
func TestAccept_IG7_NamesThatAreRebound(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ConnState = func(net.Conn, http.ConnState) { asked.Add(1) }
	s.Start()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	must.Do(t, err)
	public, own, cloud := [4]byte{203, 0, 113, 9}, [4]byte{127, 0, 0, 1}, [4]byte{169, 254, 169, 254} // the first is for documentation: nobody answers there
	send := sender(t, "url: 'https://rebound.example:"+port+"/"+hiddenPart+"'", func(c *work.Config) { c.HookTime = time.Second }, names(t, public, own, cloud), nil)
	for i, blocked := range []bool{false, true, true} {
		if err := send(); err == nil || errors.Is(err, work.ErrLasting) != blocked || strings.Contains(err.Error(), "is blocked") != blocked {
			t.Errorf("attempt %d: %v", i, err)
		}
	}
	check.Equal(t, asked.Load(), 0, "it was dialled")
	// The operator who allows private addresses reaches it, but not the cloud's metadata.
	allow := "url: 'http://rebound.example:" + port + "/', allow_private: true"
	must.Do(t, attempt(t, allow, nil, names(t, own), nil))
	if err := attempt(t, allow, nil, names(t, cloud), nil); !errors.Is(err, work.ErrLasting) || asked.Load() == 0 {
		t.Error(err)
	}
}

var hooks7 = map[string]func(*testing.T, *store.Store){"events": hookEvents, "retries": hookRetries, "slow": slowReceiver}

func TestAccept_IG7_WebhooksOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, hooks7) }

// aHook is a webhook in a file.
func aHook(name, url, events, more string) string {
	return fmt.Sprintf("  - {name: %s, url: %q, events: [%s], secret: env:SECRET, allow_private: true%s}\n", name, url, events, more)
}

func setHooks(t testing.TB, s *store.Store, text string) []*work.Hook {
	t.Helper()
	hooks := must.Get(work.ParseHooks([]byte("hooks:\n"+text), environment))(t)
	var list []store.Webhook
	for _, h := range hooks {
		list = append(list, h.Subscription())
	}
	must.Do(t, s.SetWebhooks(t.Context(), list))
	return hooks
}

// sends has a worker send to webhooks, and gives what came of attempts.
func sends(t testing.TB, s *store.Store, text string, timeout time.Duration) func(outcome string) int {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	start(t, s, func(c *work.Config) {
		c.Webhooks, c.HookTime, c.HookPause = setHooks(t, s, text), timeout, 10*time.Millisecond
		c.OnMessage = func(hook, outcome string) {
			mu.Lock()
			defer mu.Unlock()
			counts[hook+" "+outcome]++
		}
	})
	return func(outcome string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[outcome]
	}
}

// arrived is a message as a receiver got it.
type arrived struct {
	id   string
	Type store.HookEventType `json:"type"`
	Data store.HookEvent     `json:"data"` // without Type and Time
}

// inbox is a receiver that keeps messages, and answers as told.
type inbox struct {
	*httptest.Server

	mu   sync.Mutex
	list []arrived
}

func newInbox(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request)) *inbox {
	t.Helper()
	b := &inbox{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := arrived{id: r.Header.Get("webhook-id")}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Error(err)
		}
		b.mu.Lock()
		b.list = append(b.list, m)
		n := len(b.list)
		b.mu.Unlock()
		if answer != nil {
			answer(n, w, r)
		}
	}))
	t.Cleanup(b.Close)
	t.Cleanup(b.CloseClientConnections)
	return b
}

func (b *inbox) messages() []arrived {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.list)
}

// ids are those of the messages, with the number of times that each came.
func (b *inbox) ids() map[string]int {
	count := map[string]int{}
	for _, m := range b.messages() {
		count[m.id]++
	}
	return count
}

// until waits until something is the case.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// pushed sends answers of the alibi.
func pushed(t testing.TB, s *store.Store, sent store.Submission, verdicts ...alibi.Verdict) store.Docket {
	t.Helper()
	sent.Format, sent.Submitter = store.FormatAlibi, "ci"
	u := must.Get(s.Submit(t.Context(), sent))(t)
	for i, verdict := range verdicts {
		a := &store.Alibi{Verdict: verdict, Why: "runs"}
		switch verdict {
		case alibi.IsYours:
			a.Label, a.Culprit = alibi.Caused, &alibi.Culprit{Commit: "9ab12cd"}
		case alibi.NotYours:
			a.Label = alibi.Preexisting
		case alibi.IsOpen:
		}
		c := abi.Case{ID: fmt.Sprintf("Test%d", i+1), Subject: "fails", Labels: alibi.Labels()}
		tried := &trial.Trial{Case: c, Result: trial.Result{ID: c.ID, Final: trial.Final{Status: trial.Accepted, Classification: alibi.Caused, Confidence: 0.99}}}
		must.Do(t, u.AddTried(t.Context(), &docket.Entry{Case: c}, store.NewVerdict{Trial: tried, Alibi: a}))
	}
	d, _, err := u.FinishTried(t.Context(), "body of "+sent.Key, nil)
	must.Do(t, err)
	must.Do(t, u.Abort(t.Context()))
	return d
}

// hookEvents: what happens is told once to each webhook that is to be told of it.
func hookEvents(t *testing.T, s *store.Store) {
	t.Helper()
	boxes := map[string]*inbox{}
	var lines strings.Builder
	for name, is := range map[string][2]string{
		"all":         {"docket.finished, failure.yours, failure.open, verdict.corrected, generation.activated"},
		"yours":       {"failure.yours", ", repositories: [sh*]"},
		"docket":      {"docket.finished", ", repositories: [other, 'github.com/*/store']"},
		"corrections": {"verdict.corrected", ", repositories: [shop]"},
	} {
		boxes[name] = newInbox(t, nil)
		lines.WriteString(aHook(name, boxes[name].URL, is[0], is[1]))
	}
	file := lines.String()
	// What waits for a webhook that the file does not have any more is removed; what waits for another one is sent.
	gone := newInbox(t, nil)
	with := file + aHook("gone", gone.URL, "docket.finished", "")
	setHooks(t, s, with)
	pushed(t, s, store.Submission{Repository: "empty"})
	setHooks(t, s, file)
	sends(t, s, with, 0) // this worker would send to it
	setHooks(t, s, file)

	want := []string{"all docket.finished"}
	expect := func(what string, more ...string) {
		t.Helper()
		want = append(want, more...)
		slices.Sort(want)
		got := func() (list []string) {
			for name, box := range boxes {
				for _, m := range box.messages() {
					list = append(list, name+" "+string(m.Type))
				}
			}
			slices.Sort(list)
			return list
		}
		until(t, fmt.Sprintf("%s: %q", what, want), func() bool { return len(got()) >= len(want) })
		if !slices.Equal(got(), want) {
			t.Fatalf("%s: %q instead of %q", what, got(), want)
		}
	}
	first := pushed(t, s, store.Submission{Repository: "shop", Key: "once", Name: "build"}, alibi.NotYours, alibi.IsOpen, alibi.IsYours, alibi.IsYours)
	expect("two are yours", "all failure.yours", "yours failure.yours")
	d := boxes["yours"].messages()[0].Data.Docket
	if d.ID != first.ID || d.Yours != 2 || d.Open != 1 || d.NotYours != 1 || d.State != store.Done || d.Cases != 4 {
		t.Errorf("%+v", d)
	}
	pushed(t, s, store.Submission{Repository: "shop", Key: "once", Name: "build"}, alibi.NotYours, alibi.IsOpen, alibi.IsYours, alibi.IsYours)
	other := pushed(t, s, store.Submission{Repository: "other"}, alibi.IsOpen)
	expect("the same again, and one that is open", "all failure.open", "docket docket.finished")
	pushed(t, s, store.Submission{Repository: "github.com/acme/store"}, alibi.NotYours)
	expect("none is yours", "all docket.finished", "docket docket.finished")
	ended := submit(t, s, store.Submission{Format: "jsonl", Repository: "empty"}, []docket.Entry{failing()})
	wait(t, s, ended.ID)
	expect("a docket that was tried", "all failure.open")
	c := must.Get(s.Correct(t.Context(), "ann", alibi.Preexisting, []store.TrialID{{Docket: first.ID, Ordinal: 3}, {Docket: first.ID, Ordinal: 4}, {Docket: other.ID, Ordinal: 1}}))(t)
	expect("a correction about two repositories", "all verdict.corrected", "corrections verdict.corrected")
	must.Get(s.Undo(t.Context(), "bob", c.ID))(t)
	expect("it was undone", "all verdict.corrected", "corrections verdict.corrected")
	for i, author := range []string{"ann", "bob"} {
		told := boxes["corrections"].messages()[i].Data.Correction
		if told.ID != c.ID || told.Label != alibi.Preexisting || told.Author != author || !slices.Equal(told.Repositories, []string{"other", "shop"}) || told.Trials != 3 || told.Undone != (i == 1) {
			t.Errorf("%+v", told)
		}
	}
	current := must.Get(s.CurrentGeneration(t.Context()))(t)
	must.Get(s.Activate(t.Context(), "ann", current))(t)
	expect("a generation is in force", "all generation.activated")
	check.Equal(t, len(gone.messages()), 0, "a webhook that was removed got messages")
}

// hookRetries: a receiver fails in some ways, and then gets the message, under one ID. One that rejects it, and one that is not there, are given up.
func hookRetries(t *testing.T, s *store.Store) {
	t.Helper()
	flaky := newInbox(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		} else if n < 4 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	rejects := newInbox(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	came := sends(t, s, aHook("flaky", flaky.URL, "docket.finished", "")+aHook("rejects", rejects.URL, "docket.finished", "")+aHook("none", "http://127.0.0.1:1/", "docket.finished", ""), 0)
	pushed(t, s, store.Submission{Repository: "shop"}, alibi.IsYours)
	until(t, "all have ended", func() bool { return came("flaky delivered")+came("rejects dead")+came("none dead") == 3 })
	if n := came("flaky pending"); n != 3 || len(flaky.messages()) != 4 || len(flaky.ids()) != 1 || len(rejects.messages()) != 1 || came("none pending") != 12 {
		t.Errorf("%d attempts failed, %+v", n, flaky.messages())
	}
}

// slowReceiver: one that answers nothing has two messages at most, and holds up neither another nor trials.
func slowReceiver(t *testing.T, s *store.Store) {
	t.Helper()
	var now atomic.Int32
	release := make(chan struct{})
	slow := newInbox(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		if n := now.Add(1); n > 2 {
			t.Errorf("%d messages at once", n)
		}
		defer now.Add(-1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	fast := newInbox(t, nil)
	came := sends(t, s, aHook("slow", slow.URL, "docket.finished", "")+aHook("fast", fast.URL, "docket.finished", ""), 10*time.Minute) // a server sees late that an attempt timed out
	const n = 20
	for i := range n {
		pushed(t, s, store.Submission{Repository: "shop", Key: strconv.Itoa(i)}, alibi.IsYours)
	}
	tried := wait(t, s, submit(t, s, store.Submission{Format: "jsonl", Repository: "shop"}, []docket.Entry{failing()}).ID)
	until(t, "the fast one has all", func() bool { return len(fast.ids()) == n+1 })
	check.Equal(t, came("slow delivered"), 0, "the slow one")
	close(release)
	until(t, "the slow one has all", func() bool { return came("slow delivered") == n+1 })
	if len(fast.messages()) != n+1 || tried.State != store.Done || strings.Contains(fmt.Sprint(slow.ids()), ":2") {
		t.Errorf("%d messages, %+v", len(fast.messages()), tried)
	}
}
