package webhook_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

// noon is the clock of senders.
var noon = time.Unix(1_800_000_000, 0)

// receiver is a server on loopback.
func receiver(t *testing.T, do http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(do)
	t.Cleanup(s.CloseClientConnections)
	t.Cleanup(s.Close)
	return s.URL
}

// sendOnce makes an attempt at an address.
func sendOnce(t *testing.T, address string, attempt int, change func(*webhook.Config)) store.Delivery {
	t.Helper()
	return attemptAt(t, "url: "+address+"/services/"+hiddenPart+"?token="+hiddenPart+"\nsecret: env:SECRET\nold_secret: env:OLD\nallow_private: true", attempt, change)
}

func attemptAt(t *testing.T, lines string, attempt int, change func(*webhook.Config)) store.Delivery {
	t.Helper()
	config := webhook.Config{
		Hooks: []*webhook.Hook{hook(t, lines)}, PublicURL: &url.URL{Scheme: "https", Host: "court.example"}, Now: func() time.Time { return noon },
		Random: func() float64 { return 0.5 }, Timeout: 10 * time.Second,
	}
	if change != nil {
		change(&config)
	}
	d := store.Delivery{ID: 1, Message: "msg_1", Hook: "one", State: store.DeliverySending, Attempt: attempt, What: *docketEvent("a", 2, 1)}
	must(t, webhook.NewSender(config).Attempt(t.Context(), &d))
	for _, secret := range []string{hiddenPart, oneSecret[6:], anotherSecret[6:]} {
		if strings.Contains(d.Answer, secret) {
			t.Errorf("the answer that is kept has a secret: %q", d.Answer)
		}
	}
	if len(d.Answer) > 1000 || strings.ContainsAny(d.Answer, "\x1b\n\x00") {
		t.Errorf("the answer that is kept: %d bytes, %q", len(d.Answer), d.Answer)
	}
	return d
}

// The signature is verified by the documented snippet, with either secret.
func TestAccept_IG7_MessagesAreSigned(t *testing.T) {
	t.Parallel()
	needPython(t)
	var got received
	address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = received{Headers: map[string]string{}, Body: string(text), Now: noon.Unix() + 1}
		for name := range r.Header {
			got.Headers[strings.ToLower(name)] = r.Header.Get(name)
		}
		if r.Method != http.MethodPost || r.URL.Path != "/services/"+hiddenPart || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
		}
		w.WriteHeader(http.StatusAccepted)
	})
	if d := sendOnce(t, address, 1, nil); d.State != store.Delivered || d.Status != http.StatusAccepted || d.Answer != "" {
		t.Fatalf("%+v", d)
	}
	for _, secret := range []string{oneSecret, anotherSecret} {
		got.Secret = secret
		if ids := verify(t, got); ids[0] != "msg_1" {
			t.Errorf("%q", ids)
		}
	}
	if got.Headers["webhook-timestamp"] != strconv.FormatInt(noon.Unix(), 10) {
		t.Errorf("%v", got.Headers)
	}
}

func TestAccept_IG7_WhatIsRetried(t *testing.T) {
	t.Parallel()
	header := ""
	status := http.StatusOK
	address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		if header != "" {
			w.Header().Set("Retry-After", header)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, "no such hook %s\x1b[2J\x00%s", r.URL, oneSecret)
	})
	for status = 300; status < 600; status++ {
		d := sendOnce(t, address, 1, nil)
		again := status >= 500 || status == 408 || status == 409 || status == 425 || status == 429
		want := store.DeliveryDead
		if again {
			want = store.DeliveryPending
		}
		if d.State != want || d.Status != status || again == d.Due.IsZero() || !strings.Contains(d.Answer, strconv.Itoa(status)) {
			t.Errorf("%d: %+v", status, d)
		}
	}
	status = http.StatusTooManyRequests
	for text, wait := range map[string]time.Duration{
		"": 5 * time.Second * 9 / 8, "1": 5 * time.Second * 9 / 8, "90": 90 * time.Second, "99999999": 6 * time.Hour, "99999999999999999999": 5 * time.Second * 9 / 8, "-5": 5 * time.Second * 9 / 8,
		noon.Add(2 * time.Minute).UTC().Format(http.TimeFormat): 2 * time.Minute, "Mon, 01 Jan 2001 00:00:00 GMT": 5 * time.Second * 9 / 8, "soon": 5 * time.Second * 9 / 8,
	} {
		header = text
		if d := sendOnce(t, address, 1, nil); d.Due.Sub(noon) != wait {
			t.Errorf("Retry-After %q: %s, want %s", text, d.Due.Sub(noon), wait)
		}
	}
	if d := sendOnce(t, address, 8, nil); d.State != store.DeliveryDead {
		t.Errorf("the last attempt: %+v", d)
	}
	total := time.Duration(0)
	for attempt := 1; attempt <= 7; attempt++ {
		least, ok := webhook.Pause(attempt, 0, 0)
		most, _ := webhook.Pause(attempt, 0, 0.999)
		if !ok || most <= least || most > least*5/4 {
			t.Errorf("attempt %d: from %s to %s", attempt, least, most)
		}
		total += least
	}
	if total < 17*time.Hour || total > 18*time.Hour {
		t.Errorf("the attempts take %s", total)
	}
}

