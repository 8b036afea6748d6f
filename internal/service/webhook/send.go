package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Config of a Sender. Hooks, Now and Random must be set.
type Config struct {
	Hooks     []*Hook
	PublicURL *url.URL // of the pages, for links; nil: messages have none
	Now       func() time.Time
	Random    func() float64  // in [0, 1), for the jitter
	Delays    []time.Duration // between attempts; nil: DefaultDelays
	Timeout   time.Duration   // of an attempt; 0: 10 s
	// Resolver and TLS are for tests. Nil: those of the system.
	Resolver *net.Resolver
	TLS      *tls.Config
}

// Limits of an attempt.
const (
	defaultTimeout = 10 * time.Second
	maxHeaderBytes = 16 << 10
	maxAnswerBytes = 4 << 10
	excerptBytes   = 200
)

// AtOnce is how many messages a process sends to one webhook at a time.
const AtOnce = 2

// Sender sends messages. Safe for concurrent use.
type Sender struct {
	config  Config
	hooks   map[string]*Hook
	clients map[bool]*http.Client // by whether private addresses are allowed
	base    string
}

// NewSender prepares a Sender.
func NewSender(config Config) *Sender {
	if config.Delays == nil {
		config.Delays = DefaultDelays()
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	s := &Sender{config: config, hooks: map[string]*Hook{}, clients: map[bool]*http.Client{}}
	for _, h := range config.Hooks {
		s.hooks[h.Name] = h
	}
	if config.PublicURL != nil {
		s.base = strings.TrimSuffix(config.PublicURL.String(), "/")
	}
	for _, private := range []bool{false, true} {
		control := httplimit.Control(func(a netip.Addr) bool { return httplimit.AllowedAddress(a, private) })
		s.clients[private] = &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:       nil, // a proxy would dial for us, and the address could not be checked
				DialContext: (&net.Dialer{Timeout: config.Timeout, Resolver: config.Resolver, ControlContext: control}).DialContext,
				// A connection for each attempt: nothing of a receiver stays.
				DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes, TLSClientConfig: config.TLS.Clone(),
			},
		}
	}
	return s
}

// Names are those of the webhooks.
func (s *Sender) Names() []string {
	names := make([]string, len(s.config.Hooks))
	for i, h := range s.config.Hooks {
		names[i] = h.Name
	}
	return names
}

// Attempt sends a delivery once, and sets its State, Status, Answer and Due by what came of it. The error is the context's, when it ended
// before that is known.
func (s *Sender) Attempt(ctx context.Context, d *store.Delivery) error {
	d.Status, d.Answer = 0, ""
	h := s.hooks[d.Hook]
	if h == nil {
		d.State, d.Answer = store.DeliveryDead, "there is no such webhook"
		return nil
	}
	asked, err := s.send(ctx, h, d)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		d.Answer = h.excerpt(err.Error())
	}
	wait, again := pause(s.config.Delays, d.Attempt, asked, s.config.Random())
	switch {
	case err == nil && d.Status >= 200 && d.Status < 300:
		d.State = store.Delivered
	case !again || lasting(d.Status) || errors.Is(err, httplimit.ErrBlocked) || errors.Is(err, errUnmade):
		d.State, d.Due = store.DeliveryDead, time.Time{}
	default:
		d.State, d.Due = store.DeliveryPending, s.config.Now().Add(wait)
	}
	return nil
}

var errUnmade = errors.New("the message can't be made")

// send makes the message and posts it.
func (s *Sender) send(ctx context.Context, h *Hook, d *store.Delivery) (asked time.Duration, err error) {
	body, err := message(s.base, &d.What)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errUnmade, err)
	}
	return s.post(ctx, h, d, body)
}

// post makes the request, and gives how long the receiver asks to wait.
func (s *Sender) post(ctx context.Context, h *Hook, d *store.Delivery, body []byte) (asked time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address.String(), bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the address is not valid")
	}
	now := s.config.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "shadowcourt")
	r.Header.Set(headerID, d.Message)
	r.Header.Set(headerTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(headerSignature, signature(h.secrets, d.Message, now, body))
	response, err := s.clients[h.AllowPrivate].Do(r)
	if err != nil {
		return 0, explain(err)
	}
	defer func() { _ = response.Body.Close() }()
	d.Status = response.StatusCode
	// What a success says does not matter.
	if d.Status >= 200 && d.Status < 300 {
		return 0, nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes)) // what there is
	d.Answer = h.excerpt(fmt.Sprintf("status %d: %s", d.Status, text))
	return retryAfter(response.Header.Get("Retry-After"), now), nil
}

// explain takes the address out of an error.
func explain(err error) error {
	if outer, ok := errors.AsType[*url.Error](err); ok {
		if outer.Timeout() {
			return errors.New("no answer in time")
		}
		return outer.Err
	}
	return err
}

// excerpt is a short, sanitized text without secrets, and without what the address has beside its host: that is often a secret, and
// receivers repeat it.
func (h *Hook) excerpt(text string) string {
	const shortest = 6
	hidden := append(strings.Split(h.address.Path, "/"), strings.Split(h.address.EscapedPath(), "/")...)
	hidden = append(hidden, h.address.RawQuery)
	for _, values := range h.address.Query() {
		hidden = append(hidden, values...)
	}
	for _, s := range h.secrets {
		hidden = append(hidden, base64.StdEncoding.EncodeToString(s.key))
	}
	// All are looked for in the text as it came: parts may overlap, or be within one another. What hides a part is as long as the part, so
	// that none that was cut off at the end of what was read moves into the excerpt.
	shown := []byte(text)
	for _, part := range hidden {
		for at, found := 0, 0; len(part) >= shortest && found >= 0; at++ {
			if found = strings.Index(text[at:], part); found >= 0 {
				at += found
				copy(shown[at:], strings.Repeat("*", len(part)))
			}
		}
	}
	text = string(shown)
	if len(text) > excerptBytes {
		text = strings.ToValidUTF8(text[:excerptBytes], "") + "…"
	}
	return sanitize.Line(text)
}
