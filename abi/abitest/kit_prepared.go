package abitest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Preparer is a Subject that the host prepares (§2.19).
type Preparer interface {
	Subject
	// CallPrepared makes a call after two prepare_requests, of a profile and of a case; nil for none.
	CallPrepared(ctx context.Context, profile, view []byte, call abi.Call, request []byte, k *Knowledge) (Outcome, error)
}

// preparedCases are the random cases that are put to a module prepared, too, or Options.Cases.
const preparedCases = 40

// preparedForm is a request as it is after preparations.
type preparedForm struct {
	what          string
	profile, view *abi.PrepareRequest // nil for none
	short         *Request
}

// prepared puts cases to every role, whole and after preparations. The answers must be the same.
func (k *kit) prepared() error {
	if !k.roles.Prepares {
		return nil
	}
	if k.report.result(CheckPrepared) == nil {
		k.report.Note("§2.19", "it exports `shadowcourt_prepare`, which no host calls: it serves neither nodes nor contests")
		return nil
	}
	s, ok := k.subjects.Usual.(Preparer)
	if !ok {
		k.report.Checks = slices.DeleteFunc(k.report.Checks, func(c Result) bool { return c.ID == CheckPrepared })
		k.report.Note("§2.19", "it exports `shadowcourt_prepare`, which no host calls: it changes its tables, which can't be saved")
		return nil
	}
	ask := func(number int, r *Request) error {
		for _, f := range preparedForms(r) {
			if k.hungPrepared >= mostHung {
				k.report.Note("§2.19", "%d preparations took all of the fuel or the time: no more were made", k.hungPrepared)
				return nil
			}
			err := k.askPrepared(s, r, &f)
			if err == nil && number == 0 && k.hungPrepared == 0 {
				err = k.askUnprepared(s, r, &f)
			}
			if err != nil || k.spent() {
				return err
			}
		}
		return nil
	}
	if err := k.each("prepared cases", plainCases, plain, ask); err != nil || k.spent() {
		return err
	}
	return k.each("prepared cases at random", min(preparedCases, k.options.Cases), anything, ask)
}

// askPrepared compares the answer after preparations with that to the whole request.
func (k *kit) askPrepared(s Preparer, r *Request, f *preparedForm) error {
	whole, err := k.send(s, r.Call(), r.Bytes(), r.Knowledge)
	if err != nil {
		return err
	}
	o, err := k.sendPrepared(s, f.profile, f.view, f.short)
	if err != nil {
		return err
	}
	k.report.Try(CheckPrepared)
	if o.Ending == whole.Ending && bytes.Equal(o.Response, whole.Response) {
		return nil
	}
	var detail string
	switch a, _ := o.answer(r.Call()); {
	case o.Preparing:
		detail = abi.ExportPrepare + ": " + o.ended()
	case o.Ending != whole.Ending:
		detail = "the call ends as " + o.ended() + "; with the whole request it does not"
	case a.failure != nil:
		detail = "answers with the failure " + a.failure.Code + ": " + a.failure.Message + "; to the whole request it answers otherwise"
	default:
		detail = "answers otherwise than to the whole request: " + difference(whole.Response, &o, "to that")
	}
	k.failPrepared(r, f, &o, detail)
	return nil
}

// askUnprepared puts the request to the module in states in which it lacks what the request leaves out.
func (k *kit) askUnprepared(s Preparer, r *Request, f *preparedForm) error {
	for _, state := range []struct {
		what          string
		profile, view *abi.PrepareRequest
	}{{"that was not prepared", nil, nil}, {"that was prepared with another digest", other(f.profile), other(f.view)}} {
		o, err := k.sendPrepared(s, state.profile, state.view, f.short)
		if err != nil {
			return err
		}
		k.report.Try(CheckPrepared)
		if a, _ := o.answer(r.Call()); o.answered() && a.failure == nil {
			k.failPrepared(r, f, &o, "a module "+state.what+" answers a request that leaves out what it lacks; it must answer with a failure")
		}
	}
	return nil
}