// Parts of an address may begin with one another, overlap, and be cut off at the end of what is read of an answer.
func TestAccept_IG7_NothingIsLeftOfPartsOfTheAddress(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"one begins with another": "TOKEN1-REST", "overlap": "xTOKEN1-RESTFUL", "cut off": strings.Repeat("TOKEN1-RESTFUL-AND-LONG-ENOUGH-TO-FILL-WHAT-IS-READ-OF-AN-ANSWER-", 1000),
	} {
		address := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, says)
		})
		lines := "url: " + address + "/TOKEN1/TOKEN1-REST/RESTFUL/TOKEN1-RESTFUL-AND-LONG-ENOUGH-TO-FILL-WHAT-IS-READ-OF-AN-ANSWER-\nsecret: env:SECRET\nallow_private: true"
		d := attemptAt(t, lines, 1, nil)
		if rest := strings.Trim(strings.TrimPrefix(d.Answer, "status 403: "), "x*…"); d.Status != http.StatusForbidden || rest != "" {
			t.Errorf("%s: %q", name, d.Answer)
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
			if d := sendOnce(t, address, 1, nil); d.State != store.DeliveryDead || d.Status != status {
				t.Errorf("%d to %s: %+v", status, to, d)
			}
		}
	}
	if asked.Load() != 0 {
		t.Errorf("%d redirects were followed", asked.Load())
	}
}

// raw is a server that answers with bytes, until the connection breaks.
func raw(t *testing.T, answer func(net.Conn)) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer func() { _ = c.Close() }()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					answer(c)
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return "http://" + l.Addr().String()
}

// forever writes the same again and again, and counts the bytes.
func forever(text string, pause time.Duration, sent *atomic.Int64) func(net.Conn) {
	return func(c net.Conn) {
		for {
			n, err := io.WriteString(c, text)
			sent.Add(int64(n))
			if err != nil {
				return
			}
			time.Sleep(pause)
		}
	}
}

// What a receiver does costs an attempt its time and some kilobytes at most, and is tried again.
func TestAccept_IG7_HostileReceiversAreHeldWithinLimits(t *testing.T) {
	t.Parallel()
	const limit = 700 * time.Millisecond
	for name, receives := range map[string]struct {
		answer func(*atomic.Int64) func(net.Conn)
		most   int64 // bytes that the receiver gets rid of; the system's buffers take some
	}{
		"endless body": {func(n *atomic.Int64) func(net.Conn) {
			return func(c net.Conn) {
				_, _ = io.WriteString(c, "HTTP/1.1 500 no\r\nTransfer-Encoding: chunked\r\n\r\n")
				forever("400\r\n"+strings.Repeat("x", 1024)+"\r\n", 0, n)(c)
			}
		}, 16 << 20},
		"endless header": {func(n *atomic.Int64) func(net.Conn) {
			return func(c net.Conn) {
				_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
				forever("X-A: "+strings.Repeat("x", 1000)+"\r\n", 0, n)(c)
			}
		}, 16 << 20},
		"endless line": {func(n *atomic.Int64) func(net.Conn) { return forever(strings.Repeat("x", 1024), 0, n) }, 16 << 20},
		"endless 1xx": {func(n *atomic.Int64) func(net.Conn) {
			return forever("HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n", 0, n)
		}, 16 << 20},
		"slow drip of head": {func(n *atomic.Int64) func(net.Conn) { return forever("H", 20*time.Millisecond, n) }, 1 << 10},
		"slow drip of body": {func(n *atomic.Int64) func(net.Conn) {
			return func(c net.Conn) {
				_, _ = io.WriteString(c, "HTTP/1.1 503 no\r\nContent-Length: 100000\r\n\r\n")
				forever("x", 20*time.Millisecond, n)(c)
			}
		}, 1 << 10},
		"silence":        {func(*atomic.Int64) func(net.Conn) { return func(c net.Conn) { _, _ = io.Copy(io.Discard, c) } }, 0},
		"closes at once": {func(*atomic.Int64) func(net.Conn) { return func(net.Conn) {} }, 0},
		"compressed nothing": {func(*atomic.Int64) func(net.Conn) {
			return func(c net.Conn) {
				_, _ = io.WriteString(c, "HTTP/1.1 500 no\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x08\x00")
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent atomic.Int64
			address := raw(t, receives.answer(&sent))
			d := sendOnce(t, address, 1, func(c *webhook.Config) { c.Timeout = limit })
			if d.State != store.DeliveryPending || d.Answer == "" || d.Due.IsZero() {
				t.Errorf("%+v", d)
			}
			if sent.Load() > receives.most {
				t.Errorf("%d bytes were taken", sent.Load())
			}
		})
	}
}

func TestAccept_IG7_ARefusedConnectionIsRetried(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	address := "http://" + l.Addr().String()
	must(t, l.Close())
	if d := sendOnce(t, address, 1, nil); d.State != store.DeliveryPending || d.Status != 0 || !strings.Contains(d.Answer, "refused") {
		t.Errorf("%+v", d)
	}
}

func TestAccept_IG7_CertificatesAreVerified(t *testing.T) {
	t.Parallel()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	if d := sendOnce(t, s.URL, 1, nil); d.State != store.DeliveryPending || !strings.Contains(d.Answer, "certificate") {
		t.Errorf("an unknown certificate: %+v", d)
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	if d := sendOnce(t, s.URL, 1, func(c *webhook.Config) { c.TLS = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12} }); d.State != store.Delivered {
		t.Errorf("a known certificate: %+v", d)
	}
}

// A stop of the process is no failure of the receiver.
func TestAnAttemptThatIsStoppedCountsAsNone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	address := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	})
	s := webhook.NewSender(webhook.Config{Hooks: []*webhook.Hook{hook(t, "url: "+address+"\nsecret: env:SECRET\nallow_private: true")}, Now: time.Now, Random: func() float64 { return 0 }})
	d := store.Delivery{Message: "msg_1", Hook: "one", State: store.DeliverySending, Attempt: 1, What: *docketEvent("a", 1, 1)}
	if err := s.Attempt(ctx, &d); err == nil || d.State != store.DeliverySending {
		t.Errorf("%v, %+v", err, d)
	}
}

