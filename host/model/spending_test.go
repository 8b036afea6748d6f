package model_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/model"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// most are the tokens that the question of ask may take: of 22 bytes in two messages, and an answer of 200.
const mostInput, mostOutput = 31, 200

// What a provider may charge for is counted, also where nothing came of it: otherwise failures would get around every budget. An error that
// it reports, and a server that was never reached, cost nothing.
func TestAccept_LL4_FailedRequestsAreCounted(t *testing.T) {
	t.Parallel()
	const ok = "application/json"
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, c := range []struct {
		name   string
		answer func(c *clock) func(int, http.ResponseWriter, *http.Request) // nil: nobody listens
		tokens int
	}{
		{"a timeout", func(c *clock) func(int, http.ResponseWriter, *http.Request) {
			return func(_ int, _ http.ResponseWriter, r *http.Request) {
				c.Advance(2 * time.Minute)
				<-r.Context().Done()
			}
		}, mostInput + mostOutput},
		{"half a JSON, three times", still(status(200, "Content-Type", ok, `{"choices": [`)), 3 * (mostInput + mostOutput)},
		{"another JSON", still(status(200, "Content-Type", ok, `[]`)), mostInput + mostOutput},
		{"a page", still(status(200, "Content-Type", "text/html", "<p>")), mostInput + mostOutput},
		{"too much", still(endless), mostInput + mostOutput},
		{"cut at its limit, and not counted", still(status(200, "Content-Type", ok, `{"choices": [{"finish_reason": "length", "message": {"content": "x"}}]}`)), mostInput + mostOutput},
		{"cut at its limit, and counted", still(func(_ int, w http.ResponseWriter, _ *http.Request) { reply(w, "x", "length") }), 110},
		{"an error in place of an answer", still(status(200, "Content-Type", ok, `{"error": {"message": "no credit"}}`)), 0},
		{"an error", still(status(500, "Content-Type", ok, `{}`)), 0},
		{"redirected", still(status(307, "Location", "https://x.example", "")), 0},
		{"nobody listens", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var fake *clock
			p := serve(t, func(n int, w http.ResponseWriter, r *http.Request) { c.answer(fake)(n, w, r) })
			at := p.URL
			if c.answer == nil {
				at = gone.URL
			}
			s, clock := open(t, file(at, "budgets: {docket: {tokens: 1000}}"))
			fake = clock
			got := complete(t, s, ask())
			if got.Outcome == abi.CompletionAnswered || got.InputTokens+got.OutputTokens != c.tokens {
				t.Errorf("%+v", got)
			}
			// The rest of the budget does not cover more than it has.
			fits := ask(func(a *abi.Completion) { a.AnswerTokens = min(1000-c.tokens-mostInput, 500) })
			if got := complete(t, s, fits); got.Outcome == abi.CompletionNotAsked {
				t.Errorf("a question that fits: %+v", got)
			}
			s, clock = open(t, file(at, fmt.Sprintf("budgets: {docket: {tokens: %d}}", c.tokens+mostInput+mostOutput)))
			fake = clock
			complete(t, s, ask())
			over := complete(t, s, ask(func(a *abi.Completion) { a.AnswerTokens++ }))
			expect(t, over, abi.CompletionNotAsked, fmt.Sprintf("the budget of the docket does not suffice: %d of", c.tokens))
		})
	}
}

func still(answer func(int, http.ResponseWriter, *http.Request)) func(*clock) func(int, http.ResponseWriter, *http.Request) {
	return func(*clock) func(int, http.ResponseWriter, *http.Request) { return answer }
}

// A request that is made again after one that may be charged for needs a budget for itself.
func TestAccept_LL4_RetriesKeepTheBudget(t *testing.T) {
	t.Parallel()
	p := serve(t, status(200, "Content-Type", "application/json", `{"choices": [`))
	s, _ := open(t, file(p.URL, "budgets: {call: {tokens: 500}}"))
	got := complete(t, s, ask())
	expect(t, got, abi.CompletionFailed, "here: the answer is half a JSON; it is not asked again: the budget of the call does not suffice: 462 of 500 tokens are used")
	if len(p.asked()) != 2 || got.InputTokens+got.OutputTokens != 462 {
		t.Errorf("%d requests, %+v", len(p.asked()), got)
	}
}

