package court

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// preparedBytes is how long the documents of a case must be for the host to prepare a module with them when it asks about them again. Less
// is decoded in the time that the preparation takes.
const preparedBytes = 64 << 10

// preparer are modules that can be prepared (SPEC.md §2.19). A *registry.Generation is one.
type preparer interface {
	Prepares(module string) bool
	CallPrepared(ctx context.Context, module string, after sandbox.Prepared, call abi.Call, request []byte) (sandbox.Output, error)
}

// preparation of a module, after another one that may be nil. Its digest is that of both.
func preparation(r *abi.PrepareRequest, after *sandbox.Preparation) *sandbox.Preparation {
	h := sha256.New()
	if after != nil {
		_, _ = h.Write([]byte(after.Digest)) // a hash has no errors
	}
	_, _ = h.Write(codec.AppendPrepareRequest(nil, r))
	r.Digest = sandbox.Digest(h.Sum(nil)).String()
	return &sandbox.Preparation{Digest: r.Digest, Request: codec.AppendPrepareRequest(nil, r)}
}

// documents are those that a module got in a call, and what it has been prepared with since, after a profile.
type documents struct {
	seen               []abi.Document
	prepared, profiled *sandbox.Preparation // nil for none
	billed             bool                 // the trial paid for it
}

// has notes a profile for requests.
func (s *session) has(p *parted) *abi.Profile {
	if p.profile != nil && s.profileOf(p.profile) == nil {
		s.profiles = append(s.profiles, p)
	}
	return p.profile
}

// hasInstead notes a profile in place of one that no request has any more: a profile may be large, and a trial may replace it a hundred times.
func (s *session) hasInstead(of *abi.Profile, p *parted) *abi.Profile {
	if old := s.profileOf(of); old != nil {
		s.profiles = slices.DeleteFunc(s.profiles, func(known *parted) bool { return known == old || known.profile == old.plain })
	}
	return s.has(p)
}

func (s *session) profileOf(p *abi.Profile) *parted {
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
	if known == nil || p.Outcomes == nil {
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

// enter calls the module in the state after preparations. The trial pays once for what was prepared for it alone; what was prepared for the
// generation is a part of loading the module, which nobody pays for by trials.
func (s *session) enter(ctx context.Context, module string, call abi.Call, request []byte, after sandbox.Prepared) (sandbox.Output, error) {
	if after == (sandbox.Prepared{}) {
		return s.modules.Call(ctx, module, call, request)
	}
	output, err := s.modules.(preparer).CallPrepared(ctx, module, after, call, request) //nolint:forcetypeassert // it is prepared
	if d := s.documents[module]; err == nil && after.Case != nil && !d.billed {
		d.billed = true
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
	if known == nil || s.profiled == nil {
		return after
	}
	*prepared, *profile = &abi.Prepared{Digest: s.profiled.Digest, Profile: &known.parts}, nil
	return sandbox.Prepared{Generation: s.profiled}
}

// shortenContest gives what is left of a contest request, and what its module is to be prepared with.
func (s *session) shortenContest(module string, req *abi.ContestRequest) (*abi.ContestRequest, sandbox.Prepared) {
	if !s.canPrepare(module) {
		return req, sandbox.Prepared{}
	}
	short := *req
	after := s.shortenProfile(&short.Profile, &short.Prepared)
	if short.Prepared == nil {
		return req, after
	}
	return &short, after
}

// shortenNode gives what is left of a node request, and what its module is to be prepared with.
func (s *session) shortenNode(module string, req *abi.NodeRequest) (*abi.NodeRequest, sandbox.Prepared) {
	if !s.canPrepare(module) {
		return req, sandbox.Prepared{}
	}
	short := *req
	after := s.shortenProfile(&short.Profile, &short.Prepared)
	if after.Case = s.prepareDocuments(module, req.Case.Documents, after.Generation); after.Case != nil {
		if short.Prepared == nil {
			short.Prepared = new(abi.Prepared)
		}
		short.Prepared.Digest, short.Prepared.Case, short.Case.Documents = after.Case.Digest, true, nil
	}
	if short.Prepared == nil {
		return req, after
	}
	return &short, after
}

// prepareDocuments prepares a module with documents that it gets again, if they are long; nil for no preparation. No other part of a case
// is as long, and they change with nothing that happens in a trial.
func (s *session) prepareDocuments(module string, list []abi.Document, profiled *sandbox.Preparation) *sandbox.Preparation {
	d := s.documents[module]
	if d == nil || len(d.seen) != len(list) || len(list) > 0 && &d.seen[0] != &list[0] { // which are never changed in place
		if s.documents == nil {
			s.documents = make(map[string]*documents)
		}
		s.documents[module] = &documents{seen: list}
		return nil
	}
	if d.prepared != nil && d.profiled == profiled {
		return d.prepared
	}
	length := 0
	for i := range list {
		length += len(list[i].Text)
	}
	if length < preparedBytes {
		return nil
	}
	d.prepared, d.profiled, d.billed = preparation(&abi.PrepareRequest{Case: &abi.CaseView{Documents: list}}, profiled), profiled, false
	return d.prepared
}
