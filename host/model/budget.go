package model

import (
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

// ledger is what a docket has used.
type ledger struct {
	mu     sync.Mutex
	used   amount
	waited time.Duration
}

// scope is a budget and what of it is used.
type scope struct {
	name   string
	budget Budget
	used   amount
	waited time.Duration
}

// purse is what one completion may use. Safe for concurrent use, like the ledger that its lock is.
type purse struct {
	budgets Budgets
	asked   trial.ModelUsage // of the trial before
	used    amount           // by the completion
	ledger  *ledger
}

// scopes are the budgets from the narrowest to the widest. The lock is held.
func (p *purse) scopes() []scope {
	before := amount{p.asked.InputTokens + p.asked.OutputTokens, p.asked.Cost}
	return []scope{
		{"call", p.budgets.Call, p.used, 0},
		{"trial", p.budgets.Trial, before.plus(p.used), p.asked.Waited},
		{"docket", p.budgets.Docket, p.ledger.used, p.ledger.waited},
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

// reserve takes the most that a question may use. why says which budget does not have it.
func (p *purse) reserve(a amount) (why string) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	for _, s := range p.scopes() {
		if b := s.budget.Tokens; b != nil && s.used.tokens+a.tokens > *b {
			return fmt.Sprintf("the budget of the %s is used up: %d of %d tokens, and the question may take %d", s.name, s.used.tokens, *b, a.tokens)
		}
		if b := s.budget.Money; b != nil && s.used.money+a.money > *b {
			return fmt.Sprintf("the budget of the %s is used up: %s of %s in money, and the question may cost %s", s.name, figure(s.used.money), figure(*b), figure(a.money))
		}
	}
	p.add(a)
	return ""
}

// settle puts what was used in the place of what was reserved.
func (p *purse) settle(reserved, used amount) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.add(amount{used.tokens - reserved.tokens, used.money - reserved.money})
}

func (p *purse) add(a amount) {
	p.used = p.used.plus(a)
	p.ledger.used = p.ledger.used.plus(a)
}

// end counts the time that the completion took.
func (p *purse) end(took time.Duration) {
	p.ledger.mu.Lock()
	defer p.ledger.mu.Unlock()
	p.ledger.waited += took
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }
