package anytrial

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
)

// CheckNode asks a handler through the codec, twice, and validates its
// answer as the host does.
func CheckNode(t *testing.T, play node.Handler, r *abi.NodeRequest) {
	t.Helper()
	request := codec.AppendNodeRequest(nil, r)
	first := node.Answer(play, request)
	if !bytes.Equal(first, node.Answer(play, request)) {
		t.Fatalf("two answers to one request: %+v", r)
	}
	response, err := codec.DecodeNodeResponse(first, 0)
	if err != nil {
		t.Fatalf("%v\nto %+v", err, r)
	}
	if response.Failure != nil {
		t.Fatalf("%+v\nto %+v", response.Failure, r)
	}
	var c abi.Collector
	checkArtifact(response.Artifact, r, &c)
	if err := c.Err(); err != nil {
		t.Fatalf("%v\nto %+v", err, r)
	}
}

func checkArtifact(a *abi.Artifact, r *abi.NodeRequest, c *abi.Collector) {
	self := r.Persona.Name
	switch {
	case a.Indictment != nil:
		abi.CheckIndictment(a.Indictment, r.Case.Light, r.Case.Evidence, c)
	case a.Discovery != nil:
		abi.CheckDiscovery(a.Discovery, r.Case.Labels, nil, func(document, quote string) (known, stands bool) {
			return contains(r.Case.Documents, document, quote)
		}, c)
	case a.DefenseBrief != nil:
		abi.CheckBrief(a.DefenseBrief, r.Indictment, r.Case.Labels, self, r.Contested, c)
	case a.HearingTurn != nil:
		abi.CheckTurn(a.HearingTurn, len(r.Indictment.Evidence), r.Case.Labels, self, r.Contested, func(item *abi.IndictmentItem) bool {
			return isFinding(r.Discovery, item)
		}, c)
	case a.Verdict != nil:
		abi.CheckVerdict(a.Verdict, r.Indictment, r.Case.Labels, c)
	default:
		checkLight(a, r, c)
	}
}

// CheckContest does the same for a contest.
func CheckContest(t *testing.T, h contest.Handler, r *abi.ContestRequest) {
	t.Helper()
	response, err := codec.DecodeContestResponse(contest.Answer(h, codec.AppendContestRequest(nil, r)), 0)
	if err != nil {
		t.Fatalf("%v\nto %+v", err, r)
	}
	if response.Failure != nil {
		t.Fatalf("%+v\nto %+v", response.Failure, r)
	}
	allowed := []int{}
	for i := range r.Items {
		allowed = append(allowed, r.Items[i].EvidenceIndex)
	}
	var c abi.Collector
	abi.CheckChallenges("challenges", response.Challenges, 1<<20, allowed, r.Persona.Name, nil, &c)
	if err := c.Err(); err != nil {
		t.Fatalf("%v\nto %+v", err, r)
	}
}

func contains(documents []abi.Document, name, quote string) (known, stands bool) {
	for i := range documents {
		if documents[i].Name == name {
			return true, strings.Contains(documents[i].Text, quote)
		}
	}
	return false, false
}

func isFinding(d *abi.Discovery, item *abi.IndictmentItem) bool {
	if d == nil {
		return false
	}
	for i := range d.Findings {
		if d.Findings[i].Document == item.SourceRef && d.Findings[i].Quote == item.Content {
			return true
		}
	}
	return false
}
