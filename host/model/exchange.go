package model

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// request is one question to a provider, for one answer.
type request struct {
	model        *Model
	messages     []abi.ChatMessage
	schema       *schema // nil for free text
	answerTokens int
	temperature  float64
	seed         int
}

// reply is what a provider answered.
type reply struct {
	text string
	// usage as the provider counted it; -1 where it did not.
	inputTokens, outputTokens int
}

// uncounted is no answer, of which nobody knows what it took.
func uncounted() reply { return reply{inputTokens: -1, outputTokens: -1} }

// failure says why there is no answer. It is an error so that it passes through the HTTP client.
type failure struct {
	outcome abi.CompletionOutcome
	detail  string
	// again says that another request may succeed, after seconds if the provider named them.
	again   bool
	seconds float64
	// hopeless says that no other request of the completion will succeed either.
	hopeless bool
	// free says that the provider reports an error and charges nothing, charged that it may charge for the request all the same.
	free, charged bool
}

func (f *failure) Error() string { return f.detail }

func failed(detail string) *failure {
	return &failure{outcome: abi.CompletionFailed, detail: detail, hopeless: true}
}

func tooLong(detail string) *failure {
	return &failure{outcome: abi.CompletionTooLong, detail: detail}
}

func notAsked(detail string) *failure {
	return &failure{outcome: abi.CompletionNotAsked, detail: detail}
}

// provider asks one question. Its error is a *failure, or that of the context.
type provider interface {
	ask(ctx context.Context, r *request) (reply, error)
}

// exchangeForm changes whenever the same question would get another answer.
const exchangeForm = "exchange/1"

// binding is what the answers of a model depend on, without anything of keys.
type binding struct {
	API         API                        `json:"api"`
	URL         string                     `json:"url"`
	Model       string                     `json:"model"`
	Schemas     SchemaMode                 `json:"schemas"`
	AnswerLimit string                     `json:"answer_limit"`
	Parameters  map[string]json.RawMessage `json:"parameters,omitempty"`
}

func (d *Definition) binding(m *Model) binding {
	p := d.Providers[m.Provider]
	return binding{API: p.API, URL: strings.TrimSuffix(p.URL, "/"), Model: m.Model, Schemas: m.Schemas, AnswerLimit: m.AnswerLimit, Parameters: m.Parameters}
}

// digest names a question by all that its answer depends on.
func (r *request) digest(d *Definition) string {
	type message struct {
		Role    abi.ChatRole `json:"role"`
		Content string       `json:"content"`
	}
	of := struct {
		Form         string          `json:"form"`
		Binding      binding         `json:"binding"`
		Messages     []message       `json:"messages"`
		Schema       json.RawMessage `json:"schema,omitempty"`
		AnswerTokens int             `json:"answer_tokens"`
		Temperature  float64         `json:"temperature"`
		Seed         int             `json:"seed"`
	}{Form: exchangeForm, Binding: d.binding(r.model), AnswerTokens: r.answerTokens, Temperature: r.temperature, Seed: r.seed}
	for _, m := range r.messages {
		of.Messages = append(of.Messages, message{m.Role, m.Content})
	}
	if r.schema != nil {
		of.Schema = r.schema.raw
	}
	return digestOf(of)
}

func digestOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts and numbers
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// schemaPrompt leads the schema where it stands among the messages.
const schemaPrompt = "Answer with one JSON value that conforms to this JSON Schema, and with nothing else:\n"

// withSchema gives messages of which the first, the system's, ends with the schema.
func withSchema(messages []abi.ChatMessage, s *schema) []abi.ChatMessage {
	text := schemaPrompt + string(s.raw)
	if messages[0].Role != abi.ChatSystem {
		return slices.Insert(slices.Clone(messages), 0, abi.ChatMessage{Role: abi.ChatSystem, Content: text})
	}
	messages = slices.Clone(messages)
	messages[0].Content += "\n\n" + text
	return messages
}
