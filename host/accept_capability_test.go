package host_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

func TestAccept_PL8_AModuleThatIsNotGrantedWhatItAsksForIsRejected(t *testing.T) {
	t.Parallel()
	def := lampPath(t, nil, straight...)
	for i := range def.Personas {
		def.Personas[i].Grants = nil
	}
	_, err := host.Open(context.Background(), host.Config{LightPath: def, Modules: lit(t), CacheDir: cacheDir})
	var rejected *host.RejectedError
	if !errors.As(err, &rejected) || len(rejected.Faults) != 3 {
		t.Fatalf("%v", err)
	}
	for _, f := range rejected.Faults {
		if f.Code != "capability_not_granted" || f.Module != "lamp" || !strings.Contains(f.Detail, "`grants: [") ||
			!strings.Contains(f.Detail, "the persona ") || !strings.Contains(f.Detail, "light.yaml:") {
			t.Errorf("%+v", f)
		}
	}
}

func TestAccept_PL8_WhatIsGrantedIsThereAndEachUseIsInTheRecord(t *testing.T) {
	t.Parallel()
	book := &library{cases: []abi.PriorCase{{CaseID: "old-7", Subject: "as it was", Classification: "quota", Status: "affirmed", Confidence: 0.9, Similarity: 1, Seen: 2, Confirmed: true}}}
	var records []host.CallRecord
	h := openLit(t, host.Config{Casebook: book, Source: book, Observe: func(r host.CallRecord) {
		if len(r.Uses) > 0 {
			records = append(records, r)
		}
	}}, map[string]string{"recall": "ask", "investigate": "source"}, straight...)
	outcome := try(t, h, unclassified())
	if len(records) != 2 || records[0].Node != "recall" || records[1].Node != "investigate" {
		t.Fatalf("%d calls asked", len(records))
	}
	recalls, sources := records[0].Uses, records[1].Uses
	want := codec.AppendPriorCases(nil, &abi.PriorCases{Cases: book.cases})
	if len(recalls) != 2 || len(sources) != 1 || sources[0].Capability != abi.CapSource {
		t.Fatalf("uses %+v, %+v", recalls, sources)
	}
	for _, use := range recalls {
		if use.Capability != abi.CapRecall || !bytes.Equal(use.Answer, want) || !bytes.Equal(use.Request, codec.AppendRecallQuery(nil, &abi.RecallQuery{Limit: 3})) {
			t.Errorf("%+v", use)
		}
	}
	if asked := []string{"recall dispute", "source any"}; !slices.Equal(book.asked, asked) {
		t.Errorf("the same question was asked twice, or of another case: %v", book.asked)
	}
	// The story has the digests.
	var uses []trial.Use
	for _, call := range outcome.Light[0].Calls {
		uses = append(uses, call.Uses...)
	}
	if len(uses) != 3 || uses[0] != uses[1] || uses[0].Answer == uses[2].Answer || !strings.HasPrefix(uses[0].Request, "sha256:") {
		t.Errorf("%+v", uses)
	}
	// What was recalled lies before the court, with the element of its node.
	if got := outcome.Light[0].Gathered; len(got) != 1 || got[0].SourceRef != "casebook:old-7" || got[0].Element != abi.Fire || got[0].Supports != "quota" {
		t.Errorf("gathered %+v", got)
	}
}

func TestAccept_PL8_AGrantIsNoGrantAtAnotherNode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		behave map[string]string
		node   string
		cause  trial.Cause
		says   string
	}{
		"another persona's": {map[string]string{"recall": "correlate"}, "recall", trial.CauseDenied, "correlate is not granted to herald"},
		"another node's":    {map[string]string{"investigate": "source"}, "investigate", trial.CauseDenied, "has no mask forge"},
		"a bad question":    {map[string]string{"correlate": "bad"}, "correlate", trial.CauseBadRequest, "limit"},
	} {
		def := lampPath(t, test.behave, straight...)
		for i := range def.Nodes {
			if name == "another node's" && def.Nodes[i].Name == "investigate" {
				def.Nodes[i].Masks = nil
			}
		}
		h := open(t, host.Config{LightPath: def, Modules: lit(t), Casebook: &library{}, Source: &library{}})
		got := try(t, h, unclassified()).Result
		if got.Final.Status != trial.Mistrial || got.Final.Cause != test.cause || got.Error == nil || got.Error.Node != test.node ||
			!strings.Contains(got.Error.Message, test.says) || got.Light != nil || got.Activated {
			t.Errorf("%s: %+v, %+v", name, got.Final, got.Error)
		}
	}
}

// Warm instances know of no case: with another casebook, the same host's answers differ.
func TestAccept_PL8_AnswersDoNotOutliveTheirCall(t *testing.T) {
	t.Parallel()
	book := &library{cases: []abi.PriorCase{{CaseID: "old-7", Classification: "quota", Status: "affirmed", Confidence: 0.9, Similarity: 1, Seen: 2, Confirmed: true}}}
	behave := map[string]string{"recall": "ask"}
	with := openLit(t, host.Config{Casebook: book}, behave, straight...)
	without := openLit(t, host.Config{}, behave, straight...)
	for range 3 {
		if got := try(t, with, unclassified()).Light[0].Artifacts[0].Artifact.Recall; !got.Match {
			t.Errorf("with a casebook: %+v", got)
		}
		if got := try(t, without, unclassified()).Light[0].Artifacts[0].Artifact.Recall; got.Match {
			t.Errorf("without: %+v", got)
		}
	}
}

// One host tries cases with several casebooks at once, with the same modules.
func TestWithCasebook(t *testing.T) {
	t.Parallel()
	book := &library{cases: []abi.PriorCase{{CaseID: "old-7", Classification: "quota", Status: "affirmed", Confidence: 0.9, Similarity: 1, Seen: 2, Confirmed: true}}}
	without := openLit(t, host.Config{}, map[string]string{"recall": "ask"}, straight...)
	with := without.WithCasebook(book)
	for range 2 {
		if got := try(t, with, unclassified()).Light[0].Artifacts[0].Artifact.Recall; !got.Match {
			t.Errorf("with a casebook: %+v", got)
		}
		if got := try(t, without, unclassified()).Light[0].Artifacts[0].Artifact.Recall; got.Match {
			t.Errorf("without: %+v", got)
		}
	}
	if err := with.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if got := try(t, without.WithCasebook(nil), unclassified()).Light[0].Artifacts[0].Artifact.Recall; got.Match {
		t.Errorf("behind the close of another: %+v", got)
	}
}
