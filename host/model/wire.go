package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// post sends a question and gives the answer. fields are the members of the question; the model's parameters replace them, or leave them
// out where they are null.
func (e *endpoint) post(ctx context.Context, path string, m *Model, header http.Header, fields map[string]any) ([]byte, error) {
	for name, value := range m.Parameters {
		if string(value) == "null" {
			delete(fields, name)
		} else {
			fields[name] = value
		}
	}
	body, err := sanitize.EncodeJSON(fields, "")
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(e.given.URL, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = header
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "shadowcourt")
	response, err := e.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	return io.ReadAll(response.Body)
}

// decodeInto decodes an answer into a value.
func (e *endpoint) decodeInto(into any, data []byte) error {
	if json.Unmarshal(data, into) == nil {
		return nil
	}
	f := failed(e.name + ": the answer is not the JSON that was expected: check its url")
	var all json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(data, &all); {
	case err == nil:
	case len(bytes.TrimSpace(data)) == 0:
		f.detail, f.again = e.name+": the answer is empty", true
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(data)):
		f.detail, f.again = e.name+": the answer is half a JSON", true
	default:
		f.detail = e.name + ": the answer is not JSON, or nested too deep: " + cut(oneLine(e.key.scrub(err.Error())), 200)
	}
	return f
}

// usage is what a provider reports to have counted, by the names of both interfaces.
type usage struct {
	Prompt     json.RawMessage `json:"prompt_tokens"`
	Completion json.RawMessage `json:"completion_tokens"`
	Input      json.RawMessage `json:"input_tokens"`
	Output     json.RawMessage `json:"output_tokens"`
}

// usageOf reads what may be no usage at all.
func usageOf(reported json.RawMessage) usage {
	var u usage
	if json.Unmarshal(reported, &u) != nil {
		return usage{}
	}
	return u
}

// tokens is a number of tokens; -1 where it is none, whatever it is instead.
func tokens(reported json.RawMessage) int {
	n, err := strconv.Atoi(string(reported))
	if err != nil || n < 0 || n > maxCountedTokens {
		return -1
	}
	return n
}

// each decodes a list item by item into the same place: of a list of millions of empty items, which a reply may have, only its text is in
// memory. An item that it does not want to see ends it.
func each[T any](list []byte, see func(item *T) (more bool)) error {
	d := json.NewDecoder(bytes.NewReader(list))
	switch token, err := d.Token(); {
	case err != nil:
		return err
	case token == nil: // null
		return nil
	case token != json.Delim('['):
		return errors.New("not a list")
	}
	var item, none T
	for ; d.More(); item = none {
		if err := d.Decode(&item); err != nil {
			return err
		}
		if !see(&item) {
			return nil
		}
	}
	return nil
}

// openAI asks an endpoint with the interface of OpenAI's chat completions.
type openAI struct{ *endpoint }

// openAIReply is what is read of an answer.
type openAIReply struct {
	Choice openAIChoice    `json:"choices"`
	Usage  json.RawMessage `json:"usage"`
	Error  json.RawMessage `json:"error"`
}

// openAIChoice is the first of the choices; one was asked for.
type openAIChoice struct {
	there        bool
	FinishReason string `json:"finish_reason"`
	Message      struct {
		Content *string `json:"content"`
		Refusal *string `json:"refusal"`
	} `json:"message"`
}

// UnmarshalJSON decodes the list.
func (c *openAIChoice) UnmarshalJSON(list []byte) error {
	type choice openAIChoice // without this method
	return each(list, func(item *choice) bool {
		*c = openAIChoice(*item)
		c.there = true
		return false
	})
}

func (o *openAI) ask(ctx context.Context, r *request) (reply, error) {
	messages, fields := r.messages, map[string]any{}
	switch {
	case r.schema == nil:
	case r.model.Schemas == SchemaByPrompt:
		messages = withSchema(messages, r.schema)
	case r.model.Schemas == SchemaByJSONObject:
		fields["response_format"] = map[string]any{"type": "json_object", "schema": r.schema.raw}
	default:
		fields["response_format"] = map[string]any{
			"type": "json_schema", "json_schema": map[string]any{"name": "answer", "schema": r.schema.raw},
		}
	}
	fields["model"], fields["messages"] = r.model.Model, chat(messages)
	fields[r.model.AnswerLimit] = r.answerTokens
	fields["temperature"], fields["seed"] = r.temperature, r.seed
	header := http.Header{}
	if key := o.key.value(); key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	data, err := o.post(ctx, "/chat/completions", r.model, header, fields)
	if err != nil {
		return reply{}, err
	}
	return o.decode(data, r)
}

func (o *openAI) decode(data []byte, r *request) (reply, error) {
	var answer openAIReply
	if err := o.decodeInto(&answer, data); err != nil {
		return reply{}, err
	}
	counted := usageOf(answer.Usage)
	got := reply{inputTokens: tokens(counted.Prompt), outputTokens: tokens(counted.Completion)}
	choice := &answer.Choice
	if !choice.there {
		f := failed(o.name + ": the answer has no choices")
		if len(answer.Error) > maxFaultBytes {
			return got, f
		}
		if said := o.faultText([]byte(`{"error":` + string(answer.Error) + `}`)); said != "" {
			f.detail, f.free = o.name+": "+cut(oneLine(said), 400), true
		}
		return got, f
	}
	if choice.Message.Content != nil {
		got.text = o.key.scrub(*choice.Message.Content)
	}
	switch {
	case choice.FinishReason == "length":
		return got, cutAnswer(r)
	case choice.Message.Refusal != nil && *choice.Message.Refusal != "":
		return got, o.ended("the model rejects the question: " + *choice.Message.Refusal)
	case choice.FinishReason == "content_filter":
		return got, o.ended("the provider's filter ended the answer")
	case got.text == "":
		return got, o.ended("the answer is empty")
	}
	return got, nil
}

