package abitest

import (
	"bytes"
	"cmp"
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
)

// DefaultCases is how many random cases the kit makes.
const DefaultCases = 1000

const (
	plainCases   = 6   // two hearings of each side
	largestCases = 6   // a hearing of each side, with long documents and with many items, or Options.Cases
	meaningCases = 100 // of random ones, asked again with something changed, or Options.Cases
	coldEvery    = 10  // random cases that a module is asked that was never called
	freshEvery   = 50  // and one that has a new instance for every call

	// mostCalls is how often the random cases may spend the fuel of a call, all
	// together: some minutes. After that a module is too slow for more of them.
	mostCalls = 100
)

// Options of a run. The zero value is useful.
type Options struct {
	// Seed of the random cases; the same seed makes the same ones.
	Seed uint64
	// Cases to make at random; each is put to every role. No other kind of case is made more often, but for plain ones. Default: DefaultCases.
	Cases int
	// Fuel is what a call may spend, for notes on calls that come near. Default: that of the contract.
	Fuel uint64
	// Progress is told what is tried next, and how much of that is done. Optional.
	Progress func(what string, done, of int)
}

func (o Options) withDefaults() Options {
	o.Cases = cmp.Or(max(o.Cases, 0), DefaultCases)
	o.Fuel = cmp.Or(o.Fuel, abi.DefaultFuel)
	if o.Progress == nil {
		o.Progress = func(string, int, int) {}
	}
	return o
}

// kit is one run over one module.
type kit struct {
	ctx      context.Context //nolint:containedctx // of the one run that the value is for
	subjects Subjects
	roles    *Roles
	options  Options
	report   *Report
	tallies  map[string]tally // by role
	hung     int              // malformed requests that took all of the fuel or the time

	hungPrepared int  // preparations that did
	again        bool // it was noted that a question was asked again
}

// RunModule holds a module that was loaded to what SPEC.md says of its calls, and adds what it finds to the report. A module that fails at
// plain cases is asked nothing more: the checks that were not tried stay skipped. The error is the context's, or a subject's.
func RunModule(ctx context.Context, subjects Subjects, roles *Roles, options Options, report *Report) error {
	k := &kit{
		ctx: ctx, subjects: subjects, roles: roles, options: options.withDefaults(), report: report,
		tallies: map[string]tally{},
	}
	report.Seed, report.Cases = k.options.Seed, k.options.Cases
	// A module that traps at everything would break every clause, and hide the one that matters.
	first, err := k.plain()
	if err != nil || len(report.Failed()) > 0 {
		return err
	}
	defer k.noteRoles()
	for _, stage := range []func() error{k.random, k.completions, k.absent, k.large, k.meaning, k.prepared, k.malformed} {
		if err := stage(); err != nil {
			return err
		}
		if k.spent() {
			return nil
		}
	}
	return k.after(first)
}

// spent says whether a call ran until its fuel, its memory or its time was over: another hundred such calls would tell nothing more.
func (k *kit) spent() bool { return k.report.broken(CheckBudget) || k.report.broken(CheckTime) }

// outcome is what came of a request that keeps the contract.
type outcome struct {
	Outcome
	answer answer
	ok     bool // there is an answer that holds, or a failure
}

// send makes a call.
func (k *kit) send(s Subject, call abi.Call, request []byte, known *Knowledge) (Outcome, error) {
	if err := k.ctx.Err(); err != nil {
		return Outcome{}, err
	}
	k.report.Calls++
	return s.Call(k.ctx, call, request, known)
}

// ask puts a request to the module as trials have it, and holds what it does and answers to the contract.
func (k *kit) ask(r *Request) (outcome, error) {
	request := r.Bytes()
	o, err := k.send(k.subjects.Usual, r.Call(), request, r.Knowledge)
	if err != nil {
		return outcome{}, err
	}
	k.measure(r.Name, request, &o)
	fail := func(check CheckID, detail string) (outcome, error) {
		k.report.Fail(check, Failure{Input: r.Name, Call: r.Call(), Request: request, Detail: detail, Stderr: o.Stderr})
		return outcome{Outcome: o}, nil
	}
	k.report.Try(CheckReturns, CheckStays, CheckAllocator, CheckBounds, CheckBudget, CheckOutput, CheckTime, CheckQuestions)
	if !o.answered() {
		detail := o.ended()
		if o.Ending == OutputTooLarge || o.Ending == OutOfBounds {
			detail += "; the result is pointer << 32 | length (§2.4): are they swapped?"
		}
		check := endingCheck(&o)
		if check == CheckReturns && r.Node != nil && len(r.Node.Completions) > 0 {
			check = CheckOutcomes
		}
		return fail(check, detail)
	}
	k.report.Try(CheckMessage, CheckEncoding, CheckConsistent)
	a, f := r.judge(&o)
	k.report.Try(r.answerChecks()...)
	if r.Node != nil {
		k.report.Try(CheckOffers, CheckModels)
		if len(r.Node.Models)+len(r.Node.Completions) > 0 {
			k.report.Try(CheckOutcomes)
		}
	}
	if f != nil {
		return fail(f.check, f.detail)
	}
	if a.node != nil && a.node.Experiment != nil { // a host runs it and asks again
		if next, err := k.ask(r.ran(a.node.Experiment)); err != nil || !next.ok {
			return outcome{Outcome: o}, err
		}
	}
	if a.node != nil && a.node.Completion != nil { // a host asks the model, and then the module again
		if next, err := k.ask(r.completed(a.node.Completion)); err != nil || !next.ok {
			return outcome{Outcome: o}, err
		}
	}
	k.count(r, &a)
	return outcome{Outcome: o, answer: a, ok: true}, nil
}

