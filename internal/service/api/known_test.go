package api_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_UI3_KnownLabelsAreADocket downloads what people corrected, and what a docket stated, as fit reads it.
func TestAccept_UI3_KnownLabelsAreADocket(t *testing.T) {
	t.Parallel()
	s := newService(t, nil)
	truth := strings.Replace(caseWith("b"), `"documents"`, `"truth":{"classification":"si001"},"documents"`, 1)
	s.submit(t, "?repository=shop", nil, caseWith("a")+truth+caseWith("c"))
	s.submit(t, "?repository=till", nil, caseWith("a"))
	for _, args := range []store.CaseArgs{{Docket: 1, Ordinal: 1}, {Docket: 1, Ordinal: 2}, {Docket: 1, Ordinal: 3}, {Docket: 2, Ordinal: 1}} {
		c, err := s.store.BeginCase(t.Context(), args)
		if err == nil {
			final := trial.Final{Status: trial.Affirmed, Classification: "pb001", Confidence: 0.5}
			err = s.store.CompleteCase(t.Context(), c, "w", &store.Outcome{Configuration: "c", Verdict: &store.NewVerdict{
				Digest: c.Digest, Trial: &trial.Trial{Case: c.Case, Result: trial.Result{ID: c.Case.ID, Final: final}},
			}})
		}
		must.Do(t, err)
	}
	for label, trial := range map[string]string{"nd001": "1-1", "ab001": "2-1"} {
		if status, text, _ := s.request(t, auth.Review, http.MethodPost, "/api/v1/corrections", nil, []byte(`{"label":"`+label+`","trials":["`+trial+`"]}`)); status != http.StatusCreated {
			t.Fatalf("%d %s", status, text)
		}
	}
	for query, want := range map[string]string{"": "2-1 ab001, 1-1 nd001, 1-2 si001", "?repository=shop": "1-1 nd001, 1-2 si001", "?since=2100-01-01T00:00:00Z": ""} {
		status, text, header := s.request(t, auth.Submit, http.MethodGet, "/api/v1/corrections/docket"+query, nil, nil)
		var got []string
		for e, err := range (&docket.Reader{}).JSONL("corrected.jsonl", bytes.NewReader(text)) {
			if len(text) == 0 { // it says that there is no case
				break
			}
			if err != nil || len(e.Case.Documents) != 1 {
				t.Fatalf("%v, %+v", err, e)
			}
			got = append(got, e.Case.ID+" "+e.Truth.Classification)
		}
		if status != http.StatusOK || strings.Join(got, ", ") != want || !strings.Contains(header.Get("Content-Disposition"), "corrected.jsonl") {
			t.Errorf("%q: %d %q, %v", query, status, got, header)
		}
	}
}
