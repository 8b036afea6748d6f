package calibrate

import (
	"context"
	"errors"
	"runtime"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/peers"
)

// asked are the models that are asked without a court while others are tried. Nil asks nobody.
type asked struct {
	peers   *peers.Peers
	slots   chan struct{}
	running sync.WaitGroup

	mu      sync.Mutex
	cases   []string
	answers []*[]peers.Answered // by case
	failed  error
}

// beside prepares the models that the pipeline names; nil without --peers.
func (o *calibrateOptions) beside(ctx context.Context, h *host.Host) *asked {
	if !o.peers {
		return nil
	}
	def := h.Pipeline()
	meaning := func(label string) string {
		for i := range def.Labels {
			if l := &def.Labels[i]; l.ID == label {
				return l.Name
			}
		}
		return ""
	}
	set := o.ModelSet()
	workers := o.Workers(o.workers)
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return &asked{peers: peers.New(ctx, set, set.Distinct(open.ModelNames(def)), meaning), slots: make(chan struct{}, workers)}
}

// ask asks about a case that came before the court.
func (a *asked) ask(ctx context.Context, t *trial.Trial) {
	if a == nil || !t.Result.Activated || t.Truth == nil || t.Truth.Classification == "" {
		return
	}
	subject, tokens := t.Case, 0
	if l := t.Result.Light; l != nil && subject.Light == nil {
		subject.Light = &abi.LightAnswer{Classification: l.Classification, Confidence: l.Confidence}
	}
	for i := range t.Result.Completions {
		tokens += t.Result.Completions[i].InputTokens + t.Result.Completions[i].OutputTokens
	}
	answers := new([]peers.Answered)
	a.mu.Lock()
	a.cases, a.answers = append(a.cases, subject.ID), append(a.answers, answers)
	a.mu.Unlock()
	a.slots <- struct{}{}
	a.running.Go(func() {
		defer func() { <-a.slots }()
		list, err := a.peers.Ask(ctx, &subject, tokens)
		a.mu.Lock()
		defer a.mu.Unlock()
		*answers, a.failed = list, errors.Join(a.failed, err)
	})
}

// wait waits for all answers. Its error is that of the context.
func (a *asked) wait() error {
	if a == nil {
		return nil
	}
	a.running.Wait()
	return a.failed
}

// sum is what the models answered.
func (a *asked) sum() []calibrate.Peer {
	if a == nil {
		return nil
	}
	answers := make([][]peers.Answered, len(a.answers))
	for i, list := range a.answers {
		answers[i] = *list
	}
	return a.peers.Sum(a.cases, answers)
}