// ended is the failure of one answer, after which others may succeed.
func (e *endpoint) ended(detail string) *failure {
	f := failed(e.name + ": " + cut(oneLine(e.key.scrub(detail)), 400))
	f.hopeless = false
	return f
}

func cutAnswer(r *request) *failure {
	return tooLong(fmt.Sprintf("the answer was cut at its limit of %d tokens", r.answerTokens))
}

type chatMessage struct {
	Role    abi.ChatRole `json:"role"`
	Content string       `json:"content"`
}

func chat(messages []abi.ChatMessage) []chatMessage {
	all := make([]chatMessage, len(messages))
	for i, m := range messages {
		all[i] = chatMessage{m.Role, m.Content}
	}
	return all
}

// anthropic asks Anthropic's messages.
type anthropic struct{ *endpoint }

const anthropicVersion = "2023-06-01"

// anthropicReply is what is read of an answer.
type anthropicReply struct {
	Content    anthropicContent `json:"content"`
	StopReason string           `json:"stop_reason"`
	Usage      json.RawMessage  `json:"usage"`
}

// anthropicContent is what the parts of an answer say: all texts, and the last arguments of a tool.
type anthropicContent struct {
	text  strings.Builder
	input json.RawMessage
}

// UnmarshalJSON decodes the list of the parts.
func (c *anthropicContent) UnmarshalJSON(list []byte) error {
	type part struct {
		Type  string          `json:"type"`
		Text  string          `json:"text"`
		Input json.RawMessage `json:"input"`
	}
	return each(list, func(p *part) bool {
		switch p.Type {
		case "text":
			c.text.WriteString(p.Text)
		case "tool_use":
			c.input = p.Input
		}
		return true
	})
}

func (a *anthropic) ask(ctx context.Context, r *request) (reply, error) {
	messages := r.messages
	fields := map[string]any{
		"model": r.model.Model, "max_tokens": r.answerTokens,
		"temperature": min(r.temperature, 1), // the contract's reach to 2, which Anthropic rejects
	}
	switch {
	case byTool(r):
		fields["tools"] = []any{map[string]any{"name": "answer", "description": "Give the answer.", "input_schema": r.schema.raw}}
		fields["tool_choice"] = map[string]any{"type": "tool", "name": "answer"}
	case r.schema != nil:
		messages = withSchema(messages, r.schema)
	}
	var system []string
	var others []abi.ChatMessage
	for _, m := range messages {
		if m.Role == abi.ChatSystem {
			system = append(system, m.Content)
		} else {
			others = append(others, m)
		}
	}
	if fields["messages"] = chat(others); len(system) > 0 {
		fields["system"] = strings.Join(system, "\n\n")
	}
	header := http.Header{"Anthropic-Version": {anthropicVersion}}
	if key := a.key.value(); key != "" {
		header.Set("X-Api-Key", key)
	}
	data, err := a.post(ctx, "/v1/messages", r.model, header, fields)
	if err != nil {
		return reply{}, err
	}
	return a.decode(data, r)
}

// byTool says whether the answer is to be the arguments of a tool. Those are an object, so that other answers are described in the prompt.
func byTool(r *request) bool {
	return r.schema != nil && r.model.Schemas == SchemaByProvider && r.schema.object
}

func (a *anthropic) decode(data []byte, r *request) (reply, error) {
	var answer anthropicReply
	if err := a.decodeInto(&answer, data); err != nil {
		return reply{}, err
	}
	counted := usageOf(answer.Usage)
	got := reply{text: answer.Content.text.String(), inputTokens: tokens(counted.Input), outputTokens: tokens(counted.Output)}
	if byTool(r) {
		got.text = string(answer.Content.input)
	}
	got.text = a.key.scrub(got.text)
	switch {
	case answer.StopReason == "max_tokens":
		return got, cutAnswer(r)
	case answer.StopReason == "model_context_window_exceeded":
		return got, tooLong(a.name + ": question and answer do not fit into the context of the model")
	case answer.StopReason == "refusal":
		return got, a.ended("the model rejects the question")
	case got.text == "":
		return got, a.ended("the answer is empty")
	}
	return got, nil
}

// faultText finds what a provider says of an error, in the forms that providers use. The key is removed before a text is cut, or its
// beginning would stay.
func (e *endpoint) faultText(body []byte) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		text := strings.TrimSpace(string(body))
		if strings.HasPrefix(text, "<") || strings.HasPrefix(text, "{") { // a page, or half a JSON
			return ""
		}
		return cut(e.key.scrub(text), 300)
	}
	if inner := map[string]json.RawMessage(nil); json.Unmarshal(fields["error"], &inner) == nil && inner != nil {
		fields = inner
	}
	var parts []string
	for _, name := range []string{"message", "error", "detail", "code", "type"} {
		var text string
		if json.Unmarshal(fields[name], &text) != nil || text == "" {
			continue
		}
		if text = cut(e.key.scrub(text), 300); !slices.Contains(parts, text) {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}
