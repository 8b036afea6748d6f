package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// maxNames is how many providers, or models, a file may have.
const maxNames = 256

// Load reads a file of models. Paths of keys in it begin at its folder.
func Load(path string) (*Definition, error) {
	data, err := strictyaml.ReadFile(path, MaxFileBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	d, err := Parse(path, data)
	if err != nil {
		return nil, err
	}
	for _, p := range d.Providers {
		if strings.HasPrefix(p.KeyFile, ".") {
			p.KeyFile = filepath.Join(filepath.Dir(path), p.KeyFile)
		}
	}
	return d, nil
}

// Parse reads the bytes of a file of models. Its error has all faults, each with file, line, column and path, at most
// [strictyaml.MaxErrors]. No fault shows a value that could be a key.
func Parse(file string, data []byte) (*Definition, error) {
	r := &strictyaml.Reader{File: file, Secret: true, Hint: func(path, key string) string {
		if strings.HasPrefix(path, "providers") && strings.Contains(strings.ToLower(key), "key") {
			return "a provider's key never stands in this file: key_env names the variable that holds it, key_file the file"
		}
		return ""
	}}
	d := &Definition{}
	root := r.Document(data, MaxFileBytes)
	if err := r.Err(); err != nil { // aliases are never expanded
		return nil, err
	}
	r.Struct(root, "", d, nil)
	if r.AnyBroken() { // no mapping
		return nil, r.Err()
	}
	c := checker{r, d}
	c.required("", "providers", "models")
	names(c, "providers", d.Providers)
	names(c, "models", d.Models)
	for name, p := range d.Providers {
		c.provider(strictyaml.KeyPath("providers", name), p)
	}
	for name, m := range d.Models {
		c.model(strictyaml.KeyPath("models", name), m)
	}
	for name, b := range map[string]Budget{"call": d.Budgets.Call, "trial": d.Budgets.Trial, "docket": d.Budgets.Docket} {
		path := "budgets." + name
		within(c, path+".tokens", deref(b.Tokens), 0, 1<<50)
		within(c, path+".seconds", deref(b.Seconds), 0, 1e9)
		within(c, path+".money", deref(b.Money), 0, 1e12)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

// ReadYAML reads a provider over its defaults.
func (p *Provider) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	p.Timeout, p.Retries, p.Concurrency = 2*time.Minute, 4, 4
	r.Struct(v, path, p, nil)
}

// ReadYAML reads a model over its defaults.
func (m *Model) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	m.Schemas, m.AnswerLimit = SchemaByProvider, "max_tokens"
	r.Struct(v, path, m, nil)
}

// owned are the parameters of requests that the host sets itself.
var owned = []string{ //nolint:gochecknoglobals // a table
	"max_completion_tokens", "max_tokens", "messages", "model", "n", "response_format", "stream", "stream_options", "system", "tool_choice", "tools",
}

// ReadYAML turns values into JSON.
func (all *Parameters) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	*all = Parameters{}
	r.Table(v, path, strictyaml.CodeDuplicateKey, func(name string, key, value *strictyaml.Node, path string) {
		if slices.Contains(owned, name) {
			r.Fail(key, path, strictyaml.CodeUnknownKey, "the host sets it itself")
			return
		}
		var v any
		err := value.Decode(&v)
		if err == nil {
			(*all)[name], err = json.Marshal(v)
		}
		if err != nil {
			r.Fail(value, path, strictyaml.CodeWrongType, "is no JSON value")
		}
	})
}

// checker finds faults in what values mean. A value that is not in the file has none.
type checker struct {
	*strictyaml.Reader
	definition *Definition
}

func (c checker) given(path string) bool {
	_, ok := c.Places[path]
	return ok
}

func (c checker) failIf(bad bool, path, format string, args ...any) {
	if bad && c.given(path) {
		c.FailAt(path, strictyaml.CodeOutOfRange, format, args...)
	}
}

func (c checker) required(path string, fields ...string) {
	for _, field := range fields {
		if at := strictyaml.FieldPath(path, field); !c.given(at) {
			c.FailAt(at, strictyaml.CodeMissing, "is missing")
		}
	}
}