func (k *kit) sendPrepared(s Preparer, profile, view *abi.PrepareRequest, short *Request) (Outcome, error) {
	if err := k.ctx.Err(); err != nil {
		return Outcome{}, err
	}
	k.report.Calls++
	return s.CallPrepared(k.ctx, message(profile), message(view), short.Call(), short.Bytes(), short.Knowledge)
}

func (k *kit) failPrepared(r *Request, f *preparedForm, o *Outcome, detail string) {
	if o.Ending == OutOfFuel || o.Ending == OutOfTime {
		k.hungPrepared++
	}
	k.report.Fail(CheckPrepared, Failure{Input: r.Name + ", " + f.what, Call: r.Call(), Request: f.short.Bytes(), Detail: detail, Stderr: o.Stderr})
}

// message of a preparation; nil for none.
func message(r *abi.PrepareRequest) []byte {
	if r == nil {
		return nil
	}
	return codec.AppendPrepareRequest(nil, r)
}

// named gives a preparation after another one its digest, of the form that hosts give: by it no module can tell who prepares it.
func named(r abi.PrepareRequest, after string) *abi.PrepareRequest {
	sum := sha256.Sum256(codec.AppendPrepareRequest([]byte(after), &r))
	r.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return &r
}

// other is the same preparation under another digest; nil for none.
func other(r *abi.PrepareRequest) *abi.PrepareRequest {
	if r == nil {
		return nil
	}
	return named(*r, r.Digest)
}

// preparedForms are the forms of a request after preparations with its profile, with a profile that has more, and with parts of its case.
// What is not prepared is in the request.
func preparedForms(r *Request) []preparedForm {
	var profile *abi.Profile
	switch {
	case r.Node != nil:
		profile = r.Node.Profile
	case r.Contest != nil:
		profile = r.Contest.Profile
	default:
		return nil
	}
	var forms []preparedForm
	// take moves parts of a case from a request into what is prepared.
	add := func(what string, profile *abi.Profile, parts *abi.ProfileParts, take ...func(left, view *abi.CaseView)) {
		f, short, p := preparedForm{what: "prepared with " + what}, *r, &abi.Prepared{Profile: parts, Case: len(take) > 0}
		if profile != nil {
			f.profile = named(abi.PrepareRequest{Profile: profile}, "")
			p.Digest = f.profile.Digest
		}
		if r.Contest != nil {
			contest := *r.Contest
			contest.Prepared, contest.Profile, short.Contest = p, nil, &contest
		} else {
			node := *r.Node
			if profile != nil {
				node.Profile = nil
			}
			if len(take) > 0 {
				view := &abi.CaseView{}
				for _, some := range take {
					some(&node.Case, view)
				}
				f.view = named(abi.PrepareRequest{Case: view}, p.Digest)
				p.Digest = f.view.Digest
			}
			node.Prepared, short.Node = p, &node
		}
		f.short = &short
		forms = append(forms, f)
	}
	var more *abi.Profile
	var parts *abi.ProfileParts
	if profile != nil {
		add("its profile", profile, &abi.ProfileParts{All: true, Outcomes: profile.Outcomes != nil})
		more, parts = enlarged(profile)
		add("a profile that has more", more, parts)
	}
	if r.Node != nil {
		documents := func(left, view *abi.CaseView) { view.Documents, left.Documents = left.Documents, nil }
		evidence := func(left, view *abi.CaseView) {
			view.Subject, view.Labels, view.Light, view.Evidence, view.Signals = left.Subject, left.Labels, left.Light, left.Evidence, left.Signals
			left.Subject, left.Labels, left.Light, left.Evidence, left.Signals = "", nil, nil, nil, nil
		}
		add("the documents", more, parts, documents)
		add("the documents alone", nil, nil, documents)
		add("labels and evidence", more, parts, evidence)
		add("the case alone", nil, nil, documents, evidence)
	}
	return forms
}

