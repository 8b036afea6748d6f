package model

import "context"

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
