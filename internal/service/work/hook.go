package work

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Limits of an attempt to send a message. Receivers are not trusted: an attempt follows no redirects, and reads no more of the answer than its
// head. Addresses and secrets are in no error, no log and no database.
const (
	defaultHookTime = 10 * time.Second
	maxHeaderBytes  = 16 << 10
	excerptBytes    = 200
	// hooksAtOnce is how many messages a process sends to one webhook at a time.
	hooksAtOnce = 2
	// maxMessageAge bounds the messages that wait for a slow receiver: older ones are not sent any more.
	maxMessageAge = 24 * time.Hour
)

// passing are the statuses of requests that may succeed later. All other ones from 300 to 499 are those of a wrong address or message.
var passing = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests}

// errLasting: further attempts would not change it.
var errLasting = errors.New("it is not sent again")

// messageWorker sends messages to webhooks.
type messageWorker struct {
	river.WorkerDefaults[store.MessageArgs]
	worker *Worker
	sender *sender
}

// Timeout is more than an attempt takes.
func (m messageWorker) Timeout(*river.Job[store.MessageArgs]) time.Duration {
	return 2 * m.sender.timeout
}

// NextRetry is River's: attempts are ever further apart.
func (m messageWorker) NextRetry(job *river.Job[store.MessageArgs]) time.Time {
	if pause := m.worker.config.HookPause; pause > 0 {
		return time.Now().Add(pause) //nolint:forbidigo // as River
	}
	return (&river.DefaultClientRetryPolicy{}).NextRetry(job.JobRow)
}

// Work makes an attempt.
func (m messageWorker) Work(ctx context.Context, job *river.Job[store.MessageArgs]) error {
	config, outcome := &m.worker.config, "delivered"
	var err error
	if time.Since(job.CreatedAt) > maxMessageAge {
		err = fmt.Errorf("it waited for more than a day: %w", errLasting)
	} else {
		err = m.sender.send(ctx, &job.Args)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx) // no failure of the receiver
	case err == nil:
	case errors.Is(err, errLasting) || job.Attempt >= job.MaxAttempts:
		outcome = "dead"
		config.Logger.WarnContext(ctx, "a message to a webhook is not sent any more", "webhook", job.Args.Hook, "message", job.Args.ID, "attempts", job.Attempt, "error", err)
		err = river.JobCancel(err)
	default:
		outcome = "pending"
	}
	if config.OnMessage != nil {
		config.OnMessage(job.Args.Hook, outcome)
	}
	return err
}

// sender sends messages. Safe for concurrent use.
type sender struct {
	hooks    []*Hook
	resolver *net.Resolver // nil: the system's
	roots    *tls.Config
	base     string // of the addresses of pages; empty for none
	timeout  time.Duration
	now      func() time.Time
}

// newSender prepares a sender. The resolver and TLS are for tests; nil: those of the system.
func newSender(config *Config, resolver *net.Resolver, roots *tls.Config) *sender {
	s := &sender{hooks: config.Webhooks, resolver: resolver, roots: roots, timeout: cmp.Or(config.HookTime, defaultHookTime), now: config.Now}
	if config.PublicURL != nil {
		s.base = strings.TrimSuffix(config.PublicURL.String(), "/")
	}
	return s
}

// send makes an attempt. The error is nil where the message was taken, and errLasting where it never will be.
func (s *sender) send(ctx context.Context, m *store.MessageArgs) error {
	at := slices.IndexFunc(s.hooks, func(h *Hook) bool { return h.Name == m.Hook })
	if at < 0 {
		return fmt.Errorf("there is no such webhook: %w", errLasting)
	}
	body, err := message(s.base, m)
	if err != nil {
		return fmt.Errorf("the message can't be made: %w: %w", err, errLasting)
	}
	status, err := s.post(ctx, s.hooks[at], m.ID, body)
	switch {
	case errors.Is(err, httplimit.ErrBlocked):
		return fmt.Errorf("%w: %w", err, errLasting)
	case err != nil || status/100 == 2: // what it says does not matter
		return err
	case status >= 300 && status < 500 && !slices.Contains(passing, status):
		return fmt.Errorf("status %d: %w", status, errLasting)
	}
	return fmt.Errorf("status %d", status)
}

