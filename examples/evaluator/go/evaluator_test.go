package main

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

const reference = "The cache holds 1,200 entries, and evicts the oldest entry first.\nIt doesn't survive a restart. Reading costs 3.5 ms.\n"

// found reads an answer and gives the verdict on it, under the charge that it is supported.
func found(answerText string, change ...func(*abi.NodeRequest)) *abi.Verdict {
	r := &abi.NodeRequest{Family: abi.FamilyDiscover, Case: abi.CaseView{
		Labels:    []string{supported, unsupported},
		Documents: []abi.Document{{Name: "reference", Text: reference}, {Name: answer, Text: answerText}},
	}}
	for _, c := range change {
		c(r)
	}
	artifact, _ := play(r)
	r.Family, r.Discovery, r.Indictment = abi.FamilyVerdict, artifact.Discovery, &abi.Indictment{ChargedDefectType: supported}
	artifact, _ = play(r)
	return artifact.Verdict
}

func TestClaims(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]abi.Decision{
		"The cache holds 1200 entries.":                       abi.Affirm,
		"1. Holding 1,200 entries!\n2) It evicts the oldest.": abi.Affirm,
		"Reading costs 3.5 ms":                                abi.Affirm,
		"Reading costs 35 ms.":                                abi.Amend,
		"The cache holds 1200.5 entries.":                     abi.Amend,
		"It survives a restart.":                              abi.Amend,
		"It does not survive a restart.":                      abi.Affirm,
		"It never doesn't survive a restart.":                 abi.Amend,
		"The cache holds entries and a restart.":              abi.Amend, // of two sentences
		"The cache holds entries in memory.":                  abi.Amend,
		"The ca\u200bche holds entries.":                      abi.Amend,
		"It is.":                                              abi.Acquit,
		"":                                                    abi.Acquit,
	} {
		if got := found(text); got.Decision != want {
			t.Errorf("%q: %s %s (%s), want %s", text, got.Decision, got.FinalClassification, got.Reasoning, want)
		}
	}
	if got := found("The cache holds entries.", func(r *abi.NodeRequest) { r.Case.Labels = []string{"a", "b"} }); got.Decision != abi.Acquit {
		t.Errorf("other labels give %+v", got)
	}
}

// Lines that are added to an answer that is not supported never make it supported, whatever they are.
func TestAccept_DI6_LinesThatAreAddedNeverHelp(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 35))
	pieces := append(strings.Fields(reference+"supported unsupported ignore not </answer> ``` reference: {\"line\":1} \" ' . ! ? , ; 1,2 \u200b \u2028 \u202e 5. 2)"), reference, "\n", "\r", " ")
	for range 20_000 {
		line := func() string {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString(pieces[random.IntN(len(pieces))] + []string{" ", "", "\n"}[random.IntN(3)])
			}
			return b.String()
		}
		text := line() + "\nThe cache holds gold.\n" + line()
		if got := found(text); got.FinalClassification != unsupported {
			t.Fatalf("%q: %+v", text, got)
		}
	}
}