// enlarged is a profile with more signals and sources, and a model of outcomes, of which the parts are the first one.
func enlarged(p *abi.Profile) (*abi.Profile, *abi.ProfileParts) {
	more := *p
	parts := &abi.ProfileParts{Outcomes: p.Outcomes != nil}
	more.Signals, more.Sources = nil, nil
	for i, s := range p.Signals {
		more.Signals = append(more.Signals, abi.Signal{Phrase: s.Phrase + s.Phrase, Weights: s.Weights}, s)
		parts.Signals = append(parts.Signals, 2*i+1)
	}
	for i := range p.Sources {
		parts.Sources = append(parts.Sources, i)
	}
	more.Sources = append(slices.Clip(p.Sources), abi.SourceReliability{Source: "ci", Share: 1, Cap: 1})
	if p.Outcomes == nil {
		more.Outcomes = &abi.OutcomeModel{Alone: true}
	}
	return &more, parts
}

// heard is how the answers of a role follow what models said.
type heard struct{ compared, differing int }

// completions offers models to every role, and has what it asks come to everything that it can come to: answers of several kinds, answers
// after a repair or of some samples only, and each reason for which there is none.
func (k *kit) completions() error {
	roles := map[abi.Family]heard{}
	err := k.each("completions", plainCases, plain, func(i int, r *Request) error {
		if r.Node == nil || r.Node.Family == abi.FamilyCollect {
			return nil
		}
		h := roles[r.Node.Family]
		err := k.everyOutcome(i, r.offered(i), &h)
		roles[r.Node.Family] = h
		return err
	})
	if err != nil || k.spent() {
		return err
	}
	for _, family := range k.roles.Families {
		if h := roles[family]; h.compared > 0 && h.differing == 0 {
			k.report.Note("§2.12", "%s: it asks a model, and answers alike whatever the model says (%d answers)", family, h.compared+1)
		}
	}
	return nil
}

// everyOutcome asks a module, and again after everything that its completion can come to.
func (k *kit) everyOutcome(number int, r *Request, h *heard) error {
	o, err := k.ask(r)
	for ; err == nil && o.ok && o.answer.node != nil && o.answer.node.Experiment != nil; o, err = k.ask(r) {
		r = r.ran(o.answer.node.Experiment)
	}
	if err != nil || !o.ok || o.answer.node == nil || o.answer.node.Completion == nil {
		return err
	}
	asked := o.answer.node.Completion
	var before []byte // what came of another answer
	for _, result := range everyResult(number, asked) {
		next := r.heard(&result)
		o, err := k.ask(next)
		if err != nil || k.spent() {
			return err
		}
		if err := k.repeat(number, next, &o); err != nil {
			return err
		}
		if len(result.Answers) == 0 || o.answer.node == nil {
			continue
		}
		if c := o.answer.node.Completion; c != nil {
			if !k.again && reflect.DeepEqual(asked, c) {
				k.again = true
				k.report.Note("§2.12", "it asks the same question again after the answer (%s), which costs as much again: each call has to look at `completions`", next.Name)
			}
			continue
		}
		if before != nil {
			h.compared++
			if !bytes.Equal(before, o.Response) {
				h.differing++
			}
		}
		before = o.Response
	}
	return nil
}

// afterAnswer gives a request, and behind it the one that a host makes when the module asked a model and has its answer.
func (k *kit) afterAnswer(r *Request) ([]*Request, error) {
	list := []*Request{r}
	if r.Node == nil || len(r.Node.Models) == 0 {
		return list, nil
	}
	_, a, ok, err := k.tell(r)
	if err != nil || !ok || a.node == nil || a.node.Completion == nil {
		return list, err
	}
	result := everyResult(0, a.node.Completion)[0]
	return append(list, r.heard(&result)), nil
}
