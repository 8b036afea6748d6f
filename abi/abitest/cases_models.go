package abitest

import (
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxCompletions is how many completions a call may ask for (§2.12).
const maxCompletions = 16

// models puts models and a prompt into every second case, as where the persona is granted them.
func (s *source) models(r *abi.NodeRequest) {
	if s.number%2 == 0 {
		return
	}
	r.Prompt = "Classify the case by its evidence alone."
	r.Models = []abi.ModelOffer{{Model: "model-one", ContextTokens: 16_000, AnswerTokens: 1000}, {Model: "model-two", ContextTokens: 16_000, AnswerTokens: 500}}
}

// completed is the request that a host makes after a completion: with its result, and without models where no more may be asked. What
// comes of it is drawn from the request, so that the same module meets the same answers.
func (r *Request) completed(c *abi.Completion) *Request {
	n, out := *r.Node, *r
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(r.Name + c.Schema))
	rnd := rand.New(rand.NewPCG(hash.Sum64(), uint64(len(n.Completions)))) //nolint:gosec // the same answers every time
	result := resultOfCompletion(rnd, c)
	n.Completions = append(slices.Clone(n.Completions), result)
	if result.Outcome == abi.CompletionNotAsked || len(n.Completions) >= maxCompletions {
		n.Models = nil
	}
	out.Node, out.Name = &n, r.Name+", after a completion ("+string(result.Outcome)+")"
	return &out
}

// resultOfCompletion is a result with answers that fit the outcome: half of the time every sample has one.
func resultOfCompletion(rnd *rand.Rand, c *abi.Completion) abi.CompletionResult {
	outcomes := []abi.CompletionOutcome{
		abi.CompletionAnswered, abi.CompletionAnswered, abi.CompletionAnswered, abi.CompletionAnswered, abi.CompletionAnswered,
		abi.CompletionPartial, abi.CompletionInvalid, abi.CompletionTooLong, abi.CompletionFailed, abi.CompletionNotAsked,
	}
	result := abi.CompletionResult{Model: c.Model, Outcome: outcomes[rnd.IntN(len(outcomes))], Answers: []string{}, InputTokens: 100}
	samples := 0
	switch result.Outcome { //nolint:exhaustive // the rest has no answer
	case abi.CompletionAnswered:
		samples = c.Samples
	case abi.CompletionPartial:
		samples = c.Samples / 2
	}
	if result.Outcome != abi.CompletionAnswered {
		result.Detail = "it could not be"
	}
	for range samples {
		result.Answers = append(result.Answers, instance(rnd, c.Schema))
	}
	return result
}

// lost says whether the request ends with a completion that gave no answer: a module may say that it can't do without.
func (r *Request) lost() bool {
	return r.Node != nil && len(r.Node.Completions) > 0 && len(r.Node.Completions[len(r.Node.Completions)-1].Answers) == 0
}

// shape is what the generator of instances knows of JSON Schema.
type shape struct {
	Type       string           `json:"type"`
	Properties map[string]shape `json:"properties"`
	Required   []string         `json:"required"`
	Items      *shape           `json:"items"`
	MinItems   int              `json:"minItems"`
	MaxItems   *int             `json:"maxItems"`
	Enum       []any            `json:"enum"`
	Const      any              `json:"const"`
	Minimum    *float64         `json:"minimum"`
	Maximum    *float64         `json:"maximum"`
	AnyOf      []shape          `json:"anyOf"`
}

// instance is a random document that conforms to a JSON Schema; a sentence where there is none, and where it is beyond the generator.
func instance(rnd *rand.Rand, schema string) string {
	var s shape
	if json.Unmarshal([]byte(schema), &s) != nil {
		return "I find for the first label."
	}
	text, _ := json.Marshal(s.value(rnd, 0))
	return string(text)
}

// maxDepth ends schemas that name themselves.
const maxDepth = 12

func (s *shape) value(rnd *rand.Rand, depth int) any {
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return s.Enum[rnd.IntN(len(s.Enum))]
	case len(s.AnyOf) > 0:
		return s.AnyOf[rnd.IntN(len(s.AnyOf))].value(rnd, depth+1)
	case depth > maxDepth:
		return nil
	}
	switch s.Type {
	case "object":
		object := map[string]any{}
		for _, name := range s.Required {
			field := s.Properties[name]
			object[name] = field.value(rnd, depth+1)
		}
		return object
	case "array":
		return s.array(rnd, depth)
	case "string":
		return strings.Repeat("a sentence about \"item 1\" \u00fc\n", rnd.IntN(3))
	case "integer":
		least, greatest := s.bounds(0, 20)
		return int(least) + rnd.IntN(int(min(greatest-least, 40))+1)
	case "number":
		least, greatest := s.bounds(0, 1)
		return least + rnd.Float64()*(greatest-least)
	case "boolean":
		return rnd.IntN(2) == 0
	}
	return nil
}

func (s *shape) array(rnd *rand.Rand, depth int) any {
	most := 4
	if s.MaxItems != nil {
		most = min(most, *s.MaxItems)
	}
	list := []any{}
	for range s.MinItems + rnd.IntN(max(most-s.MinItems, 0)+1) {
		if s.Items != nil {
			list = append(list, s.Items.value(rnd, depth+1))
		}
	}
	return list
}

func (s *shape) bounds(least, greatest float64) (from, to float64) {
	if s.Minimum != nil {
		least = *s.Minimum
	}
	greatest = max(greatest, least)
	if s.Maximum != nil {
		greatest = *s.Maximum
	}
	return least, greatest
}
