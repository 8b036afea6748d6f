// Package chat is what modules need to ask language models: prompts from files, documents as numbered lines within a fence, schemas
// of answers and a strict reader for them, and what of an answer counts in a hearing. It follows no text of a case.
package chat

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
)

// Question is what a module asks a model at a node.
type Question struct {
	// Usual is the user's message where the prompt file has no sections.
	Usual string
	// Schema of the answer, given what was shown.
	Schema *Schema
	// Values of placeholders beside those of the request. They are fenced.
	Values map[string]string
	// Sheet chooses what is shown of documents within so many bytes; nil where none are.
	Sheet func(budget int) *Sheet
}

// bytesPerToken is how many bytes of a log a token has at least on average: fewer than English.
const bytesPerToken = 3

// overhead are bytes for roles, rules and what a provider adds.
const overhead = 2000

// Asked is a question as it was put, and what came of it.
type Asked struct {
	Completion *abi.Completion
	// Sheet that was shown, where there is one.
	Sheet *Sheet
}

// Model is the name of the model that a call asks: the first that is offered, or that answered. Empty if there is none.
func Model(r *abi.NodeRequest) string {
	switch {
	case len(r.Completions) > 0:
		return r.Completions[0].Model
	case len(r.Models) > 0:
		return r.Models[0].Model
	default:
		return ""
	}
}

// Source is what findings of the model name as their source.
func Source(r *abi.NodeRequest) string { return abi.ModelSource + Model(r) }

// Ask makes the completion of a question. It is nil where the prompt has nothing for the node, and where there is no model. The same
// request makes the same completion, whatever was answered meanwhile.
func Ask(r *abi.NodeRequest, q *Question) (Asked, *abi.Failure) {
	if len(r.Models) == 0 || r.Prompt == "" {
		return Asked{}, nil
	}
	p, failure := parsePrompt(r.Prompt)
	if failure != nil {
		return Asked{}, failure
	}
	for _, label := range r.Case.Labels {
		// The schema has the labels as they are: an answer names them. So no model is asked about one that gives orders.
		if steering.Addresses(label) {
			return Asked{}, guest.Fail("bad_label", "the label "+strconv.Quote(Clip(label, nameBytes))+" addresses its reader: no model is asked about it")
		}
	}
	system, user, ok := p.At(r.Family, q.Usual)
	if !ok {
		return Asked{}, nil
	}
	offer := &r.Models[0]
	answer := min(p.AnswerTokens, offer.AnswerTokens)
	room := (offer.ContextTokens-answer)*bytesPerToken - overhead - len(system) - len(user) - len(q.Schema.Text())
	asked := Asked{}
	values := q.values(r, user, room)
	if q.Sheet != nil && strings.Contains(user, "{documents}") {
		budget := room
		for _, v := range values {
			budget -= len(v)
		}
		asked.Sheet = q.Sheet(max(0, min(budget, p.DocumentTokens*bytesPerToken)))
		values["documents"] = asked.Sheet.String()
	}
	total := 0
	var lasting, texts []string
	for name, v := range values {
		texts = append(texts, v)
		total += len(v)
		if lasts(name) {
			lasting = append(lasting, v)
		}
	}
	if total > room {
		return Asked{}, guest.Fail("model_too_small", "the model "+offer.Model+" has room for "+strconv.Itoa(max(0, room))+" bytes of the case, which needs "+strconv.Itoa(total))
	}
	slices.Sort(lasting) // a map has no order
	mark := newFence(lasting, texts)
	message, failure := fill(user, func(name string) (string, bool) {
		if plain, ok := q.plain(r, name); ok {
			return plain, true
		}
		v, ok := values[name]
		if !ok {
			return "", false
		}
		return mark.around(name, v), true
	})
	if failure != nil {
		return Asked{}, failure
	}
	asked.Completion = &abi.Completion{
		Model: offer.Model, Schema: q.Schema.Text(), AnswerTokens: answer, Samples: p.Samples, Temperature: p.Temperature,
		Messages: []abi.ChatMessage{{Role: abi.ChatSystem, Content: strings.TrimSpace(system + "\n\n" + mark.rules())}, {Role: abi.ChatUser, Content: message}},
	}
	return asked, nil
}

// lasts says whether a value stays the same through the rounds of a hearing.
func lasts(name string) bool {
	return name != "challenges" && name != "hearing" && name != "experiments"
}

// plain are values that no text of a case is in, but for labels, which are quoted.
func (q *Question) plain(r *abi.NodeRequest, name string) (string, bool) {
	switch name {
	case "labels":
		list := make([]string, len(r.Case.Labels))
		for i, label := range r.Case.Labels {
			list[i] = quoted(label)
		}
		return strings.Join(list, ", "), true
	case "charge":
		if r.Indictment != nil {
			return quoted(r.Indictment.ChargedDefectType), true
		}
		if r.Case.Light != nil {
			return quoted(r.Case.Light.Classification), true
		}
		return "none", true
	case "round":
		if r.Turn != nil {
			return strconv.Itoa(r.Turn.Round) + " of " + strconv.Itoa(r.Turn.MaxRounds), true
		}
		return "none", true
	}
	return "", false
}

// values are those that the message has a place for. Lists share the room that there is.
func (q *Question) values(r *abi.NodeRequest, user string, room int) map[string]string {
	values := map[string]string{}
	for _, v := range [...]struct {
		name string
		make func(most int) string
	}{
		{"subject", func(int) string { return oneLine(r.Case.Subject) }},
		{"light", func(int) string { return light(r) }},
		{"items", func(most int) string { return items(r, most) }},
		{"findings", func(most int) string { return findings(r, most) }},
		{"challenges", func(most int) string { return challenges(r, most) }},
		{"hearing", func(most int) string { return hearing(r, most) }},
		{"experiments", func(int) string { return shown(r) }},
		{"documents", func(int) string { return "none" }},
	} {
		if strings.Contains(user, "{"+v.name+"}") {
			values[v.name] = withhold(v.make(max(0, room/6)))
		}
	}
	for name, v := range q.Values {
		if strings.Contains(user, "{"+name+"}") {
			values[name] = v
		}
	}
	return values
}

// Answers are those of the model to the question, as far as they conform to the schema. Where there is none, the failure says why.
// ok is false where the model was not asked.
func Answers(r *abi.NodeRequest, schema *Schema) (answers []Value, ok bool, failure *abi.Failure) {
	if len(r.Completions) == 0 {
		return nil, false, nil
	}
	result := &r.Completions[len(r.Completions)-1]
	problem := result.Detail
	for _, document := range result.Answers {
		v, fault := schema.Read(document)
		if fault != "" {
			problem = fault
			continue
		}
		answers = append(answers, v)
	}
	if len(answers) > 0 {
		return answers, true, nil
	}
	code := "model_" + string(result.Outcome)
	if len(result.Answers) > 0 {
		code = "model_" + string(abi.CompletionInvalid)
	}
	if problem == "" {
		problem = "it gave no answer"
	}
	return nil, false, guest.Fail(code, "the model "+result.Model+": "+Clip(problem, lineBytes))
}
