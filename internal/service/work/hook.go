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
	"io"
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

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Limits of an attempt to send a message. Receivers are not trusted: an attempt follows no redirects, and keeps a short, sanitized excerpt of the
// answer. Addresses and secrets are in no error, no log and no database.
const (
	defaultHookTime = 10 * time.Second
	maxHeaderBytes  = 16 << 10
	maxAnswerBytes  = 4 << 10
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
	hooks   []*Hook
	clients map[bool]*http.Client // by whether private addresses are allowed
	base    string                // of the addresses of pages; empty for none
	timeout time.Duration
	now     func() time.Time
}

// newSender prepares a sender. The resolver and TLS are for tests; nil: those of the system.
func newSender(config *Config, resolver *net.Resolver, roots *tls.Config) *sender {
	s := &sender{hooks: config.Webhooks, clients: map[bool]*http.Client{}, timeout: cmp.Or(config.HookTime, defaultHookTime), now: config.Now}
	if config.PublicURL != nil {
		s.base = strings.TrimSuffix(config.PublicURL.String(), "/")
	}
	for _, private := range []bool{false, true} {
		control := httplimit.Control(func(a netip.Addr) bool { return httplimit.AllowedAddress(a, private) })
		s.clients[private] = &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: &http.Transport{
				Proxy:       nil, // a proxy would dial for us, and the address could not be checked
				DialContext: (&net.Dialer{Timeout: s.timeout, Resolver: resolver, ControlContext: control}).DialContext,
				// A connection for each attempt: nothing of a receiver stays.
				DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes, TLSClientConfig: roots.Clone(),
			},
		}
	}
	return s
}

// send makes an attempt. The error is nil where the message was taken, and errLasting where it never will be.
func (s *sender) send(ctx context.Context, m *store.MessageArgs) error {
	at := slices.IndexFunc(s.hooks, func(h *Hook) bool { return h.Name == m.Hook })
	if at < 0 {
		return fmt.Errorf("there is no such webhook: %w", errLasting)
	}
	h := s.hooks[at]
	e, err := m.What()
	var body []byte
	if err == nil {
		body, err = message(s.base, &e)
	}
	if err != nil {
		return fmt.Errorf("the message can't be made: %w: %w", err, errLasting)
	}
	status, err := s.post(ctx, h, m.ID, body)
	if err == nil {
		return nil
	}
	text := errors.New(h.excerpt(err.Error()))
	if errors.Is(err, httplimit.ErrBlocked) || status >= 300 && status < 500 && !slices.Contains(passing, status) {
		return fmt.Errorf("%w: %w", text, errLasting)
	}
	return text
}

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
	response, err := s.clients[h.AllowPrivate].Do(r)
	if outer, ok := errors.AsType[*url.Error](err); ok { // which has the address
		if err = outer.Err; outer.Timeout() {
			err = errors.New("no answer in time")
		}
	}
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 == 2 { // what it says does not matter
		return response.StatusCode, nil
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes)) // what there is
	return response.StatusCode, fmt.Errorf("status %d: %s", response.StatusCode, text)
}

