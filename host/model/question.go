package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
)

// question is a completion that is being asked.
type question struct {
	set        *Set
	completion *abi.Completion
	model      *Model
	endpoint   *endpoint // nil where a cassette plays
	schema     *schema   // nil for free text
	purse      *purse
}

// sample is one of the answers, or why there is none.
type sample struct {
	answer                    string
	inputTokens, outputTokens int
	cost                      float64
	failure                   *failure
}

// samples asks for all answers: for the first alone, and for the others at the same time, unless the first showed that there will be
// none.
func (q *question) samples(ctx context.Context) []sample {
	samples := make([]sample, max(q.completion.Samples, 1))
	samples[0] = q.sample(ctx, 0)
	if f := samples[0].failure; f != nil && f.hopeless {
		for i := range samples {
			samples[i].failure = f
		}
		return samples
	}
	// What the others may use is reserved in their order, so that a budget that does not suffice for all ends with the last ones.
	var running sync.WaitGroup
	for i := 1; i < len(samples); i++ {
		reserved, f := q.reserve(q.completion.Messages)
		if f != nil {
			samples[i].failure = f
			continue
		}
		running.Go(func() { samples[i] = q.reserved(ctx, i, reserved) })
	}
	running.Wait()
	return samples
}

// reserve takes from the budgets what one answer may use: three bytes of a question are counted as a token, which is more than texts have.
func (q *question) reserve(messages []abi.ChatMessage) (amount, *failure) {
	most := amount{tokens: q.inputTokens(messages) + q.completion.AnswerTokens}
	most.money = q.model.Price.of(q.inputTokens(messages), q.completion.AnswerTokens)
	if why := q.purse.reserve(most); why != "" {
		return amount{}, &failure{outcome: abi.CompletionNotAsked, detail: why}
	}
	return most, nil
}

func (q *question) inputTokens(messages []abi.ChatMessage) int {
	const aMessage = 8 // tokens around each one
	bytes := bytesOf(messages)
	if q.schema != nil {
		bytes += len(q.schema.raw) + len(schemaPrompt)
	}
	return bytes/3 + aMessage*(len(messages)+1)
}

func (q *question) sample(ctx context.Context, i int) sample {
	reserved, f := q.reserve(q.completion.Messages)
	if f != nil {
		return sample{failure: f}
	}
	return q.reserved(ctx, i, reserved)
}

// reserved asks for one answer, and a second time, with what is wrong, where it does not conform.
func (q *question) reserved(ctx context.Context, i int, reserved amount) (one sample) {
	r := &request{
		model: q.model, messages: q.completion.Messages, schema: q.schema, answerTokens: q.completion.AnswerTokens,
		temperature: q.completion.Temperature, seed: max(q.completion.Seed+i, i),
	}
	got, f := q.exchange(ctx, &one, r, reserved)
	if f != nil {
		one.failure = f
		return one
	}
	if q.schema == nil {
		one.answer = got.text
		return one
	}
	answer, err := q.schema.accept(got.text)
	if err != nil {
		r.messages = slices.Concat(r.messages, repair(got.text, err))
		if reserved, f = q.reserve(r.messages); f != nil {
			one.failure = q.invalid(err, "; it was not repaired: "+f.detail)
			return one
		}
		if got, f = q.exchange(ctx, &one, r, reserved); f != nil {
			one.failure = q.invalid(err, "; it was not repaired: "+f.detail)
			return one
		}
		if answer, err = q.schema.accept(got.text); err != nil {
			one.failure = q.invalid(err, " (after a repair)")
			return one
		}
	}
	one.answer = answer
	return one
}

func (q *question) invalid(err error, then string) *failure {
	return &failure{
		outcome: abi.CompletionInvalid,
		detail:  fmt.Sprintf("the answer of %s does not conform to the schema: %s%s", q.completion.Model, cut(oneLine(err.Error()), 400), then),
	}
}

// maxRepairBytes of a broken answer are shown to the model.
const maxRepairBytes = 32 << 10

// repair are the messages that ask for a better answer.
func repair(text string, err error) []abi.ChatMessage {
	return []abi.ChatMessage{
		{Role: abi.ChatAssistant, Content: cut(text, maxRepairBytes)},
		{Role: abi.ChatUser, Content: "This answer does not conform to the JSON Schema:\n" + err.Error() +
			"\n\nAnswer the question again with one JSON value that conforms, and with nothing else."},
	}
}

// exchange gets one answer from where there is one: the cassette, the cache, the provider. What it used is added to the sample.
func (q *question) exchange(ctx context.Context, one *sample, r *request, reserved amount) (reply, *failure) {
	s, digest := q.set, r.digest(q.set.definition)
	got, f, found := s.cassette.find(digest)
	free := false
	switch {
	case found:
	case s.cassette.plays():
		f = &failure{outcome: abi.CompletionFailed, detail: fmt.Sprintf(
			"the cassette has no answer of %s to this question (%.12s): record it again, or with another cassette, where the model can be asked", q.completion.Model, digest)}
	default:
		if got, free = s.cache.read(digest); !free {
			got, f = q.fetch(ctx, r)
		}
		if ctx.Err() == nil {
			e := entry{Digest: digest, Alias: q.completion.Model, Model: r.model.Model, Seed: r.seed}
			if e.set(got, f); f == nil && !free {
				s.cache.write(e)
			}
			hopeless := f != nil && f.hopeless
			if got, f = s.cassette.add(e); f != nil {
				f.hopeless = hopeless
			}
		}
	}
	used := amount{}
	if !free {
		input, output := max(got.inputTokens, 0), max(got.outputTokens, 0)
		used = amount{input + output, q.model.Price.of(input, output)}
		one.inputTokens += input
		one.outputTokens += output
		one.cost += used.money
	}
	q.purse.settle(reserved, used)
	return got, f
}

// fetch asks the provider. What it did not count is estimated.
func (q *question) fetch(ctx context.Context, r *request) (reply, *failure) {
	got, err := q.endpoint.ask(ctx, r)
	got.text = strings.ToValidUTF8(got.text, "\uFFFD")
	f, ok := errors.AsType[*failure](err)
	if err != nil && !ok {
		f = failed(oneLine(err.Error())) // of the context, which the caller sees
	}
	if f == nil && len(got.text) > maxAnswerBytes {
		f = tooLong(fmt.Sprintf("the answer has more than %d bytes", maxAnswerBytes))
	}
	if f == nil || got.inputTokens > 0 || got.outputTokens > 0 {
		if got.inputTokens < 0 {
			got.inputTokens = q.inputTokens(r.messages)
		}
		if got.outputTokens < 0 {
			got.outputTokens = min(1+len(got.text)/3, q.completion.AnswerTokens)
		}
	}
	return got, f
}