func TestAccept_IG7_AddressesThatAreBlocked(t *testing.T) {
	t.Parallel()
	for address, allowed := range map[string]string{ // "": never, "p": with allow_private, "a": always
		"169.254.169.254": "", "169.254.0.1": "", "fe80::1": "", "fe80::1%eth0": "", "::ffff:169.254.169.254": "", "64:ff9b::a9fe:a9fe": "", "2002:a9fe:a9fe::1": "",
		"fd00:ec2::254": "", "168.63.129.16": "", "100.100.100.200": "", "192.0.0.192": "", "0.0.0.0": "", "::": "", "224.0.0.1": "", "255.255.255.255": "", "ff02::1": "",
		"::7f00:1": "", "2001:0:1::1": "", "64:ff9b:1::1": "",
		"127.0.0.1": "p", "127.8.8.8": "p", "::1": "p", "10.1.2.3": "p", "172.31.0.1": "p", "192.168.1.1": "p", "100.64.0.1": "p", "fd12::1": "p", "::ffff:127.0.0.1": "p", "64:ff9b::7f00:1": "p",
		"2002:a00:1::1": "p", "198.18.0.1": "p",
		"93.184.216.34": "a", "172.32.0.1": "a", "2606:2800:220:1::1": "a", "64:ff9b::5db8:d822": "a", "100.128.0.1": "a",
	} {
		if got := webhook.Allowed(address, false); got != (allowed == "a") {
			t.Errorf("%s: %v", address, got)
		}
		if got := webhook.Allowed(address, true); got != (allowed != "") {
			t.Errorf("%s with allow_private: %v", address, got)
		}
	}
}

// names is a DNS server whose answers for every name change from query to query.
func names(t *testing.T, answers ...[4]byte) *net.Resolver {
	t.Helper()
	conn, err := (&net.ListenConfig{}).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1500)
		asked := 0
		for {
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
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			asked.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	must(t, err)
	resolver := func(c *webhook.Config) {
		// 203.0.113.0/24 is for documentation: nobody answers there.
		c.Resolver, c.Timeout = names(t, [4]byte{203, 0, 113, 9}, [4]byte{127, 0, 0, 1}, [4]byte{169, 254, 169, 254}), time.Second
	}
	config := webhook.Config{
		Hooks: []*webhook.Hook{hook(t, "url: https://rebound.example:"+port+"/"+hiddenPart+"\nsecret: env:SECRET")}, Now: time.Now, Random: func() float64 { return 0 },
	}
	resolver(&config)
	sender := webhook.NewSender(config)
	for i, want := range []store.DeliveryState{store.DeliveryPending, store.DeliveryDead, store.DeliveryDead} {
		d := store.Delivery{Message: "msg_1", Hook: "one", State: store.DeliverySending, Attempt: 1, What: *docketEvent("a", 1, 1)}
		must(t, sender.Attempt(t.Context(), &d))
		if d.State != want || (want == store.DeliveryDead) != strings.Contains(d.Answer, "is blocked") {
			t.Errorf("attempt %d: %+v", i, d)
		}
	}
	if asked.Load() != 0 {
		t.Error("it was dialled")
	}
	// The operator who allows private addresses reaches it, but not the cloud's metadata.
	allow := "url: http://rebound.example:" + port + "/\nsecret: env:SECRET\nallow_private: true"
	if d := attemptAt(t, allow, 1, func(c *webhook.Config) { c.Resolver = names(t, [4]byte{127, 0, 0, 1}) }); d.State != store.Delivered || asked.Load() == 0 {
		t.Errorf("%+v", d)
	}
	if d := attemptAt(t, allow, 1, func(c *webhook.Config) { c.Resolver = names(t, [4]byte{169, 254, 169, 254}) }); d.State != store.DeliveryDead {
		t.Errorf("%+v", d)
	}
}
