package docket_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

func TestALightLineIsReadAsStrictlyAsACase(t *testing.T) {
	t.Parallel()
	const answer = `"classification":"red","confidence":0.5,"reasoning":""`
	got, err := docket.ParseLightLine([]byte(`{"id":"a",` + answer + `,"evidence":[{"source_ref":"s","content":"c","relevance_confidence":1,"element":"fire"}],` +
		`"remand":{"answers":[{"question_id":"q","status":"found","evidence":[]}],"challenged":[{"evidence_index":2,"status":"stands"}]}}` + "\n"))
	if err != nil || got.ID != "a" || got.Answer.Confidence != 0.5 || len(got.Evidence) != 1 || got.Evidence[0].Element != abi.Fire ||
		got.Remand.Answers[0].Status != abi.Found || got.Remand.Challenged[0].EvidenceIndex != 2 {
		t.Errorf("%+v (%v)", got, err)
	}
	for line, want := range map[string]string{
		`red`: "is not valid JSON at column 1: invalid character 'r' at start of value",
		`{"classification":"red","Confidence":2,"sure":true}`:        "Confidence: is no field of an answer\nsure: is no field of an answer\nconfidence: is missing\nreasoning: is missing",
		`{` + answer + `,"confidence":1}`:                            "confidence: occurs twice",
		`{` + answer + `,"evidence":null}`:                           "evidence: is null, expected a list: leave out what is not there",
		`{` + answer + `,"evidence":[{"source_ref":"","weight":1}]}`: "evidence[0].source_ref: is empty\nevidence[0].weight: is no field of evidence\nevidence[0].content: is missing\nevidence[0].relevance_confidence: is missing",
		`{` + answer + `} {}`:                                        "something follows the answer at column 58: an answer is one object",
		`{"classification":"","confidence":1e999,"reasoning":3}`:     "classification: is empty\nconfidence: 1e999 is outside [0, 1]\nreasoning: is a number, expected a string",
		`{` + answer + `,"remand":{"answers":[{"question_id":"q","status":"maybe","evidence":[]}],"challenged":[{"evidence_index":-1,"status":"Stands"}]}}`: "remand.answers[0].status: \"maybe\" is no status (found, not_found, withdrawn)\n" +
			"remand.challenged[0].evidence_index: -1 is no index: a whole number from 0\nremand.challenged[0].status: \"Stands\" is no status (stands, withdrawn)",
	} {
		if _, err := docket.ParseLightLine([]byte(line)); err == nil || err.Error() != want {
			t.Errorf("%s\ngot  %v\nwant %s", line, err, want)
		}
	}
}
