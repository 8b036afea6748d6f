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
	rejection  string // why no provider is asked; empty where one may be
}

// sample is one of the answers, or why there is none.
type sample struct {
	answer                    string
	inputTokens, outputTokens int
	cost                      float64
	failure                   *failure
}

// samples asks for all answers: for the first alone, and for the others at the same time, unless the first showed that there will be none.
func (q *question) samples(ctx context.Context) []sample {
	samples := make([]sample, max(q.completion.Samples, 1))
	first := q.request(0)
	samples[0] = q.sample(ctx, first, q.admit(ctx, first))
	hopeless := samples[0].failure
	// What the others may use is reserved in their order, so that a budget that does not suffice for all ends with the last ones.
	var running sync.WaitGroup
	for i := 1; i < len(samples); i++ {
		r := q.request(i)
		var a admission
		if hopeless != nil && hopeless.hopeless {
			a = q.known(ctx, r.digest(q.set.definition), r, reply{}, hopeless)
		} else {
			a = q.admit(ctx, r)
		}
		running.Go(func() { samples[i] = q.sample(ctx, r, a) })
	}
	running.Wait()
	return samples
}

// request is the question for one of the samples.
func (q *question) request(i int) *request {
	return &request{
		model: q.model, messages: q.completion.Messages, schema: q.schema, answerTokens: q.completion.AnswerTokens,
		temperature: q.completion.Temperature, seed: max(q.completion.Seed+i, i),
	}
}

// admission says where the answer to a request comes from: it is known, from the cassette or as a rejection, or the model may be asked,
// and the budgets have set aside what that may take.
type admission struct {
	digest string
	known  bool
	got    reply
	f      *failure
}

// admit looks for an answer where there may be one, and otherwise takes from the budgets what one may use. What is known takes nothing
// from them, so that a cassette plays the same answers whoever asks first.
func (q *question) admit(ctx context.Context, r *request) admission {
	s := q.set
	a := admission{digest: r.digest(s.definition)}
	if a.got, a.f, a.known = s.cassette.find(a.digest); a.known {
		return a
	}
	if s.cassette.plays() {
		a.known, a.f = true, &failure{outcome: abi.CompletionFailed, detail: fmt.Sprintf(
			"the cassette has no answer of %s to this question (%.12s): record a new cassette where the model can be asked", q.completion.Model, a.digest)}
		return a
	}
	if q.rejection != "" {
		return q.known(ctx, a.digest, r, reply{}, notAsked(q.rejection))
	}
	input := q.inputTokens(r.messages)
	if f := q.purse.reserve(ctx, amount{input + r.answerTokens, q.model.Price.of(input, r.answerTokens)}); f != nil {
		return q.known(ctx, a.digest, r, reply{}, f)
	}
	return a
}

// known admits what came of a request, and has the cassette keep it. Where another trial was first with the same question, both have what
// came of that.
func (q *question) known(ctx context.Context, digest string, r *request, got reply, f *failure) admission {
	a := admission{digest: digest, known: true, got: got, f: f}
	if !stopped(ctx) {
		a.got, a.f = q.set.cassette.add(q.entry(digest, r, got, f))
	}
	return a
}

// stopped says whether a context ended for a reason that is none of the model's: not by a limit of time.
func stopped(ctx context.Context) bool {
	_, limit := errors.AsType[*failure](context.Cause(ctx))
	return ctx.Err() != nil && !limit
}

func (q *question) entry(digest string, r *request, got reply, f *failure) entry {
	e := entry{Digest: digest, Alias: q.completion.Model, Model: r.model.Model, Seed: r.seed}
	e.set(got, f)
	return e
}

// inputTokens are the most that a question has: three bytes are counted as a token, which is more than texts have.
func (q *question) inputTokens(messages []abi.ChatMessage) int {
	const aMessage = 8 // tokens around each one
	size := bytesOf(messages)
	if q.schema != nil {
		size += len(q.schema.raw) + len(schemaPrompt)
	}
	return size/3 + aMessage*(len(messages)+1)
}

// sample gets one answer, and a second one, told what is wrong with the first, where that does not conform.
func (q *question) sample(ctx context.Context, r *request, a admission) (one sample) {
	got, f := q.exchange(ctx, &one, r, a)
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
		again := *r
		again.messages = slices.Concat(r.messages, repair(got.text, err))
		if got, f = q.exchange(ctx, &one, &again, q.admit(ctx, &again)); f != nil {
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
		detail:  fmt.Sprintf("the answer of %s does not conform to the schema: %s%s", q.completion.Model, cut(oneLine(strings.ReplaceAll(err.Error(), "\n", "; ")), 400), then),
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

// exchange gets one answer, from where its admission says. What it used is added to the sample.
func (q *question) exchange(ctx context.Context, one *sample, r *request, a admission) (reply, *failure) {
	got, f := a.got, a.f
	if !a.known {
		p := &payment{purse: q.purse, price: q.model.Price, input: q.inputTokens(r.messages), answer: r.answerTokens, held: true}
		got, f = q.fetch(ctx, r, p)
		got = p.settle(got)
		hopeless := f != nil && f.hopeless
		kept := q.known(ctx, a.digest, r, got, f)
		if got, f = kept.got, kept.f; f != nil {
			f.hopeless = hopeless
		}
	}
	input, output := max(got.inputTokens, 0), max(got.outputTokens, 0)
	one.inputTokens += input
	one.outputTokens += output
	one.cost += q.model.Price.of(input, output)
	return got, f
}

// fetch asks the provider.
func (q *question) fetch(ctx context.Context, r *request, p *payment) (reply, *failure) {
	got, f := q.endpoint.ask(ctx, r, p.again)
	got.text = strings.ToValidUTF8(got.text, "\uFFFD")
	if f == nil && len(got.text) > maxAnswerBytes {
		f = tooLong(fmt.Sprintf("the answer has more than %d bytes", maxAnswerBytes))
		f.charged = true
	}
	return p.counted(got, f), f
}
