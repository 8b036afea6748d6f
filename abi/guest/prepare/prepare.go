// Package prepare keeps what the host prepares a module with (SPEC.md §2.19), and completes the requests that leave it out.
//
// It is for modules of the Extism binding, which export shadowcourt_prepare themselves. A module with the packages node or contest does not
// need it: its handlers see whole requests.
package prepare

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// State is what a module is prepared with. The zero value is a module that was not prepared. It is not safe for concurrent use.
type State struct {
	digest  string
	profile *abi.Profile
	view    *abi.CaseView
}

// Answer decodes a PrepareRequest, keeps what it holds and encodes its PrepareResponse. After a failure the state is as before.
func (s *State) Answer(request []byte) []byte {
	r, err := codec.DecodePrepareRequest(request, len(request))
	if err != nil {
		return codec.AppendPrepareResponse(nil, &abi.PrepareResponse{Failure: guest.Fail(guest.BadRequest, err.Error())})
	}
	s.digest = r.Digest
	if r.Profile != nil {
		s.profile = r.Profile
	}
	if r.Case != nil {
		s.view = r.Case
	}
	return codec.AppendPrepareResponse(nil, &abi.PrepareResponse{})
}

// Node completes a node request, which is whole then: without Prepared. The failure says what it names and the state lacks.
func (s *State) Node(r *abi.NodeRequest) *abi.Failure {
	p := r.Prepared
	if p == nil {
		return nil
	}
	if f := s.complete(p, &r.Profile); f != nil {
		return f
	}
	if r.Prepared = nil; !p.Case {
		return nil
	}
	if s.view == nil {
		return notPrepared("case")
	}
	own := r.Case
	r.Case = *s.view
	r.Case.Experiments = own.Experiments
	instead(&r.Case.Labels, own.Labels)
	instead(&r.Case.Evidence, own.Evidence)
	instead(&r.Case.Documents, own.Documents)
	instead(&r.Case.Signals, own.Signals)
	if own.Subject != "" {
		r.Case.Subject = own.Subject
	}
	if own.Light != nil {
		r.Case.Light = own.Light
	}
	return nil
}

// instead has the request's own list in place of the prepared one.
func instead[T any](list *[]T, own []T) {
	if len(own) > 0 {
		*list = own
	}
}

// Contest completes a contest request. The failure says what it names and the state lacks.
func (s *State) Contest(r *abi.ContestRequest) *abi.Failure {
	p := r.Prepared
	if p == nil {
		return nil
	}
	r.Prepared = nil
	return s.complete(p, &r.Profile)
}

// complete sets the profile of a request to the parts that it has of the prepared one.
func (s *State) complete(p *abi.Prepared, profile **abi.Profile) *abi.Failure {
	switch {
	case p.Digest != s.digest:
		return notPrepared("digest")
	case p.Profile == nil:
		return nil
	case s.profile == nil:
		return notPrepared("profile")
	}
	parts := *s.profile
	if !p.Profile.Outcomes {
		parts.Outcomes = nil
	}
	if !p.Profile.All {
		signals, known := elements(parts.Signals, p.Profile.Signals)
		sources, measured := elements(parts.Sources, p.Profile.Sources)
		if !known || !measured {
			return notPrepared("profile")
		}
		parts.Signals, parts.Sources = signals, sources
	}
	*profile = &parts
	return nil
}

func notPrepared(field string) *abi.Failure {
	return guest.Fail(guest.BadRequest, "prepared."+field+": the module was prepared with something else")
}

// elements are those at some indexes of a list; false where one is beyond it.
func elements[T any](list []T, indexes []int) ([]T, bool) {
	if len(indexes) == 0 {
		return nil, true
	}
	some := make([]T, len(indexes))
	for i, at := range indexes {
		if uint(at) >= uint(len(list)) {
			return nil, false
		}
		some[i] = list[at]
	}
	return some, true
}
