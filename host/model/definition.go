package model

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/disk"
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
	Providers map[string]*Provider `yaml:"providers"`
	Models    map[string]*Model    `yaml:"models"`
	Budgets   Budgets              `yaml:"budgets"`
}

// Provider is where models are asked.
type Provider struct {
	API API    `yaml:"api"`
	URL string `yaml:"url"`
	// KeyEnv is the variable of the environment that holds the key, KeyFile a file that does. At most one of them is there.
	KeyEnv  string `yaml:"key_env"`
	KeyFile string `yaml:"key_file"`
	// Timeout of one request.
	Timeout time.Duration `yaml:"timeout"`
	// Retries after the first request.
	Retries int `yaml:"retries"`
	// Rate is how many requests may begin in a minute; 0 for any number.
	Rate int `yaml:"rate"`
	// Concurrency is how many requests may run at the same time.
	Concurrency int `yaml:"concurrency"`
}

// Model is what answers to a name that pipelines use.
type Model struct {
	Provider string `yaml:"provider"`
	// Model is the provider's name of it.
	Model         string `yaml:"model"`
	ContextTokens int    `yaml:"context_tokens"`
	AnswerTokens  int    `yaml:"answer_tokens"`
	Price         Price  `yaml:"price"`
	// Schemas says how the model gets to know the schema of an answer.
	Schemas SchemaMode `yaml:"schemas"`
	// AnswerLimit is the name of the parameter that limits an answer.
	AnswerLimit string `yaml:"answer_limit"`
	// Parameters are JSON values that a request has besides; null leaves out what it would have otherwise.
	Parameters Parameters `yaml:"parameters"`
}

// Parameters are JSON values by their names.
type Parameters map[string]json.RawMessage

// Price of a million tokens.
type Price struct {
	Input  float64 `yaml:"input"`
	Output float64 `yaml:"output"`
}

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
type Budgets struct {
	Call   Budget `yaml:"call"`
	Trial  Budget `yaml:"trial"`
	Docket Budget `yaml:"docket"`
}

// Budget of tokens, of time and of money. What is nil is not limited, and with 0 nothing is asked.
type Budget struct {
	Tokens  *int     `yaml:"tokens"`
	Seconds *float64 `yaml:"seconds"`
	Money   *float64 `yaml:"money"`
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
		text, err := disk.ReadBounded(name, maxKeyBytes+2)
		if err != nil {
			return Key{}, fmt.Sprintf("the key file %s can't be read: %v", p.KeyFile, plainPathError(err))
		}
		value := strings.TrimSpace(string(text))
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
