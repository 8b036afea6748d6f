package work

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

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
	if h.Secret == "" {
		r.fail("secret", "is missing: name a variable (env:NAME) or a file (file:PATH) with it")
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
