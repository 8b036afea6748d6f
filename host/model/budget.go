package model

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// amount is what was used, or may be.
type amount struct {
	tokens int
	money  float64
}

func (a amount) plus(b amount) amount { return amount{a.tokens + b.tokens, a.money + b.money} }

// account is what was used, and what is reserved by questions under way.
type account struct {
	used, reserved amount
	holders        int // of reservations
}

func (a *account) reserve(most amount) {
	a.reserved = a.reserved.plus(most)
	a.holders++
}

func (a *account) settle(reserved, used amount) {
	a.used = a.used.plus(used)
	a.reserved = amount{a.reserved.tokens - reserved.tokens, a.reserved.money - reserved.money}
	if a.holders--; a.holders == 0 {
		a.reserved = amount{} // without what sums of fractions leave
	}
}

// ledger is what a docket has used.
type ledger struct {
	mu sync.Mutex
	account
	waited time.Duration
	// settled is closed when a reservation is settled; nil while nobody waits for that.
	settled chan struct{}
}

// scope is a budget and what of it is used.
type scope struct {
	name   string
	budget Budget
	account
	waited time.Duration
}

// purse is what one completion may use. Safe for concurrent use, like the ledger that its lock is.
type purse struct {
	budgets Budgets
	asked   trial.ModelUsage // of the trial before
	account                  // of the completion
	ledger  *ledger
}

// scopes are the budgets from the narrowest to the widest. The lock is held.
func (p *purse) scopes() []scope {
	of := p.account
	of.used = of.used.plus(amount{p.asked.InputTokens + p.asked.OutputTokens, p.asked.Cost})
	return []scope{
		{"call", p.budgets.Call, p.account, 0},
		{"trial", p.budgets.Trial, of, p.asked.Waited},
		{"docket", p.budgets.Docket, p.ledger.account, p.ledger.waited},
	}
}

// begin says how long the completion may take, by which budget; 0 for any time. why says why nothing is asked.
func (p *purse) begin() (most time.Duration, by string, why string) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	for _, s := range p.scopes() {
		b := s.budget
		if b.Tokens != nil && *b.Tokens == 0 || b.Seconds != nil && *b.Seconds == 0 || b.Money != nil && *b.Money == 0 {
			return 0, "", fmt.Sprintf("the budget of the %s is 0: no model is asked", s.name)
		}
		if b.Seconds == nil {
			continue
		}
		left := time.Duration(*b.Seconds*float64(time.Second)) - s.waited
		if left <= 0 {
			return 0, "", fmt.Sprintf("the budget of the %s is used up: %s of %s s", s.name, figure(s.waited.Seconds()), figure(*b.Seconds))
		}
		if most == 0 || left < most {
			most, by = left, s.name
		}
	}
	return most, by, ""
}

// reserve takes the most that a question may use. Where a budget lacks it only because of what others reserved, it waits until they are
// settled: most use less. The failure says which budget does not cover the question, or why the context ended.
func (p *purse) reserve(ctx context.Context, most amount) *failure {
	for {
		settled, why := p.tryReserve(most)
		if why != "" {
			return notAsked(why)
		}
		if settled == nil {
			return nil
		}
		select {
		case <-settled:
		case <-ctx.Done():
			return whyEnded(ctx, false)
		}
	}
}

// tryReserve reserves, or gives what to wait for, or says why that is of no use.
func (p *purse) tryReserve(most amount) (settled <-chan struct{}, why string) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	wait := false
	for _, s := range p.scopes() {
		if b := s.budget.Tokens; b != nil {
			if s.used.tokens+most.tokens > *b {
				return nil, fmt.Sprintf("the budget of the %s does not suffice: %d of %d tokens are used%s, and the question may take %d",
					s.name, s.used.tokens, *b, s.beside(strconv.Itoa(s.reserved.tokens)), most.tokens)
			}
			wait = wait || s.holders > 0 && s.used.tokens+s.reserved.tokens+most.tokens > *b
		}
		if b := s.budget.Money; b != nil {
			if s.used.money+most.money > *b {
				return nil, fmt.Sprintf("the budget of the %s does not suffice: %s of %s in money are used%s, and the question may cost %s",
					s.name, figure(s.used.money), figure(*b), s.beside(figure(s.reserved.money)), figure(most.money))
			}
			wait = wait || s.holders > 0 && s.used.money+s.reserved.money+most.money > *b
		}
	}
	if wait {
		if p.ledger.settled == nil {
			p.ledger.settled = make(chan struct{})
		}
		return p.ledger.settled, ""
	}
	p.account.reserve(most)
	p.ledger.reserve(most)
	return nil, ""
}

// beside tells of what is reserved.
func (s *scope) beside(reserved string) string {
	if s.holders == 0 {
		return ""
	}
	return ", with " + reserved + " more reserved"
}

// settle puts what was used in the place of what was reserved.
func (p *purse) settle(reserved, used amount) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.account.settle(reserved, used)
	p.ledger.settle(reserved, used)
	if p.ledger.settled != nil {
		close(p.ledger.settled)
		p.ledger.settled = nil
	}
}

// end counts the time that the completion took.
func (p *purse) end(took time.Duration) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.ledger.waited += took
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// payment is what an exchange with a provider takes from the budgets: of each request what the provider counted, and where it counted
// nothing, what it may charge.
type payment struct {
	purse         *purse
	price         Price
	input, answer int  // tokens that one request may take
	held          bool // they are reserved for the request that runs
	lost          int  // requests that were made again, and that the provider may charge for
}

func (p *payment) amount(input, output int) amount {
	return amount{input + output, p.price.of(input, output)}
}

// again counts the request before as charged, and reserves for another one.
func (p *payment) again(ctx context.Context) *failure {
	most := p.amount(p.input, p.answer)
	p.lost++
	p.purse.settle(most, most)
	f := p.purse.reserve(ctx, most)
	p.held = f == nil
	return f
}

// counted gives a reply with estimates of what the provider left out. No question has 0 tokens, and no answer with a text.
func (p *payment) counted(got reply, f *failure) reply {
	if f != nil && !f.charged && got.inputTokens <= 0 && got.outputTokens <= 0 {
		got.inputTokens, got.outputTokens = 0, 0
		return got
	}
	if got.inputTokens <= 0 {
		got.inputTokens = p.input
	}
	switch {
	case got.outputTokens < 0 && f != nil:
		got.outputTokens = p.answer
	case got.outputTokens < 0, got.outputTokens == 0 && got.text != "":
		got.outputTokens = min(1+len(got.text)/3, p.answer)
	}
	return got
}

// settle puts what was used in the place of what was reserved, and gives the reply with the tokens of all its requests.
func (p *payment) settle(got reply) reply {
	if p.held {
		p.purse.settle(p.amount(p.input, p.answer), p.amount(got.inputTokens, got.outputTokens))
	}
	got.inputTokens += p.lost * p.input
	got.outputTokens += p.lost * p.answer
	return got
}
