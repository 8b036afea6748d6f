package abitest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest/prepare"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// fake is a module that says that it cannot answer, but for what a test changes about it.
type fake struct {
	calls  int
	change func(call int, request []byte, o *Outcome)
}

func (f *fake) Call(_ context.Context, call abi.Call, request []byte, _ *Knowledge) (Outcome, error) {
	o := Outcome{Fuel: 100}
	failure := &abi.Failure{Code: "never"}
	switch call {
	case abi.CallNode:
		o.Response = codec.AppendNodeResponse(nil, &abi.NodeResponse{Failure: failure})
	case abi.CallContest:
		o.Response = codec.AppendContestResponse(nil, &abi.ContestResponse{Failure: failure})
	case abi.CallEdges:
		o.Response = codec.AppendEdgeResponse(nil, &abi.EdgeResponse{Failure: failure})
	case abi.CallJudge:
		o.Response = codec.AppendJudgeResponse(nil, &abi.JudgeResponse{Failure: failure})
	}
	f.calls++
	if f.change != nil {
		f.change(f.calls, request, &o)
	}
	return o, nil
}

func runFake(t *testing.T, s Subjects, roles *Roles) *Report {
	t.Helper()
	report := NewReport(roles)
	must.Do(t, RunModule(t.Context(), s, roles, Options{Cases: 60}, report))
	return report
}

func subjects() Subjects { return Subjects{&fake{}, &fake{}, &fake{}} }

func failedChecks(r *Report) string {
	var ids []string
	for _, c := range r.Failed() {
		ids = append(ids, string(c.ID)+" "+c.Clause)
	}
	return strings.Join(ids, ", ")
}

func TestEveryCheckOfCallsIsTried(t *testing.T) {
	t.Parallel()
	report := runFake(t, subjects(), everyRole())
	if len(report.Failed()) > 0 {
		t.Errorf("a module that only gives failures: %s", failedChecks(report))
	}
	loading := []string{"Loading", "Manifest"}
	for _, c := range report.Checks {
		if !slices.Contains(loading, c.Group) && c.Status != Passed && c.ID != CheckAny && c.ID != CheckUnknown {
			t.Errorf("%s is %s", c.ID, c.Status)
		}
	}
	if n := len(ServedFamilies()) + 3; len(report.Notes) != n { // that it never answers
		t.Errorf("%d notes, want %d: %v", len(report.Notes), n, report.Notes)
	}
}

// What a sandbox that works never shows is shown here by a subject that does.
func TestAccept_PL10_WhatNoModuleCanDoInThisSandboxIsFoundToo(t *testing.T) {
	t.Parallel()
	roles := &Roles{Families: []abi.Family{abi.FamilyVerdict}}
	other := codec.AppendNodeResponse(nil, &abi.NodeResponse{Failure: &abi.Failure{Code: "other"}})
	otherwise := func(_ int, _ []byte, o *Outcome) { o.Response = other }
	costly := func(_ int, _ []byte, o *Outcome) { o.Fuel++ }
	broken := false
	text := "x"
	whole := newSource(0, 1, plain).requests(roles)[0].addParam(abi.Param{Name: unknownParam, Text: &text}).Bytes()
	for name, test := range map[string]struct {
		change func(*Subjects)
		want   string
	}{
		"other bytes the second time": {func(s *Subjects) {
			s.Usual = &fake{change: func(call int, _ []byte, o *Outcome) {
				if call == plainCases+2 {
					o.Response = other
				}
			}}
		}, "same_bytes §2.14"},
		"other bytes in another instance": {func(s *Subjects) { s.Fresh = &fake{change: otherwise} }, "same_bytes §2.14"},
		"other fuel in another instance":  {func(s *Subjects) { s.Fresh = &fake{change: costly} }, "same_fuel §5.2"},
		"other bytes when it is not warm": {func(s *Subjects) { s.Cold = &fake{change: otherwise} }, "remembers_nothing §2.6"},
		"more fuel when it is not warm":   {func(s *Subjects) { s.Cold = &fake{change: costly} }, ""},
		"the clock":                       {func(s *Subjects) { s.Usual = &fake{change: func(_ int, _ []byte, o *Outcome) { o.Ending = OutOfTime }} }, "wall_clock §5.1"},
		"outside, for a request cut off": {func(s *Subjects) {
			s.Usual = &fake{change: func(_ int, request []byte, o *Outcome) {
				if n := len(request); n > 20 && n < len(whole) && bytes.HasPrefix(whole, request) {
					o.Ending = OutOfBounds
				}
			}}
		}, "malformed §3.14"},
		"not usable after a malformed one": {func(s *Subjects) {
			s.Usual = &fake{change: func(_ int, request []byte, o *Outcome) {
				if broken = broken || len(request) == 0; broken && len(request) > 0 && request[0] > 0x85 {
					o.Response = other
				}
			}}
		}, "usable_after §2.5"},
	} {
		s := subjects()
		test.change(&s)
		report := runFake(t, s, roles)
		check.Equal(t, failedChecks(report), test.want, name)
	}
}