// Trials that run at the same time do not lose their models over what others reserved and did not use.
func TestAccept_LL4_ReservationsAreWaitedFor(t *testing.T) {
	t.Parallel()
	const trials = 20
	p := serve(t, says("yes")) // for 110 tokens
	s, _ := open(t, file(p.URL, fmt.Sprintf("budgets: {docket: {tokens: %d}}", trials*110+mostInput+mostOutput)))
	var group sync.WaitGroup
	for i := range trials {
		group.Go(func() {
			expect(t, complete(t, s, ask(func(c *abi.Completion) { c.Seed = i })), abi.CompletionAnswered, "")
		})
	}
	group.Wait()
	// What is used up while others still ask tells both.
	release, asked := make(chan struct{}), make(chan struct{})
	p = serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n == 1 {
			close(asked)
			<-release
		}
		says("yes")(n, w, r)
	})
	s, _ = open(t, file(p.URL, "budgets: {docket: {tokens: 341}}"))
	complete(t, s, ask())
	group.Go(func() { complete(t, s, ask(func(c *abi.Completion) { c.Seed = 1 })) })
	<-asked
	expect(t, complete(t, s, ask(func(c *abi.Completion) { c.AnswerTokens = 201 })), abi.CompletionNotAsked,
		"the budget of the docket does not suffice: 110 of 341 tokens are used, with 231 more reserved, and the question may take 232")
	close(release)
	group.Wait()
}

// No question takes 0 tokens, whatever a provider says, and a usage that is none does not cost a good answer.
func TestUsageThatCantBe(t *testing.T) {
	t.Parallel()
	for _, usage := range []string{
		`{"prompt_tokens": 0, "completion_tokens": 0}`, `{"prompt_tokens": 1.5, "completion_tokens": "7"}`, `"none"`, `[1]`, `null`, `{"prompt_tokens": {}}`,
	} {
		p := serve(t, status(200, "Content-Type", "application/json", `{"choices": [{"message": {"content": "123456"}}], "usage": `+usage+`}`))
		s, _ := open(t, file(p.URL, ""))
		got := complete(t, s, ask())
		expect(t, got, abi.CompletionAnswered, "")
		if got.InputTokens != mostInput || got.OutputTokens != 3 {
			t.Errorf("%s: %+v", usage, got)
		}
	}
}

// Costs have no digits of binary arithmetic.
func TestCostsAreRounded(t *testing.T) {
	t.Parallel()
	p := serve(t, says("yes"))
	s, _ := open(t, strings.Replace(file(p.URL, ""), "price: {input: 1, output: 10}", "price: {input: 1, output: 4}", 1))
	if got := complete(t, s, ask(samples(3))); got.Cost != 0.00042 {
		t.Errorf("cost %v", got.Cost)
	}
}