// post gives the status of the answer. The error has no text of the receiver, who may repeat the address.
func (s *sender) post(ctx context.Context, h *Hook, id string, body []byte) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.address.String(), bytes.NewReader(body))
	if err != nil {
		return 0, errors.New("the address is not valid")
	}
	now := s.now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "shadowcourt")
	r.Header.Set("webhook-id", id) // these three are of the Standard Webhooks specification
	r.Header.Set("webhook-timestamp", strconv.FormatInt(now.Unix(), 10))
	r.Header.Set("webhook-signature", signature(h.secrets, id, now, body))
	control := httplimit.Control(func(a netip.Addr) bool { return httplimit.AllowedAddress(a, h.AllowPrivate) })
	// A connection for each attempt, so that nothing of a receiver stays. A proxy would dial for us, and the address could not be checked.
	response, err := (&http.Transport{
		Proxy: nil, DialContext: (&net.Dialer{Timeout: s.timeout, Resolver: s.resolver, ControlContext: control}).DialContext,
		DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes, TLSClientConfig: s.roots.Clone(),
	}).RoundTrip(r) // which follows no redirects
	if err == nil {
		return response.StatusCode, response.Body.Close()
	}
	var dialled *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case ctx.Err() != nil:
		return 0, errors.New("no answer in time")
	case errors.As(err, &dialled):
		return 0, err
	case errors.As(err, &certificate): // which names others
		return 0, errors.New(sanitize.Cut(sanitize.Line(err.Error()), excerptBytes))
	}
	return 0, errors.New("there is no valid answer")
}