func TestAFailureOfTheHostEndsTheKit(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	roles := everyRole()
	s := subjects()
	s.Usual = &fake{change: func(call int, _ []byte, _ *Outcome) {
		if call == 200 {
			cancel()
		}
	}}
	check.Is(t, RunModule(ctx, s, roles, Options{}, NewReport(roles)), context.Canceled)
}

func TestRolesAreReadAndWritten(t *testing.T) {
	t.Parallel()
	names := []string{"indict", "verdict", "contest", "edge:HD1", "criterion:clear"}
	roles, err := ParseRoles(names)
	if err != nil || !slices.Equal(roles.Names(), names) {
		t.Errorf("%v, %v", roles.Names(), err)
	}
	again := RolesOf(roles.Manifest())
	if !slices.Equal(again.Names(), names) {
		t.Errorf("its manifest promises %v", again.Names())
	}
	_, err = ParseRoles([]string{"indict", "persona", "edge:", "synthesize"})
	if err == nil || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("%v", err)
	}
}

// The judge of the answers is as strict as §9.2, and no stricter.
func TestOpinionsAreHeldAgainstTheRequest(t *testing.T) {
	t.Parallel()
	request := &Request{Name: "judge", docs: quotes.Of(nil), Judge: &abi.JudgeRequest{
		Judge: "j", Criteria: []abi.Criterion{{CriterionID: "a"}, {CriterionID: "b"}}, Evidence: []abi.Evidence{{SourceRef: "here"}},
	}}
	good := []abi.CriterionOpinion{{Judge: "j", CriterionID: "a", NumericScore: 3, CitedEvidence: []string{"here"}}, {Judge: "j", CriterionID: "b", NumericScore: 1}}
	for name, test := range map[string]struct {
		change func([]abi.CriterionOpinion) []abi.CriterionOpinion
		path   string
	}{
		"good":          {func(l []abi.CriterionOpinion) []abi.CriterionOpinion { return l }, ""},
		"one too few":   {func(l []abi.CriterionOpinion) []abi.CriterionOpinion { return l[:1] }, "opinions: "},
		"another order": {func(l []abi.CriterionOpinion) []abi.CriterionOpinion { slices.Reverse(l); return l }, "opinions[0].criterion_id: "},
		"another judge": {func(l []abi.CriterionOpinion) []abi.CriterionOpinion { l[1].Judge = "k"; return l }, "opinions[1].judge: "},
		"cites nothing there": {func(l []abi.CriterionOpinion) []abi.CriterionOpinion {
			l[1].CitedEvidence = []string{"here", "there"}
			return l
		}, "opinions[1].cited_evidence[1]: "},
	} {
		response := codec.AppendJudgeResponse(nil, &abi.JudgeResponse{Opinions: test.change(slices.Clone(good))})
		_, f := request.judge(&Outcome{Response: response})
		if (f == nil) != (test.path == "") || f != nil && (f.check != CheckJudge || !strings.HasPrefix(f.detail, test.path)) {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A module that spends nearly all that a call may is not waited for till night.
func TestDearModulesGetFewerCases(t *testing.T) {
	t.Parallel()
	roles := everyRole()
	s := subjects()
	s.Usual = &fake{change: func(_ int, _ []byte, o *Outcome) { o.Fuel = abi.DefaultFuel - 1 }}
	report := runFake(t, s, &Roles{Families: roles.Families[:1]})
	if report.Cases != 51 || !slices.ContainsFunc(report.Notes, func(n Note) bool { return strings.Contains(n.Text, "after 51 of 60") }) {
		t.Errorf("%d cases, %v", report.Cases, report.Notes)
	}
}

// A module that hangs at what is malformed is not asked till night.
func TestModulesThatHangAreAskedLittle(t *testing.T) {
	t.Parallel()
	hung := 0
	s := subjects()
	s.Usual = &fake{change: func(_ int, request []byte, o *Outcome) {
		if _, err := codec.DecodeNodeRequest(request, len(request)); err != nil {
			hung++
			*o = Outcome{Ending: OutOfFuel}
		}
	}}
	report := runFake(t, s, &Roles{Families: []abi.Family{abi.FamilyVerdict}})
	if hung != mostHung || failedChecks(report) != "malformed §3.14" {
		t.Errorf("asked %d times, want %d; %s", hung, mostHung, failedChecks(report))
	}
}

// Who cuts a label after some number of bytes, whatever number, is found.
func TestWhoCutsCharactersIsFound(t *testing.T) {
	t.Parallel()
	for _, most := range []int{20, 40, 64, 80, 200} {
		s := subjects()
		s.Usual = &fake{change: func(_ int, request []byte, o *Outcome) {
			r, err := codec.DecodeNodeRequest(request, len(request))
			if err != nil || r.Indictment == nil {
				return
			}
			label := r.Indictment.ChargedDefectType
			o.Response = codec.AppendNodeResponse(nil, &abi.NodeResponse{
				Artifact: &abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Acquit, Reasoning: label[:min(most, len(label))]}},
			})
		}}
		report := NewReport(&Roles{})
		roles := &Roles{Families: []abi.Family{abi.FamilyVerdict}}
		must.Do(t, RunModule(t.Context(), s, roles, Options{Cases: 200}, report))
		if !report.broken(CheckEncoding) {
			t.Errorf("cut after %d bytes: %s", most, failedChecks(report))
		}
	}
}

// forgetful may be prepared, and has its answer tell everything of the completed request. forget changes that.
type forgetful struct {
	fake
	forget func(own abi.CaseView, r *abi.NodeRequest)
}

func (f *forgetful) Call(ctx context.Context, call abi.Call, request []byte, k *Knowledge) (Outcome, error) {
	return f.CallPrepared(ctx, nil, nil, call, request, k)
}

func (f *forgetful) CallPrepared(ctx context.Context, profile, view []byte, call abi.Call, request []byte, k *Knowledge) (Outcome, error) {
	r, err := codec.DecodeNodeRequest(request, len(request))
	if call != abi.CallNode || err != nil {
		return f.fake.Call(ctx, call, request, k)
	}
	var state prepare.State
	for _, p := range [][]byte{profile, view} {
		if p != nil {
			state.Answer(p)
		}
	}
	own, prepared := r.Case, r.Prepared != nil && r.Prepared.Case
	failure := state.Node(&r)
	if prepared && failure == nil {
		f.forget(own, &r)
	}
	if failure == nil {
		r.Node = "any"
		seen := sha256.Sum256(codec.AppendNodeRequest(nil, &r))
		failure = &abi.Failure{Code: "seen", Message: hex.EncodeToString(seen[:])}
	}
	return Outcome{Fuel: 100, Response: codec.AppendNodeResponse(nil, &abi.NodeResponse{Failure: failure})}, nil
}

// TestAccept_PR4_WhoForgetsAPartOfTheCaseIsFound: what a request still has of its case belongs to it as much as what was prepared.
func TestAccept_PR4_WhoForgetsAPartOfTheCaseIsFound(t *testing.T) {
	t.Parallel()
	tier.Long(t, "abi")
	roles := &Roles{Families: ServedFamilies(), Prepares: true}
	for name, forget := range map[string]func(own abi.CaseView, r *abi.NodeRequest){
		"": func(abi.CaseView, *abi.NodeRequest) {},
		"subject": func(own abi.CaseView, r *abi.NodeRequest) {
			r.Case.Subject = strings.TrimPrefix(r.Case.Subject, own.Subject)
		},
		"labels":      func(own abi.CaseView, r *abi.NodeRequest) { r.Case.Labels = r.Case.Labels[len(own.Labels):] },
		"evidence":    func(own abi.CaseView, r *abi.NodeRequest) { r.Case.Evidence = r.Case.Evidence[len(own.Evidence):] },
		"documents":   func(own abi.CaseView, r *abi.NodeRequest) { r.Case.Documents = r.Case.Documents[len(own.Documents):] },
		"experiments": func(_ abi.CaseView, r *abi.NodeRequest) { r.Case.Experiments = nil },
		"light": func(own abi.CaseView, r *abi.NodeRequest) {
			if own.Light != nil {
				r.Case.Light = nil
			}
		},
	} {
		s := &forgetful{forget: forget}
		report := NewReport(roles)
		must.Do(t, RunModule(t.Context(), Subjects{s, s, s}, roles, Options{Cases: 3}, report))
		found := slices.ContainsFunc(report.Failed(), func(r Result) bool { return r.ID == CheckPrepared })
		if found != (name != "") {
			t.Errorf("who forgets %q: %s", name, failedChecks(report))
		}
	}
}

// TestAccept_PR4_PreparationsThatHangAreAskedLittle: each takes seconds.
func TestAccept_PR4_PreparationsThatHangAreAskedLittle(t *testing.T) {
	t.Parallel()
	s := &hanging{}
	roles := &Roles{Families: ServedFamilies(), Prepares: true}
	report := NewReport(roles)
	must.Do(t, RunModule(t.Context(), Subjects{s, s, s}, roles, Options{Cases: 3}, report))
	if s.times != mostHung || !report.broken(CheckPrepared) {
		t.Errorf("prepared %d times, want %d: %s", s.times, mostHung, failedChecks(report))
	}
}

// hanging spends all fuel when it is prepared.
type hanging struct {
	fake
	times int
}

func (h *hanging) CallPrepared(ctx context.Context, profile, view []byte, call abi.Call, request []byte, k *Knowledge) (Outcome, error) {
	if profile == nil && view == nil {
		return h.Call(ctx, call, request, k)
	}
	h.times++
	return Outcome{Ending: OutOfFuel, Preparing: true}, nil
}

// everyRole is what no one module has.
func everyRole() *Roles {
	return &Roles{Families: ServedFamilies(), Contest: true, Edges: []string{"HD1", "HD2", "HD10"}, Criteria: []string{"clear", "safe"}}
}

// What the kit sends as a request is one: valid, canonical, the same every time, and its indexes point at what is there.
func TestCasesAreRequestsThatAHostMakes(t *testing.T) {
	t.Parallel()
	k := &kit{roles: everyRole()}
	for _, cases := range []struct {
		kind kind
		n    int
	}{{plain, plainCases}, {anything, 300}, {largest, 2}} {
		for i := range cases.n {
			list := newSource(7, i, cases.kind).requests(k.roles)
			again := newSource(7, i, cases.kind).requests(k.roles)
			must.Equal(t, len(list), len(ServedFamilies())+3, "requests")
			for j, r := range list {
				message := r.Bytes()
				if !bytes.Equal(message, again[j].Bytes()) {
					t.Errorf("%s is another one the second time", r.Name)
				}
				typ, _ := codec.Lookup(typeName(r.Call(), "request"))
				canonical, err := typ.Canonical(message, 0)
				if err != nil || !bytes.Equal(canonical, message) {
					t.Errorf("%s: %v", r.Name, err)
				}
				if r.Node != nil && r.Node.File == nil && !inItems(r.Node) {
					t.Errorf("%s has indexes that point at nothing", r.Name)
				}
				prior, source := codec.AppendPriorCases(nil, &r.Knowledge.Prior), codec.AppendSourceAnswer(nil, &r.Knowledge.Source)
				_, priorErr := codec.DecodePriorCases(prior, len(prior))
				_, sourceErr := codec.DecodeSourceAnswer(source, len(source))
				if priorErr != nil || sourceErr != nil {
					t.Errorf("%s: what the host knows: %v, %v", r.Name, priorErr, sourceErr)
				}
				if len(message) > abi.DefaultInputBytes {
					t.Errorf("%s has %d bytes", r.Name, len(message))
				}
			}
		}
	}
}