// signature has a signature by each of the secrets, so that a receiver may know either while they are changed. `make webhook-tests` verifies it
// with the library of the specification's authors.
func signature(secrets []secret, id string, at time.Time, body []byte) string {
	list := make([]string, len(secrets))
	for i, s := range secrets {
		mac := hmac.New(sha256.New, s.key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		list[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	return strings.Join(list, " ")
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

// message is an event in the form that the Standard Webhooks specification recommends. base begins the addresses of pages; empty for none.
func message(base string, e *store.HookEvent) ([]byte, error) {
	text, page := about(e)
	if base == "" {
		page = ""
	}
	return json.Marshal(map[string]any{"type": e.Type, "timestamp": e.Time, "data": struct {
		URL        string                `json:"url,omitempty"`
		Conclusion string                `json:"conclusion"`
		Docket     *store.HookDocket     `json:"docket,omitempty"`
		Correction *store.HookCorrection `json:"correction,omitempty"`
		Generation *store.HookGeneration `json:"generation,omitempty"`
	}{base + page, text, e.Docket, e.Correction, e.Generation}})
}

// about says in a sentence what happened, and gives the path of its page.
func about(e *store.HookEvent) (text, page string) {
	switch {
	case e.Docket != nil:
		return conclusion(e.Docket), fmt.Sprintf("/dockets/%d", e.Docket.ID)
	case e.Correction != nil:
		c, did := e.Correction, "corrected"
		if c.Undone {
			did = "undid the correction of"
		}
		if len(c.First) > 0 {
			page = "/trials/" + c.First[0].String()
		}
		return fmt.Sprintf("%s %s %s to %s", plain(c.Author), did, plural(c.Trials, "trial"), plain(c.Label)), page
	case e.Generation != nil:
		return fmt.Sprintf("generation %d of the modules is in force", e.Generation.ID), fmt.Sprintf("/modules/%d", e.Generation.ID)
	}
	return "", ""
}

// plain is one line of at most 200 characters.
func plain(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		s = string(r[:most-1]) + "…"
	}
	return sanitize.Line(s)
}

// conclusion says first what somebody has to do.
func conclusion(d *store.HookDocket) string {
	are := func(n int) string {
		if n == 1 {
			return "is"
		}
		return "are"
	}
	var text string
	switch {
	case d.Yours > 0 && d.Open > 0:
		text = fmt.Sprintf("%s %s yours, %d %s open", plural(d.Yours, "failure"), are(d.Yours), d.Open, are(d.Open))
	case d.Yours > 0:
		text = fmt.Sprintf("%s %s yours", plural(d.Yours, "failure"), are(d.Yours))
	case d.Open > 0:
		text = fmt.Sprintf("%s %s open", plural(d.Open, "failure"), are(d.Open))
	case d.NotYours > 0:
		text = fmt.Sprintf("no failure is yours, of %d", d.Cases)
	default:
		text = plural(d.Cases, "failure") + " tried, none is open"
	}
	if d.State != store.Done {
		text = "the docket was " + string(d.State) + "; " + text
	}
	return text
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
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
	secrets []secret
}

// secret is a key that signs messages.
type secret struct{ key []byte }

// String shows nothing of it.
func (secret) String() string { return "[secret]" }

// GoString shows nothing of it.
func (secret) GoString() string { return "[secret]" }

// definition is a hook as the file has it.
type definition struct {
	Name         string   `yaml:"name"`
	URL          string   `yaml:"url"`
	Secret       string   `yaml:"secret"`
	OldSecret    string   `yaml:"old_secret"`
	Events       []string `yaml:"events"`
	Repositories []string `yaml:"repositories"`
	Format       string   `yaml:"format"`
	AllowPrivate bool     `yaml:"allow_private"`
}

// Subscription is what the store knows of the hook.
func (h *Hook) Subscription() store.Webhook {
	w := store.Webhook{Name: h.Name, Repositories: h.Repositories}
	for _, e := range h.Events {
		w.Events = append(w.Events, store.HookEventType(e))
	}
	return w
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
	fail := func(path, format string, args ...any) { in.FailAt(path, strictyaml.CodeOutOfRange, format, args...) }
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
		if !slices.Contains(known, store.HookEventType(e)) {
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

var errPlace = errors.New("name a variable (env:NAME) or a file (file:PATH) with it: it must not stand in this file")

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
	return "", errPlace
}

var errSecret = errors.New("is no secret: write whsec_ and the base64 of 24 to 64 random bytes, such as from `echo whsec_$(head -c 32 /dev/urandom | base64)`")

// parseSecret reads a secret in the form of the specification. The error does not quote it.
func parseSecret(text string) (secret, error) {
	encoded, ok := strings.CutPrefix(text, "whsec_")
	key, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(key) < leastSecret || len(key) > mostSecret {
		return secret{}, errSecret
	}
	return secret{key}, nil
}

func (r *hookReader) secret(field, place string) {
	if place == "" {
		return
	}
	text, err := r.value(place)
	var s secret
	if err == nil {
		s, err = parseSecret(text)
	}
	if err != nil {
		r.fail(field, "%v", err)
		return
	}
	r.hook.secrets = append(r.hook.secrets, s)
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