// answerChecks are the checks of an answer to the request.
func (r *Request) answerChecks() []CheckID {
	switch {
	case r.Contest != nil:
		return []CheckID{CheckContest, CheckIdentity}
	case r.Edges != nil:
		return []CheckID{CheckEdges}
	case r.Judge != nil:
		return []CheckID{CheckJudge}
	}
	checks := []CheckID{CheckArtifact, familyCheck(r.Node.Family)}
	if r.Node.Family == abi.FamilyDefend || r.Node.Family == abi.FamilyHearing {
		checks = append(checks, CheckIdentity)
	}
	return checks
}

// familyCheck is the check of the artifacts of a family.
func familyCheck(f abi.Family) CheckID {
	switch f { //nolint:exhaustive // the rest is the Light path's
	case abi.FamilyIndict:
		return CheckIndict
	case abi.FamilyDiscover, abi.FamilyCollect:
		return CheckDiscover
	case abi.FamilyDefend:
		return CheckDefend
	case abi.FamilyHearing:
		return CheckHearing
	case abi.FamilyVerdict:
		return CheckVerdict
	}
	return CheckLight
}

// endingCheck is the check that a call breaks which did not return.
func endingCheck(o *Outcome) CheckID {
	check, known := map[Ending]CheckID{
		StackExceeded: CheckBudget, OutOfFuel: CheckBudget, OutOfTime: CheckTime, Exited: CheckStays, Denied: CheckStays, OutOfMemory: CheckBudget,
		OutOfBounds: CheckBounds, OutputTooLarge: CheckOutput, BadPointer: CheckQuestions, BadQuestion: CheckQuestions, QuestionDenied: CheckQuestions,
	}[o.Ending]
	switch {
	case o.Allocating && o.Ending != StackExceeded && o.Ending != OutOfFuel && o.Ending != OutOfTime:
		return CheckAllocator
	case known:
		return check
	}
	return CheckReturns
}

// each makes cases of a kind, and has something done with the request for each role until a call is over its limits.
func (k *kit) each(what string, cases int, of kind, do func(number int, r *Request) error) error {
	for i := range cases {
		k.options.Progress(what, i, cases)
		for _, r := range newSource(k.options.Seed, i, of).requests(k.roles) {
			if err := do(i, r); err != nil || k.spent() {
				return err
			}
		}
	}
	return nil
}

// plain puts small complete cases to every role, and gives the first answers.
func (k *kit) plain() (first []told, err error) {
	err = k.each("plain cases", plainCases, plain, func(i int, r *Request) error {
		o, err := k.ask(r)
		if i == 0 {
			first = append(first, told{r, o.Response})
		}
		return err
	})
	return first, err
}

// told is a request and what the module answered.
type told struct {
	request  *Request
	response []byte
}

// random puts random cases to every role, each more than once.
func (k *kit) random() error {
	spent := uint64(0)
	for i := range k.options.Cases {
		if spent/mostCalls >= k.options.Fuel {
			k.report.Cases = i
			k.report.Note("§5.2", "calls are expensive: the random cases end after %d of %d, which cost as much as %d calls may", i, k.options.Cases, mostCalls)
			return nil
		}
		k.options.Progress("random cases", i, k.options.Cases)
		for _, r := range newSource(k.options.Seed, i, anything).requests(k.roles) {
			o, err := k.ask(r)
			if err != nil || k.spent() {
				return err
			}
			spent += 2 * o.Fuel
			if err := k.repeat(i, r, &o); err != nil {
				return err
			}
		}
	}
	return nil
}

// large puts the largest cases to every role.
func (k *kit) large() error {
	return k.each("largest cases", min(largestCases, k.options.Cases), largest, func(_ int, r *Request) error {
		_, err := k.ask(r)
		return err
	})
}

// after asks the first questions again, when all was done to the module.
func (k *kit) after(first []told) error {
	for _, t := range first {
		o, err := k.send(k.subjects.Usual, t.request.Call(), t.request.Bytes(), t.request.Knowledge)
		if err != nil {
			return err
		}
		k.report.Try(CheckAfter)
		if !o.answered() || !bytes.Equal(o.Response, t.response) {
			k.report.Fail(CheckAfter, Failure{
				Input: t.request.Name, Call: t.request.Call(), Request: t.request.Bytes(),
				Detail: "after malformed requests: " + difference(t.response, &o, "another time"),
			})
		}
	}
	return nil
}
