package court

import (
	"context"
	"crypto/sha256"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// preparedBytes is how much of a case two requests must have in common for the host to prepare it. Less is decoded in the time that
// the preparation takes: a module is seldom asked about the same view more than three times in a trial.
const preparedBytes = 64 << 10

// preparation of a module, on another one that may be nil. Its digest is that of both.
func preparation(r *abi.PrepareRequest, on *sandbox.Preparation) *sandbox.Preparation {
	h := sha256.New()
	if on != nil {
		_, _ = h.Write(on.Digest[:]) // a hash has no errors
	}
	r.Digest = "-"
	_, _ = h.Write(codec.AppendPrepareRequest(nil, r))
	p := &sandbox.Preparation{Digest: sandbox.Digest(h.Sum(nil))}
	r.Digest = p.Digest.String()
	p.Request = codec.AppendPrepareRequest(nil, r)
	return p
}

// sessionProfile is a profile that requests of a session have.
type sessionProfile struct {
	parted
	plain *abi.Profile // without outcomes, once somebody asked for it
}

// view is what a module saw of the case in a call, and what it has been prepared with since: a part of that, after the preparation on.
type view struct {
	seen, prepared  abi.CaseView
	preparation, on *sandbox.Preparation // nil for none
	billed          bool                 // the trial paid for it
}

// has notes a profile for requests.
func (s *session) has(p parted) *abi.Profile {
	if p.profile != nil && s.profileOf(p.profile) == nil {
		s.profiles = append(s.profiles, &sessionProfile{parted: p})
	}
	return p.profile
}

func (s *session) profileOf(p *abi.Profile) *sessionProfile {
	for _, known := range s.profiles {
		if known.profile == p {
			return known
		}
	}
	return nil
}

// withoutOutcomes is a profile without what it knows of experiments. In a call in which none is offered and none was run before they change
// no answer, and are most of what a module would decode.
func (s *session) withoutOutcomes(p *abi.Profile) *abi.Profile {
	known := s.profileOf(p)
	if known == nil {
		return p
	}
	if known.plain == nil {
		known.plain = s.has(known.withoutOutcomes())
	}
	return known.plain
}

// fits says whether the whole request that was shortened is within the limit of requests: it is no longer than what is left of it and the
// preparations together. Where these are more, the whole one is made, to be rejected or not as if nothing had been prepared.
func (s *session) fits(short int, after sandbox.Prepared) bool {
	for _, p := range []*sandbox.Preparation{after.Generation, after.Case} {
		if p != nil {
			short += len(p.Request)
		}
	}
	return s.runtime == nil || int64(short) <= s.runtime.engine.Limits().InputBytes
}

// wantsWhole says whether somebody is told whole requests.
func (s *session) wantsWhole() bool { return s.recorder != nil || s.services.Observe != nil }

// enter calls the module, in what it was prepared with. The trial pays once for what was prepared for it alone; what was prepared for the
// generation is a part of loading the module, which nobody pays for by trials.
func (s *session) enter(ctx context.Context, module string, call abi.Call, request []byte, after sandbox.Prepared) (sandbox.Output, error) {
	if after.Generation == nil && after.Case == nil {
		return s.modules.Call(ctx, module, call, request)
	}
	output, err := s.modules.(preparer).CallPrepared(ctx, module, after, call, request) //nolint:forcetypeassert // it is prepared
	if v := s.views[module]; err == nil && after.Case != nil && !v.billed {
		v.billed = true
		*output.Fuel += output.Preparing
	}
	return output, err
}

// canPrepare says whether a module gets shortened requests.
func (s *session) canPrepare(module string) bool {
	if !s.prepares {
		return false
	}
	p, ok := s.modules.(preparer)
	return ok && p.Prepares(module)
}

// shortenProfile has a request refer to the prepared profile.
func (s *session) shortenProfile(profile **abi.Profile, prepared **abi.Prepared) (after sandbox.Prepared) {
	known := s.profileOf(*profile)
	if known == nil || s.generation == nil {
		return after
	}
	*prepared, *profile = &abi.Prepared{Digest: s.generation.Digest.String(), Profile: &known.parts}, nil
	return sandbox.Prepared{Generation: s.generation}
}

// shortenContest gives what is left of a contest request, and what its module is to be prepared with.
func (s *session) shortenContest(module string, req *abi.ContestRequest) (*abi.ContestRequest, sandbox.Prepared) {
	if !s.canPrepare(module) {
		return req, sandbox.Prepared{}
	}
	short := *req
	after := s.shortenProfile(&short.Profile, &short.Prepared)
	if after.Generation == nil {
		return req, after
	}
	return &short, after
}

// shortenNode gives what is left of a node request, and what its module is to be prepared with. A module is prepared with what it sees
// again of a case, if that is much.
func (s *session) shortenNode(module string, req *abi.NodeRequest) (*abi.NodeRequest, sandbox.Prepared) {
	if !s.canPrepare(module) {
		return req, sandbox.Prepared{}
	}
	short := *req
	after := s.shortenProfile(&short.Profile, &short.Prepared)
	if v := s.viewOf(module, &req.Case, after.Generation); v != nil {
		if after.Case = v.preparation; short.Prepared == nil {
			short.Prepared = new(abi.Prepared)
		}
		short.Prepared.Digest, short.Prepared.Case = after.Case.Digest.String(), true
		short.Case = besides(&req.Case, &v.prepared)
	}
	if short.Prepared == nil {
		return req, after
	}
	return &short, after
}

// viewOf gives what the module is prepared with of a case, where this view of it has all of that; nil for nothing.
func (s *session) viewOf(module string, seen *abi.CaseView, on *sandbox.Preparation) *view {
	v := s.views[module]
	if v == nil {
		s.views[module] = &view{seen: *seen}
		return nil
	}
	if v.preparation != nil && v.on == on && bytesOf(v.prepared) == bytesOf(common(&v.prepared, seen)) {
		return v
	}
	both := common(&v.seen, seen)
	*v = view{seen: *seen}
	if bytesOf(both) < preparedBytes {
		return nil
	}
	v.prepared, v.on, v.preparation = both, on, preparation(&abi.PrepareRequest{Case: &both}, on)
	return v
}

// common are the fields that are the same in two views: the same lists in memory, which nobody changes in place.
func common(a, b *abi.CaseView) (both abi.CaseView) {
	if a.Subject == b.Subject {
		both.Subject = a.Subject
	}
	if a.Light != nil && b.Light != nil && *a.Light == *b.Light {
		both.Light = a.Light
	}
	both.Labels, both.Evidence = sameList(a.Labels, b.Labels), sameList(a.Evidence, b.Evidence)
	both.Documents, both.Signals = sameList(a.Documents, b.Documents), sameList(a.Signals, b.Signals)
	return both
}

func sameList[T any](a, b []T) []T {
	if len(a) != len(b) || len(a) == 0 || &a[0] != &b[0] {
		return nil
	}
	return a
}

// besides are the fields of a view that are not prepared.
func besides(v, prepared *abi.CaseView) abi.CaseView {
	left := *v
	if prepared.Subject != "" {
		left.Subject = ""
	}
	if prepared.Light != nil {
		left.Light = nil
	}
	if len(prepared.Labels) > 0 {
		left.Labels = nil
	}
	if len(prepared.Evidence) > 0 {
		left.Evidence = nil
	}
	if len(prepared.Documents) > 0 {
		left.Documents = nil
	}
	if len(prepared.Signals) > 0 {
		left.Signals = nil
	}
	return left
}

// bytesOf is about how long the message of a view is.
func bytesOf(v abi.CaseView) int {
	n := len(v.Subject) + len(v.Signals)
	if v.Light != nil {
		n += len(v.Light.Classification) + len(v.Light.Reasoning) + 32
	}
	for _, l := range v.Labels {
		n += len(l) + 1
	}
	for i := range v.Evidence {
		n += len(v.Evidence[i].SourceRef) + len(v.Evidence[i].Content) + 64
	}
	for i := range v.Documents {
		n += len(v.Documents[i].Name) + len(v.Documents[i].Text) + 16
	}
	return n
}
