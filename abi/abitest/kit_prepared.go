package abitest

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Preparer is a Subject that may be prepared (§2.19).
type Preparer interface {
	Subject
	// Prepares says whether the module has the export.
	Prepares() bool
	// CallPrepared makes a call after two prepare_requests, of a profile and of a case; nil for none.
	CallPrepared(ctx context.Context, profile, view []byte, call abi.Call, request []byte, k *Knowledge) (Outcome, error)
}

// preparedCases are the random cases that are put to a module prepared, too, or Options.Cases.
const preparedCases = 40

// preparedForm is a request as it is after preparations, which are prepare_requests.
type preparedForm struct {
	what          string
	profile, view *abi.PrepareRequest
	short         *Request
}

// The digests of the preparations.
const (
	profileDigest = "kit:profile"
	viewDigest    = "kit:view"
)

// prepared puts cases to every role, whole and after preparations. The answers must be the same.
func (k *kit) prepared() error {
	s, ok := k.subjects.Usual.(Preparer)
	if !ok || !s.Prepares() {
		return nil
	}
	ask := func(_ int, r *Request) error {
		for _, f := range preparedForms(r) {
			if err := k.askPrepared(s, r, &f); err != nil || k.spent() {
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

func (k *kit) askPrepared(s Preparer, r *Request, f *preparedForm) error {
	whole, err := k.send(k.subjects.Usual, r.Call(), r.Bytes(), r.Knowledge)
	if err != nil {
		return err
	}
	k.report.Try(CheckPrepared)
	fail := func(request []byte, o *Outcome, detail string) {
		k.report.Fail(CheckPrepared, Failure{Input: r.Name + ", " + f.what, Call: r.Call(), Request: request, Detail: detail, Stderr: o.Stderr})
	}
	send := func(profile, view *abi.PrepareRequest, request []byte) (Outcome, error) {
		k.report.Calls++
		return s.CallPrepared(k.ctx, message(profile), message(view), r.Call(), request, r.Knowledge)
	}
	short := f.short.Bytes()
	o, err := send(f.profile, f.view, short)
	switch {
	case err != nil:
		return err
	case o.Ending != whole.Ending:
		fail(short, &o, fmt.Sprintf("the call ends otherwise than with the whole request: %s: %s", o.Ending, o.Detail))
	case !bytes.Equal(o.Response, whole.Response):
		fail(short, &o, "than with the whole request: "+difference(whole.Response, &o))
	}
	// A request that names what the module was not prepared with is no whole one.
	for _, wrong := range []struct {
		what          string
		profile, view *abi.PrepareRequest
	}{{"a module that was not prepared", nil, nil}, {"a module that was prepared with another digest", other(f.profile), other(f.view)}} {
		o, err := send(wrong.profile, wrong.view, short)
		if err != nil {
			return err
		}
		if a, _ := o.answer(r.Call()); o.answered() && a.failure == nil {
			fail(short, &o, wrong.what+" answers a request that leaves out what it lacks, in place of a failure")
		}
	}
	return nil
}

// message of a preparation; nil for none.
func message(r *abi.PrepareRequest) []byte {
	if r == nil {
		return nil
	}
	return codec.AppendPrepareRequest(nil, r)
}

// other is the same preparation under another digest; nil for none.
func other(r *abi.PrepareRequest) *abi.PrepareRequest {
	if r == nil {
		return nil
	}
	c := *r
	c.Digest += ":other"
	return &c
}

// preparedForms are the forms of a request after preparations: of the profile whole, of a profile that has more, of the case, and of
// both. Requests without a profile or a case have fewer.
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
	if profile != nil {
		all := &abi.ProfileParts{All: true, Outcomes: profile.Outcomes != nil}
		forms = append(forms, preparedForm{"prepared with its profile", &abi.PrepareRequest{Digest: profileDigest, Profile: profile}, nil, shortened(r, profileDigest, all, false)})
		more, parts := enlarged(profile)
		forms = append(forms, preparedForm{"prepared with a profile that has more", &abi.PrepareRequest{Digest: profileDigest, Profile: more}, nil, shortened(r, profileDigest, parts, false)})
		if r.Node != nil {
			forms = append(forms, preparedForm{"prepared with a profile and the case", &abi.PrepareRequest{Digest: profileDigest, Profile: more}, viewOf(r.Node), shortened(r, viewDigest, parts, true)})
		}
	}
	if r.Node != nil {
		forms = append(forms, preparedForm{"prepared with the case", nil, viewOf(r.Node), shortened(r, viewDigest, nil, true)})
	}
	return forms
}

// viewOf prepares a module with all of a case but the experiments.
func viewOf(r *abi.NodeRequest) *abi.PrepareRequest {
	view := r.Case
	view.Experiments = nil
	return &abi.PrepareRequest{Digest: viewDigest, Case: &view}
}

// shortened is what is left of a request after preparations.
func shortened(r *Request, digest string, parts *abi.ProfileParts, view bool) *Request {
	c := *r
	p := &abi.Prepared{Digest: digest, Profile: parts, Case: view}
	if r.Contest != nil {
		short := *r.Contest
		short.Prepared, short.Profile = p, nil
		c.Contest = &short
		return &c
	}
	short := *r.Node
	short.Prepared = p
	if parts != nil {
		short.Profile = nil
	}
	if view {
		short.Case = abi.CaseView{Experiments: r.Node.Case.Experiments}
	}
	c.Node = &short
	return &c
}

// enlarged is a profile with more signals and sources, and a model of outcomes, of which the parts are the first one.
func enlarged(p *abi.Profile) (*abi.Profile, *abi.ProfileParts) {
	more := *p
	parts := &abi.ProfileParts{Outcomes: p.Outcomes != nil}
	more.Signals, more.Sources = nil, nil
	for i, s := range p.Signals {
		more.Signals = append(more.Signals, abi.Signal{Phrase: fmt.Sprint("kit signal ", i), Weights: s.Weights}, s)
		parts.Signals = append(parts.Signals, 2*i+1)
	}
	for i := range p.Sources {
		parts.Sources = append(parts.Sources, i)
	}
	more.Sources = append(slices.Clip(p.Sources), abi.SourceReliability{Source: "kit source", Share: 1, Cap: 1})
	if p.Outcomes == nil {
		more.Outcomes = &abi.OutcomeModel{Alone: true}
	}
	return &more, parts
}