// Whatever budgets did while a cassette was recorded, playing it gives the same results: without budgets, with others, and in any order.
func TestAccept_LL4_ACassettePlaysWhatBudgetsDid(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "tape.jsonl")
	p := serve(t, says(`{"label": "a"}`, `no`, `{"label": "b"}`, "no"))
	tape := must.Get(model.RecordCassette(name))(t)
	var questions []abi.Completion
	for i := range 6 {
		questions = append(questions, ask(conforming, samples(3), func(c *abi.Completion) { c.Seed = 10 * i }))
	}
	questions = append(questions, ask(conforming, samples(2), func(c *abi.Completion) { c.Seed = 11 })) // part of one before
	recording, _ := open(t, file(p.URL, "budgets: {call: {tokens: 800}, docket: {tokens: 1800}}"), func(c *model.Config) {
		c.Cassette = tape
		for _, p := range c.Definition.Providers {
			p.Concurrency = 1
		}
	})
	want := map[int]string{}
	outcomes := map[abi.CompletionOutcome]int{}
	for i, q := range questions {
		got := complete(t, recording, q)
		want[i] = fmt.Sprint(got)
		outcomes[got.Outcome]++
	}
	must.Do(t, recording.Close())
	if outcomes[abi.CompletionPartial] == 0 || outcomes[abi.CompletionNotAsked] == 0 {
		t.Fatalf("the budgets did nothing: %v", want)
	}
	for _, budgets := range []string{"", "budgets: {docket: {tokens: 0}}", "budgets: {call: {money: 0.000001}, trial: {seconds: 0}}"} {
		tape = must.Get(model.PlayCassette(name))(t)
		playing, _ := open(t, file(p.URL, budgets), func(c *model.Config) { c.Cassette, c.Transport = tape, noNetwork{t} })
		var group sync.WaitGroup
		for i, q := range questions {
			group.Go(func() {
				check.Equal(t, fmt.Sprint(complete(t, playing, q)), want[i], budgets, "played", "recorded")
			})
		}
		group.Wait()
	}
}

// A model without its key, and a provider that can't be used, are the same from a cassette, for all samples.
func TestACassettePlaysWhatCouldNotBeAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(int, http.ResponseWriter, *http.Request)
		change func(*model.Config)
		more   string
		detail string
	}{
		{"no key", says("x"), func(c *model.Config) { c.Getenv = func(string) string { return "" } }, "", "TEST_KEY is not set"},
		{"a wrong key", status(401, "Content-Type", "application/json", "{}"), func(*model.Config) {}, "", "401 Unauthorized"},
		{"no time", nil, func(*model.Config) {}, "budgets: {trial: {seconds: 5}}", "no answer within the 5 s that the budget of the trial leaves"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var fake *clock
			p := serve(t, c.answer)
			if c.answer == nil {
				p.answer = func(_ int, _ http.ResponseWriter, r *http.Request) {
					fake.Advance(6 * time.Second)
					<-r.Context().Done()
				}
			}
			name := filepath.Join(t.TempDir(), "tape.jsonl")
			tape := must.Get(model.RecordCassette(name))(t)
			recording, clock := open(t, file(p.URL, c.more), func(config *model.Config) {
				config.Cassette = tape
				c.change(config)
			})
			fake = clock
			want := complete(t, recording, ask(samples(3)))
			check.Contains(t, want.Detail, c.detail, want)
			must.Do(t, recording.Close())
			tape = must.Get(model.PlayCassette(name))(t)
			playing, _ := open(t, file(p.URL, c.more), func(config *model.Config) { config.Cassette = tape })
			if got := complete(t, playing, ask(samples(3))); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("played %+v\nrecorded %+v", got, want)
			}
		})
	}
}

// A proxy is reported before anything is asked, and named in each failure of what went through it.
func TestProxy(t *testing.T) {
	t.Parallel()
	var through atomic.Int32
	proxy := serve(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if through.Add(1); r.URL.Host != "provider.invalid" {
			t.Errorf("asked for %s", r.URL)
		}
		status(403, "Content-Type", "text/plain", "not on the list")(n, w, r)
	})
	to := must.Get(url.Parse(proxy.URL))(t)
	to.User = url.UserPassword("me", "secret")
	s, _ := open(t, strings.Replace(file("http://provider.invalid/v1", ""), "key_env: TEST_KEY, ", "", 1), func(c *model.Config) { c.Proxy = http.ProxyURL(to) })
	check.Equal(t, fmt.Sprint(s.Notes()), "[the provider here is asked through the proxy "+proxy.URL+"]", "notes")
	expect(t, complete(t, s, ask()), abi.CompletionFailed, "not on the list (through the proxy "+proxy.URL+")")
	check.Equal(t, through.Load(), 1, "requests")
}
