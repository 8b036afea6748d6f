package execlight

import (
	"encoding/json"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// Whatever a program writes, its line is read as JSON has it or rejected with a reason.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{"id":"1","classification":"product","confidence":0.7,"reasoning":"it is"}`,
		`{"classification":"a","confidence":1e400,"reasoning":"\ud800"}`,
		`{"classification":"a","confidence":1,"reasoning":"","evidence":[{"source_ref":"log","content":"x","relevance_confidence":0.5,"element":"fire"}]}`,
		`{"classification":"a","confidence":0,"reasoning":"","remand":{"answers":[{"question_id":"q","status":"found","evidence":[]}],"challenged":[{"evidence_index":0,"status":"stands"}]}}`,
		`{"classification":"a","confidence":0,"reasoning":"","remand":{"answers":[],"challenged":[{"evidence_index":-1,"status":"stands"}]}} {}`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, line []byte, remanded bool) {
		req := &host.LightRequest{Case: &abi.Case{ID: "1"}}
		if remanded {
			req.Feedback = &abi.RemandFeedback{}
		}
		answer, err := decode(line, req)
		if err != nil {
			if err.Error() == "" {
				t.Error("rejected without a reason")
			}
			return
		}
		var standard struct {
			ID             string  `json:"id"`
			Classification string  `json:"classification"`
			Confidence     float64 `json:"confidence"`
		}
		if err := json.Unmarshal(line, &standard); err != nil {
			t.Fatalf("read, and the standard library says: %v", err)
		}
		a := answer.Answer
		if a.Classification == "" || a.Classification != standard.Classification || a.Confidence != standard.Confidence || !(a.Confidence >= 0 && a.Confidence <= 1) {
			t.Errorf("%+v is read of %q", a, line)
		}
		if (standard.ID != "" && standard.ID != "1") || (answer.Remand != nil && !remanded) {
			t.Errorf("taken for the answer to another request: %q", line)
		}
	})
}
