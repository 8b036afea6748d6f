package render_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

func TestCasesAreReadAsTheyWereTried(t *testing.T) {
	t.Parallel()
	whole := docket.Entry{
		Case: abi.Case{
			ID: "a <b>", Group: "g", Subject: "s", Labels: []string{"red", "blue"},
			Light:     &abi.LightAnswer{Classification: "red", Confidence: 0.7, Reasoning: "why"},
			Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: "c\n\t\"", RelevanceConfidence: 0.25, Supports: "blue", Element: abi.Water}, {SourceRef: "x", Content: "d"}},
			Documents: []abi.Document{{Name: "log", Text: "\x1b[31m\u2028 & <\n"}},
		},
		Truth: &trial.Truth{Classification: "blue", ExpectedVerdict: abi.Amend},
	}
	bare := docket.Entry{Case: abi.Case{ID: "b", Labels: []string{"red", "blue"}, Evidence: []abi.Evidence{}, Documents: []abi.Document{}}}
	var b bytes.Buffer
	write(t, render.NewCases(&b), &trial.Trial{Case: whole.Case, Truth: whole.Truth}, &trial.Trial{Case: bare.Case})
	var got []docket.Entry
	for entry, err := range new(docket.Reader).JSONL("cases", &b) {
		if err != nil {
			t.Fatal(err)
		}
		entry.Source, entry.Line = "", 0
		got = append(got, entry)
	}
	if diff := cmp.Diff([]docket.Entry{whole, bare}, got); diff != "" {
		t.Error(diff)
	}
}
