package experiment

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// Progress says what runs now.
type Progress struct {
	// Running says which experiments are being built or run: "TestA: this tree, 5 times".
	Running []string
	// Waiting is how many experiments wait for others.
	Waiting int
	// Expected is how long all of them are expected to take, and Budget how much of the budget is left.
	Expected, Budget time.Duration
}

// account measures what builds and runs take, and says whether there may be more.
type account struct {
	now             func() time.Time
	budget, perCase time.Duration
	cases           int
	progress        func(Progress)
	turns           chan struct{} // one token for each build or run that may take place now; who waits longest gets it next

	mu       sync.Mutex
	spent    time.Duration
	byCase   map[string]time.Duration // by the fingerprint of the failure
	builds   map[string]time.Duration // of that
	denied   map[string]bool          // failures for which something was not run for want of a budget
	running  []string
	waiting  int
	expected time.Duration
}

func newAccount(c Config) *account {
	a := &account{now: c.Now, budget: c.Budget, perCase: c.PerCase, cases: c.Cases, builds: map[string]time.Duration{}, progress: c.Progress, byCase: map[string]time.Duration{}, denied: map[string]bool{}}
	a.turns = make(chan struct{}, c.Parallel)
	return a
}

// change changes the account and tells the progress.
func (a *account) change(how func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	how()
	if a.progress != nil {
		a.progress(Progress{
			Running: slices.Clone(a.running), Waiting: a.waiting, Expected: max(a.expected, 0), Budget: max(a.budget-a.spent, 0),
		})
	}
}

// begin adds an experiment to what is expected; the function that it returns says which share of it is left.
func (a *account) begin(expected time.Duration) func(left float64) {
	counted := expected
	a.change(func() { a.expected += counted })
	return func(left float64) {
		now := time.Duration(left * float64(expected))
		a.change(func() { a.expected, counted = a.expected+now-counted, now })
	}
}

// turn waits until the next build or run of an experiment may take place. Then its error says if the budget is used up. The function
// that it returns ends the turn.
func (a *account) turn(ctx context.Context, f *failure, e abi.Experiment) (func(), error) {
	a.change(func() { a.waiting++ })
	select {
	case a.turns <- struct{}{}:
	case <-ctx.Done():
		a.change(func() { a.waiting-- })
		return nil, ctx.Err()
	}
	name := f.name + ": " + e.Words()
	var used error
	a.change(func() {
		a.waiting--
		if used = a.usedUp(f.fingerprint); used == nil {
			a.running = append(a.running, name)
		} else {
			a.denied[f.fingerprint] = true
		}
	})
	if used != nil {
		<-a.turns
		return nil, used
	}
	return func() {
		<-a.turns
		a.change(func() {
			i := slices.Index(a.running, name)
			a.running = slices.Delete(a.running, i, i+1)
		})
	}, nil
}

func (a *account) usedUp(failure string) error {
	others := time.Duration(max(a.cases-len(a.byCase), 0)) * a.perCase // that have had nothing yet
	switch {
	case a.spent >= a.budget:
		return errors.New("the budget of " + short(a.budget) + plan.UsedUp)
	case a.byCase[failure]-a.builds[failure] >= a.perCase && (a.cases == 0 || a.budget-a.spent <= others):
		return errors.New("the budget of " + short(a.perCase) + " for each case" + plan.UsedUp)
	}
	return nil
}

// Spent is how long the builds and runs of a case took so far. Cases with the same failure share them.
func (l *Lab) Spent(c *abi.Case) time.Duration {
	f, err := l.failureOf(c)
	if err != nil {
		return 0
	}
	l.account.mu.Lock()
	defer l.account.mu.Unlock()
	return l.account.byCase[f.fingerprint]
}

// OutOfBudget says whether something was not run for a case because a budget was used up.
func (l *Lab) OutOfBudget(c *abi.Case) bool {
	f, err := l.failureOf(c)
	if err != nil {
		return false
	}
	l.account.mu.Lock()
	defer l.account.mu.Unlock()
	return l.account.denied[f.fingerprint]
}

// measure begins to measure a build or a run; the function that it returns ends that.
func (a *account) measure(failure string, build bool) func() {
	began := a.now()
	return func() {
		took := a.now().Sub(began)
		a.change(func() {
			a.spent += took
			a.byCase[failure] += took
			if build {
				a.builds[failure] += took
			}
		})
	}
}
