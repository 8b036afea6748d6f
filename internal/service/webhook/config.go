package webhook

import (
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
	maxFileBytes  = 256 << 10
	maxValueBytes = 8 << 10
	maxHooks      = 16
)

// Hook is a webhook of the operator's file.
type Hook struct {
	definition

	address *url.URL
	secrets []secret
}

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

type file struct {
	Hooks []definition `yaml:"hooks"`
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

// Read reads the operator's file, and the secrets that it names; their paths are relative to its folder. getenv reads the
// environment. The error has all faults, and no secret and no address. A file without hooks gives an empty list, never nil.
func Read(name string, getenv func(string) string) ([]*Hook, error) {
	data, err := strictyaml.ReadFile(name, maxFileBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return parse(name, data, getenv)
}

func parse(name string, data []byte, getenv func(string) string) ([]*Hook, error) {
	var f file
	in := &strictyaml.Reader{File: name, Secret: true}
	if root := in.Document(data, maxFileBytes); root != nil {
		in.Struct(root, "", &f, nil)
	}
	fail := func(path, format string, args ...any) { in.FailAt(path, strictyaml.CodeOutOfRange, format, args...) }
	hooks := []*Hook{}
	if len(f.Hooks) > maxHooks {
		fail("hooks", "has %d webhooks, and %d are allowed", len(f.Hooks), maxHooks)
		f.Hooks = nil
	}
	for i := range f.Hooks {
		r := &reader{folder: filepath.Dir(name), getenv: getenv, hook: &Hook{definition: f.Hooks[i]}, fail: func(field, format string, args ...any) {
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

// reader checks one hook, and reads what it names.
type reader struct {
	folder string
	getenv func(string) string
	hook   *Hook
	fail   func(field, format string, args ...any)
}

var hookName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

func (r *reader) read() {
	h := r.hook
	if !hookName.MatchString(h.Name) {
		r.fail("name", "use 1 to 40 small letters, digits and -")
	}
	r.address()
	r.secret("secret", h.Secret)
	r.secret("old_secret", h.OldSecret)
	r.events()
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

func (r *reader) events() {
	known := store.HookEventTypes()
	if len(r.hook.Events) == 0 {
		r.fail("events", "is empty: use some of %v", known)
	}
	for i, e := range r.hook.Events {
		if !slices.Contains(known, store.HookEventType(e)) {
			r.fail(fmt.Sprintf("events[%d]", i), "is no event: use some of %v", known)
		}
	}
}

// at is a path relative to the folder of the file.
func (r *reader) at(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.folder, name)
}

var errPlace = errors.New("name a variable (env:NAME) or a file (file:PATH) with it: it must not stand in this file")

// value reads what a variable or a file has.
func (r *reader) value(place string) (string, error) {
	kind, name, _ := strings.Cut(place, ":")
	switch {
	case kind == "env" && name != "":
		if text := strings.TrimSpace(r.getenv(name)); text != "" {
			return text, nil
		}
		return "", errors.New("the variable is not set")
	case kind == "file" && name != "":
		text, err := strictyaml.ReadFile(r.at(name), maxValueBytes, strictyaml.Open)
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

func (r *reader) secret(field, place string) {
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
func (r *reader) address() {
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