// signature has a signature by each of the secrets, so that a receiver may know either while they are changed. `make webhook-tests` verifies it
// with the library of the specification's authors.
func signature(secrets [][]byte, id string, at time.Time, body []byte) string {
	list := make([]string, len(secrets))
	for i, s := range secrets {
		mac := hmac.New(sha256.New, s)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
}

// message is an event in the form that the Standard Webhooks specification recommends. base begins the addresses of pages; empty for none.
func message(base string, m *store.MessageArgs) ([]byte, error) {
	var data map[string]any
	e, err := m.What()
	if err == nil {
		err = json.Unmarshal(m.Event, &data)
	}
	if err != nil {
		return nil, err
	}
	delete(data, "type")
	delete(data, "timestamp")
	switch {
	case base == "":
	case e.Docket != nil:
		data["url"] = fmt.Sprintf("%s/dockets/%d", base, e.Docket.ID)
	case e.Generation != nil:
		data["url"] = fmt.Sprintf("%s/modules/%d", base, e.Generation.ID)
	}
	return json.Marshal(map[string]any{"type": e.Type, "timestamp": e.Time, "data": data})
}

// Bounds of the file and of what it names.
const (
	maxHookFile   = 256 << 10
	maxValueBytes = 8 << 10
	maxHooks      = 16
	// In bytes, as the Standard Webhooks specification has them.
	leastSecret, mostSecret = 24, 64
)

// Hook is a webhook of the operator's file.
type Hook struct {
	definition

	address *url.URL
	secrets [][]byte
}

// definition is a hook as the file has it.
type definition struct {
	Name         string                `yaml:"name"`
	URL          string                `yaml:"url"`
	Secret       string                `yaml:"secret"`
	OldSecret    string                `yaml:"old_secret"`
	Events       []store.HookEventType `yaml:"events"`
	Repositories []string              `yaml:"repositories"`
	Format       string                `yaml:"format"`
	AllowPrivate bool                  `yaml:"allow_private"`
}

// Subscription is what the store knows of the hook.
func (h *Hook) Subscription() store.Webhook {
	return store.Webhook{Name: h.Name, Events: h.Events, Repositories: h.Repositories}
}

// String gives the name, and nothing else.
func (h *Hook) String() string { return h.Name }

// ReadHooks reads the operator's file of webhooks, and the secrets that it names; their paths are relative to its folder. getenv reads the
// environment. The error has all faults, and no secret and no address. A file without hooks gives an empty list, never nil.
func ReadHooks(name string, getenv func(string) string) ([]*Hook, error) {
	data, err := strictyaml.ReadFile(name, maxHookFile, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return parseHooks(name, data, getenv)
}

func parseHooks(name string, data []byte, getenv func(string) string) ([]*Hook, error) {
	var f struct {
		Hooks []definition `yaml:"hooks"`
	}
	in := &strictyaml.Reader{File: name, Secret: true}
	if root := in.Document(data, maxHookFile); root != nil {
		in.Struct(root, "", &f, nil)
	}
	fail := func(path, format string, args ...any) { in.FailAt(path, abi.CodeInvalidValue, format, args...) }
	hooks := []*Hook{}
	if len(f.Hooks) > maxHooks {
		fail("hooks", "has %d webhooks, and %d are allowed", len(f.Hooks), maxHooks)
		f.Hooks = nil
	}
	for i := range f.Hooks {
		r := &hookReader{folder: filepath.Dir(name), getenv: getenv, hook: &Hook{definition: f.Hooks[i]}, fail: func(field, format string, args ...any) {
			fail(fmt.Sprintf("hooks[%d].%s", i, field), format, args...)
		}}
		if slices.ContainsFunc(f.Hooks[:i], func(d definition) bool { return d.Name == r.hook.Name }) {
			r.fail("name", "is the name of another webhook")
		}
		r.read()
		hooks = append(hooks, r.hook)
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	return hooks, nil
}

// hookReader checks one hook, and reads what it names.
type hookReader struct {
	folder string
	getenv func(string) string
	hook   *Hook
	fail   func(field, format string, args ...any)
}

var hookName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

func (r *hookReader) read() {
	h := r.hook
	if !hookName.MatchString(h.Name) {
		r.fail("name", "use 1 to 40 small letters, digits and -")
	}
	r.address()
	if h.Secret == "" {
		r.fail("secret", "is missing: name a variable (env:NAME) or a file (file:PATH) with it")
	}
	r.secret("secret", h.Secret)
	r.secret("old_secret", h.OldSecret)
	known := store.HookEventTypes()
	if len(h.Events) == 0 {
		r.fail("events", "is empty: use some of %v", known)
	}
	for i, e := range h.Events {
		if !slices.Contains(known, e) {
			r.fail(fmt.Sprintf("events[%d]", i), "is no event: use some of %v", known)
		}
	}
	for i, pattern := range h.Repositories {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			r.fail(fmt.Sprintf("repositories[%d]", i), "is no pattern such as github.com/acme/*")
		}
	}
	if h.Format != "" && h.Format != "json" {
		r.fail("format", "was removed: messages are JSON; have your CI, or a receiver of yours, post to Slack or Teams")
	}
}

// value reads what a variable or a file has.
func (r *hookReader) value(place string) (string, error) {
	kind, name, _ := strings.Cut(place, ":")
	switch {
	case kind == "env" && name != "":
		if text := strings.TrimSpace(r.getenv(name)); text != "" {
			return text, nil
		}
		return "", errors.New("the variable is not set")
	case kind == "file" && name != "":
		if !filepath.IsAbs(name) {
			name = filepath.Join(r.folder, name)
		}
		text, err := strictyaml.ReadFile(name, maxValueBytes, strictyaml.Open)
		if err == nil && len(text) > maxValueBytes {
			err = fmt.Errorf("the file has more than %d bytes", maxValueBytes)
		}
		if err != nil && errors.Is(err, os.ErrNotExist) {
			err = errors.New("there is no such file")
		}
		return strings.TrimSpace(string(text)), err
	}
	return "", errors.New("name a variable (env:NAME) or a file (file:PATH) with it: it must not stand in this file")
}

// parseSecret reads a secret in the form of the specification. The error does not quote it.
func parseSecret(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < leastSecret || len(key) > mostSecret {
		return nil, errors.New("is no secret: write whsec_ and the base64 of 24 to 64 random bytes, such as from `echo whsec_$(head -c 32 /dev/urandom | base64)`")
	}
	return key, nil
}

func (r *hookReader) secret(field, place string) {
	if place == "" {
		return
	}
	text, err := r.value(place)
	var key []byte
	if err == nil {
		key, err = parseSecret(text)
	}
	if err != nil {
		r.fail(field, "%v", err)
		return
	}
	r.hook.secrets = append(r.hook.secrets, key)
}

// address reads the URL, which is often a secret itself and may then be in a variable or a file.
func (r *hookReader) address() {
	h := r.hook
	text := h.URL
	if strings.HasPrefix(text, "env:") || strings.HasPrefix(text, "file:") {
		var err error
		if text, err = r.value(text); err != nil {
			r.fail("url", "%v", err)
			return
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.Fragment != "" || u.Opaque != "":
		r.fail("url", "is no address such as https://chat.example/hook, without a user and a fragment; env:NAME and file:PATH name where it is")
		return
	case u.Scheme == "http" && !h.AllowPrivate:
		r.fail("url", "must begin with https; http is for private addresses (allow_private: true)")
	}
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !httplimit.AllowedAddress(a, h.AllowPrivate) {
		r.fail("url", "is an address that messages are not sent to: link-local ones never, those of this machine and of private networks with allow_private: true")
	}
	h.address = u
}
