package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// MaxFileBytes is the size limit of a file of models, 256 KiB.
const MaxFileBytes = 256 << 10

// API is the interface that a provider has.
type API string

// The interfaces.
const (
	OpenAI    API = "openai"
	Anthropic API = "anthropic"
)

// Definition is what models.yaml says. docs/models.md describes the fields.
type Definition struct {
	Providers map[string]*Provider
	Models    map[string]*Model
	Budgets   Budgets
}

// Provider is where models are asked.
type Provider struct {
	API API
	URL string
	// KeyEnv is the variable of the environment that holds the key, KeyFile a file that does. At most one of them is there.
	KeyEnv, KeyFile string
	// Timeout of one request.
	Timeout time.Duration
	// Retries after the first request.
	Retries int
	// Rate is how many requests may begin in a minute; 0 for any number.
	Rate int
	// Concurrency is how many requests may run at the same time.
	Concurrency int
}

// Model is what answers to a name that pipelines use.
type Model struct {
	Provider string
	// Model is the provider's name of it.
	Model                       string
	ContextTokens, AnswerTokens int
	Price                       Price
	// Schemas says how the model gets to know the schema of an answer.
	Schemas SchemaMode
	// AnswerLimit is the name of the parameter that limits an answer.
	AnswerLimit string
	// Parameters are JSON values that a request has besides; null leaves out what it would have otherwise.
	Parameters map[string]json.RawMessage
}

// Price of a million tokens.
type Price struct{ Input, Output float64 }

// of tokens that were used.
func (p Price) of(input, output int) float64 {
	return (float64(input)*p.Input + float64(output)*p.Output) / 1e6
}

// SchemaMode says how a model gets to know the schema of an answer.
type SchemaMode string

// The ways: by the provider's own parameter; by the older one of llama.cpp, which llama-cpp-python knows alone; as a part of the first
// message.
const (
	SchemaByProvider   SchemaMode = "provider"
	SchemaByJSONObject SchemaMode = "json_object"
	SchemaByPrompt     SchemaMode = "prompt"
)

// Budgets limit what is asked.
type Budgets struct{ Call, Trial, Docket Budget }

// Budget of tokens, of time and of money. What is nil is not limited, and with 0 nothing is asked.
type Budget struct {
	Tokens         *int
	Seconds, Money *float64
}

