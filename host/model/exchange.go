package model

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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

// uncounted is no answer, and nobody knows what it took.
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

// withSchema adds the schema to the end of the first message, the system's.
func withSchema(messages []abi.ChatMessage, s *schema) []abi.ChatMessage {
	text := schemaPrompt + string(s.raw)
	if messages[0].Role != abi.ChatSystem {
		return slices.Insert(slices.Clone(messages), 0, abi.ChatMessage{Role: abi.ChatSystem, Content: text})
	}
	messages = slices.Clone(messages)
	messages[0].Content += "\n\n" + text
	return messages
}

// entry is an answer as cassettes keep it.
type entry struct {
	Digest string `json:"digest"`
	// Alias, Model and Seed are for people; the digest covers them.
	Alias  string `json:"alias"`
	Model  string `json:"model"`
	Seed   int    `json:"seed"`
	Answer string `json:"answer,omitempty"`
	// Failure and Detail say why there is no answer.
	Failure      abi.CompletionOutcome `json:"failure,omitempty"`
	Detail       string                `json:"detail,omitempty"`
	InputTokens  int                   `json:"input_tokens"`
	OutputTokens int                   `json:"output_tokens"`
}

// The limits of what an entry keeps beside the answer: what is set within them can be read again.
const (
	maxCountedTokens = 1 << 30
	maxDetailBytes   = 4096
)

// set keeps what came of a question.
func (e *entry) set(got reply, f *failure) {
	e.InputTokens, e.OutputTokens = min(max(got.inputTokens, 0), maxCountedTokens), min(max(got.outputTokens, 0), maxCountedTokens)
	if f != nil {
		e.Failure, e.Detail = f.outcome, cut(f.detail, maxDetailBytes-len(cutMark))
		return
	}
	e.Answer = got.text
}

// get is what came of the question.
func (e *entry) get() (reply, *failure) {
	got := reply{text: e.Answer, inputTokens: e.InputTokens, outputTokens: e.OutputTokens}
	if e.Failure != "" {
		return got, &failure{outcome: e.Failure, detail: e.Detail}
	}
	return got, nil
}

// line is the entry as one line of JSON.
func (e *entry) line() []byte {
	text, err := sanitize.EncodeJSON(e, "")
	if err != nil {
		panic(err) // texts and numbers
	}
	return text
}

var digest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// maxEntryBytes is the most of a line: any character of an answer may be escaped.
const maxEntryBytes = 6*maxAnswerBytes + 16<<10

// parseEntry reads one line, and trusts nothing in it.
func parseEntry(line []byte) (entry, error) {
	var e entry
	if len(line) > maxEntryBytes {
		return e, fmt.Errorf("has more than %d bytes", maxEntryBytes)
	}
	if !utf8.Valid(line) {
		return e, errors.New("is not UTF-8")
	}
	if _, err := parseJSON(line); err != nil {
		return e, err
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&e); err != nil {
		return e, errors.New("is no entry: " + strings.TrimPrefix(oneLine(err.Error()), "json: "))
	}
	switch {
	case !digest.MatchString(e.Digest):
		return e, errors.New("has no digest of 64 hexadecimal digits")
	case !name.MatchString(e.Alias) || e.Model == "" || len(e.Model) > 4096:
		return e, errors.New("has no alias or no model")
	case e.Seed < 0 || e.InputTokens < 0 || e.OutputTokens < 0 || e.InputTokens > maxCountedTokens || e.OutputTokens > maxCountedTokens:
		return e, errors.New("has a number that can't be")
	case len(e.Answer) > maxAnswerBytes || len(e.Detail) > maxDetailBytes:
		return e, fmt.Errorf("has an answer of more than %d bytes", maxAnswerBytes)
	case e.Failure != "" && !slices.Contains([]abi.CompletionOutcome{abi.CompletionFailed, abi.CompletionTooLong, abi.CompletionNotAsked}, e.Failure):
		return e, errors.New("has an unknown failure")
	case (e.Failure == "") == (e.Answer == "") || (e.Failure == "") != (e.Detail == ""):
		return e, errors.New("needs either an answer, or a failure with a detail")
	}
	return e, nil
}

// oneLine makes a text of others fit for a line of a message.
func oneLine(text string) string {
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	return sanitize.Line(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "))
}

// cutMark ends a text that was shortened.
const cutMark = "..."

// cut shortens a text to at most so many bytes, and the mark.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + cutMark
}
