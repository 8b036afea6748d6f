package court

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// preparer are modules that can be prepared (SPEC.md §2.19). A *registry.Generation is one.
type preparer interface {
	Prepares(module string) bool
	CallPrepared(ctx context.Context, module string, after *sandbox.Preparation, call abi.Call, request []byte) (sandbox.Output, error)
}

// preparation gives a module the whole profile.
func preparation(p *abi.Profile) *sandbox.Preparation {
	r := abi.PrepareRequest{Profile: p}
	r.Digest = sandbox.Digest(sha256.Sum256(codec.AppendPrepareRequest(nil, &r))).String()
	return &sandbox.Preparation{Digest: r.Digest, Requests: [][]byte{codec.AppendPrepareRequest(nil, &r)}}
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
// preparation together. Where these are more, the whole one is made, to be rejected or not as if nothing had been prepared.
func (s *session) fits(short int, after *sandbox.Preparation) bool {
	return s.runtime == nil || int64(short+len(after.Requests[0])) <= s.runtime.engine.Limits().InputBytes
}

// wantsWhole says whether somebody is told whole requests.
func (s *session) wantsWhole() bool { return s.recorder != nil || s.services.Observe != nil }

// enter calls the module in the state after a preparation, which is a part of loading the module: nobody pays for it by trials.
func (s *session) enter(ctx context.Context, module string, call abi.Call, request []byte, after *sandbox.Preparation) (sandbox.Output, error) {
	if after == nil {
		return s.modules.Call(ctx, module, call, request)
	}
	return s.modules.(preparer).CallPrepared(ctx, module, after, call, request) //nolint:forcetypeassert // it is prepared
}

// parts are what of the prepared profile a module gets instead of a profile; nil where it gets that as it is.
func (s *session) parts(module string, profile *abi.Profile) *abi.Prepared {
	known := s.profileOf(profile)
	if known == nil || s.profiled == nil {
		return nil
	}
	if p, ok := s.modules.(preparer); !ok || !p.Prepares(module) {
		return nil
	}
	return &abi.Prepared{Digest: s.profiled.Digest, Profile: &known.parts}
}

// shortenContest gives what is left of a contest request to a prepared module.
func (s *session) shortenContest(module string, req *abi.ContestRequest) *abi.ContestRequest {
	prepared := s.parts(module, req.Profile)
	if prepared == nil {
		return req
	}
	short := *req
	short.Prepared, short.Profile = prepared, nil
	return &short
}

// shortenNode gives what is left of a node request to a prepared module.
func (s *session) shortenNode(module string, req *abi.NodeRequest) *abi.NodeRequest {
	prepared := s.parts(module, req.Profile)
	if prepared == nil {
		return req
	}
	short := *req
	short.Prepared, short.Profile = prepared, nil
	return &short
}