// Load reads a file of models. Paths of keys in it begin at its folder.
func Load(path string) (*Definition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
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

// Parse reads the bytes of a file of models. Its error has all faults, each with file, line and path, at most [maxFaults]. No fault shows
// a value that could be a key.
func Parse(file string, data []byte) (*Definition, error) {
	r := newReader(file)
	d := &Definition{Providers: map[string]*Provider{}, Models: map[string]*Model{}}
	root := r.Document(data, MaxFileBytes)
	if len(r.Faults) > 0 { // aliases are never expanded
		return nil, r.err()
	}
	at := r.Object(root, "", map[string]setter{
		"providers": r.names(func(name string) setter {
			p := &Provider{Timeout: 2 * time.Minute, Retries: 4, Concurrency: 4}
			d.Providers[name] = p
			return r.provider(p)
		}),
		"models": r.names(func(name string) setter {
			m := &Model{Schemas: SchemaByProvider, AnswerLimit: "max_tokens"}
			d.Models[name] = m
			return r.model(m, d)
		}),
		"budgets": func(n *node, path string) {
			r.Object(n, path, map[string]setter{
				"call": r.budget(&d.Budgets.Call), "trial": r.budget(&d.Budgets.Trial), "docket": r.budget(&d.Budgets.Docket),
			})
		},
	})
	r.required(root, "", at, "providers", "models")
	r.later()
	if err := r.err(); err != nil {
		return nil, err
	}
	return d, nil
}

func (r *reader) provider(p *Provider) setter {
	return func(n *node, path string) {
		at := r.Object(n, path, map[string]setter{
			"api": r.oneOf((*string)(&p.API), string(OpenAI), string(Anthropic)),
			"url": r.text(&p.URL), "key_env": r.text(&p.KeyEnv), "key_file": r.text(&p.KeyFile),
			"timeout": r.duration(&p.Timeout), "retries": r.integer(&p.Retries, 0, 10),
			"rate": r.integer(&p.Rate, 1, 60_000), "concurrency": r.integer(&p.Concurrency, 1, 1024),
		})
		r.required(n, path, at, "api", "url")
		check := func(field, fault string) {
			if at[field] != nil && fault != "" {
				r.fail(at[field], path+"."+field, "%s", fault)
			}
		}
		check("url", urlFault(p.API, p.URL, p.KeyEnv != "" || p.KeyFile != ""))
		check("key_env", variableFault(p.KeyEnv))
		check("key_file", keyFileFault(p.KeyFile))
		if p.KeyEnv != "" && p.KeyFile != "" {
			check("key_file", "key_env is there, too: one of them is enough")
		}
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
	case text == "": // of the wrong type, or missing
		return ""
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "use an address such as https://api.example.com/v1"
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "use an address without a user, a query and a fragment; keys belong into key_env or key_file"
	case u.Scheme == "http" && key && !loopback(u.Hostname()):
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

func loopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
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

func (r *reader) model(m *Model, d *Definition) setter {
	return func(n *node, path string) {
		at := r.Object(n, path, map[string]setter{
			"provider": r.text(&m.Provider), "model": r.text(&m.Model),
			"context_tokens": r.integer(&m.ContextTokens, 1, 1<<30), "answer_tokens": r.integer(&m.AnswerTokens, 1, 1<<24),
			"price": func(n *node, path string) {
				at := r.Object(n, path, map[string]setter{"input": r.number(&m.Price.Input, 1e6), "output": r.number(&m.Price.Output, 1e6)})
				r.required(n, path, at, "input", "output")
			},
			"schemas":      r.oneOf((*string)(&m.Schemas), string(SchemaByProvider), string(SchemaByJSONObject), string(SchemaByPrompt)),
			"answer_limit": r.oneOf(&m.AnswerLimit, "max_tokens", "max_completion_tokens"),
			"parameters":   r.parameters(&m.Parameters),
		})
		r.required(n, path, at, "provider", "model", "context_tokens", "answer_tokens")
		if m.AnswerTokens > 0 && m.ContextTokens > 0 && m.AnswerTokens >= m.ContextTokens {
			r.fail(at["answer_tokens"], path+".answer_tokens", "an answer of %d tokens leaves no room for a question in context_tokens: %d", m.AnswerTokens, m.ContextTokens)
		}
		r.after(func() {
			p := d.Providers[m.Provider]
			if p != nil && p.API != OpenAI && m.Schemas == SchemaByJSONObject {
				r.fail(at["schemas"], path+".schemas", "the provider %s has the api %s, which has no json_object: use provider or prompt", m.Provider, p.API)
			}
			if p == nil && m.Provider != "" {
				r.fail(at["provider"], path+".provider", "there is no provider %q; there are %s", strictyaml.Clip(m.Provider), cmp.Or(strings.Join(slices.Sorted(maps.Keys(d.Providers)), ", "), "none"))
			}
		})
	}
}

// owned are the parameters of requests that the host sets itself.
var owned = []string{ //nolint:gochecknoglobals // a table
	"max_completion_tokens", "max_tokens", "messages", "model", "n", "response_format", "stream", "stream_options", "system", "tool_choice", "tools",
}

func (r *reader) parameters(target *map[string]json.RawMessage) setter {
	return func(n *node, path string) {
		*target = map[string]json.RawMessage{}
		r.Table(n, path, strictyaml.CodeDuplicateKey, func(name string, key, value *node, path string) {
			if slices.Contains(owned, name) {
				r.fail(key, path, "the host sets it itself")
				return
			}
			var v any
			if err := value.Decode(&v); err != nil {
				r.fail(value, path, "is no JSON value")
				return
			}
			data, err := json.Marshal(v)
			if err != nil {
				r.fail(value, path, "is no JSON value")
				return
			}
			(*target)[name] = data
		})
	}
}

func (r *reader) budget(b *Budget) setter {
	return func(n *node, path string) {
		var tokens int
		var seconds, money float64
		at := r.Object(n, path, map[string]setter{
			"tokens": r.integer(&tokens, 0, 1<<50), "seconds": r.number(&seconds, 1e9), "money": r.number(&money, 1e12),
		})
		if at["tokens"] != nil {
			b.Tokens = &tokens
		}
		if at["seconds"] != nil {
			b.Seconds = &seconds
		}
		if at["money"] != nil {
			b.Money = &money
		}
	}
}

// Names of the models.
func (d *Definition) Names() []string { return slices.Sorted(maps.Keys(d.Models)) }

// key reads the key of a provider. why says why there is none, without showing what was read.
func (p *Provider) key(getenv func(string) string) (k Key, why string) {
	switch {
	case p.KeyEnv != "":
		value := getenv(p.KeyEnv)
		if fault := keyFault(value); fault != "" {
			return Key{}, fmt.Sprintf("the environment variable %s %s", p.KeyEnv, fault)
		}
		return newKey(value), ""
	case p.KeyFile != "":
		name := p.KeyFile
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(getenv("HOME"), rest)
		}
		value, err := readKey(name)
		if err != nil {
			return Key{}, fmt.Sprintf("the key file %s can't be read: %v", p.KeyFile, plainPathError(err))
		}
		if value == "" {
			return Key{}, fmt.Sprintf("the key file %s is empty", p.KeyFile)
		}
		if fault := keyFault(value); fault != "" {
			return Key{}, fmt.Sprintf("the key file %s %s", p.KeyFile, fault)
		}
		return newKey(value), ""
	}
	return Key{}, ""
}

func readKey(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxKeyBytes+2))
	return strings.TrimSpace(string(data)), err
}