var name = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,63}$`)

// names checks a mapping whose keys are names of the author's choice.
func names[T any](c checker, path string, all map[string]T) {
	c.failIf(len(all) == 0, path, "is empty")
	c.failIf(len(all) > maxNames, path, "has %d entries; there may be %d", len(all), maxNames)
	for id := range all {
		c.failIf(!name.MatchString(id), strictyaml.KeyPath(path, id), "use a name of letters, digits and . _ - : /, at most 64 of them")
	}
}

func (c checker) text(path, value string) {
	c.failIf(value == "", path, "is empty")
	c.failIf(len(value) > 4096 || strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }), path,
		"is longer than 4096 bytes or has control characters")
}

func oneOf[T ~string](c checker, path string, value T, values ...string) {
	last := len(values) - 1
	c.failIf(!slices.Contains(values, string(value)), path, "use %s or %s", strings.Join(values[:last], ", "), values[last])
}

func within[N int | float64](c checker, path string, n, low, high N) {
	c.failIf(n < low || n > high, path, "use a number from %v to %v", low, high)
}

func deref[N int | float64](n *N) (value N) {
	if n != nil {
		value = *n
	}
	return value
}

func (c checker) provider(path string, p *Provider) {
	c.required(path, "api", "url")
	oneOf(c, path+".api", p.API, string(OpenAI), string(Anthropic))
	c.text(path+".url", p.URL)
	c.text(path+".key_env", p.KeyEnv)
	c.text(path+".key_file", p.KeyFile)
	c.failIf(p.Timeout <= 0 || p.Timeout > time.Hour, path+".timeout", "use a duration above 0 and up to 1h, such as 90s")
	within(c, path+".retries", p.Retries, 0, 10)
	within(c, path+".rate", p.Rate, 1, 60_000)
	within(c, path+".concurrency", p.Concurrency, 1, 1024)
	for field, fault := range map[string]string{
		"url": urlFault(p.API, p.URL, p.KeyEnv != "" || p.KeyFile != ""), "key_env": variableFault(p.KeyEnv), "key_file": keyFileFault(p.KeyFile),
	} {
		c.failIf(fault != "", path+"."+field, "%s", fault)
	}
	c.failIf(p.KeyEnv != "" && p.KeyFile != "", path+".key_file", "key_env is there, too: one of them is enough")
}

func (c checker) model(path string, m *Model) {
	c.required(path, "provider", "model", "context_tokens", "answer_tokens")
	c.text(path+".provider", m.Provider)
	c.text(path+".model", m.Model)
	within(c, path+".context_tokens", m.ContextTokens, 1, 1<<30)
	within(c, path+".answer_tokens", m.AnswerTokens, 1, 1<<24)
	if c.given(path + ".price") {
		c.required(path+".price", "input", "output")
	}
	within(c, path+".price.input", m.Price.Input, 0, 1e6)
	within(c, path+".price.output", m.Price.Output, 0, 1e6)
	oneOf(c, path+".schemas", m.Schemas, string(SchemaByProvider), string(SchemaByJSONObject), string(SchemaByPrompt))
	oneOf(c, path+".answer_limit", m.AnswerLimit, "max_tokens", "max_completion_tokens")
	c.failIf(m.AnswerTokens > 0 && m.ContextTokens > 0 && m.AnswerTokens >= m.ContextTokens, path+".answer_tokens",
		"an answer of %d tokens leaves no room for a question in context_tokens: %d", m.AnswerTokens, m.ContextTokens)
	switch p := c.definition.Providers[m.Provider]; {
	case p == nil:
		c.failIf(m.Provider != "", path+".provider", "there is no provider %q; there are %s", c.Word(m.Provider),
			c.Word(cmp.Or(strings.Join(slices.Sorted(maps.Keys(c.definition.Providers)), ", "), "none")))
	case p.API != OpenAI:
		c.failIf(m.Schemas == SchemaByJSONObject, path+".schemas", "the provider %s has the api %s, which has no json_object: use provider or prompt", c.Word(m.Provider), p.API)
	}
}

// urlFault says what is wrong with a provider's URL, without showing it, since it may hold a key.
func urlFault(api API, text string, key bool) string {
	u, err := url.Parse(text)
	port := 1
	if err == nil && u.Port() != "" {
		port, _ = strconv.Atoi(u.Port()) // digits; of more than fit into an int it is 0 or the largest
	}
	switch {
	case text == "": // told already
		return ""
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "use an address such as https://api.example.com/v1"
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "use an address without a user, a query and a fragment; keys belong into key_env or key_file"
	case u.Scheme == "http" && key && !httplimit.IsLoopback(u.Hostname()):
		return "use https: a key would travel in the clear"
	case port < 1 || port > 65535:
		return "use a port from 1 to 65535"
	}
	ends := strings.TrimSuffix(u.Path, "/")
	for _, added := range map[API][]string{OpenAI: {"/chat/completions"}, Anthropic: {"/v1/messages", "/v1"}}[api] {
		if strings.HasSuffix(ends, added) {
			return "leave out " + added + " at its end: the host adds it"
		}
	}
	return ""
}

var variable = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,127}$`)

func variableFault(name string) string {
	if name == "" || variable.MatchString(name) {
		return ""
	}
	return "use the name of a variable in capital letters, such as PROVIDER_KEY; the key itself never stands in this file"
}

func keyFileFault(name string) string {
	if name == "" || filepath.IsAbs(name) || slices.ContainsFunc([]string{"~/", "./", "../"}, func(p string) bool { return strings.HasPrefix(name, p) }) {
		return ""
	}
	return "use an absolute path, or one that begins with ~/, ./ or ../; the key itself never stands in this file"
}

// plainPathError is the error of a file without its name.
func plainPathError(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
