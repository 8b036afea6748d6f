package api

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// aPush is a push of one trial.
func aPush(t testing.TB, change func(*trial.Trial)) []byte {
	t.Helper()
	def := must.Get(alibi.Pipeline())(t)
	graph := must.Get(pipeline.Marshal(def))(t)
	runs := sample.Answers()[1].Runs
	tried := &trial.Trial{
		Case:   abi.Case{ID: "cart.TestTotal", Group: "cart", Subject: "TestTotal fails", Labels: alibi.Labels(), Documents: []abi.Document{{Name: "log", Text: "want 3"}}},
		Passes: []trial.Pass{{Verdict: &abi.Verdict{Decision: abi.Affirm, FinalClassification: alibi.Caused, Confidence: 0.9}}},
		Result: trial.Result{
			ID: "cart.TestTotal", Activated: true, Experiments: runs, Light: &trial.Answer{Classification: alibi.Caused, Confidence: 0.9},
			Final: trial.Final{Status: trial.Affirmed, Classification: alibi.Caused, Confidence: 0.9},
		},
	}
	if change != nil {
		change(tried)
	}
	answer := alibi.Of(tried)
	line := must.Get(wire.NewPushed(tried, answer, 1))(t)
	head := &wire.Push{
		Format: wire.PushFormat, Pipeline: string(graph), Trials: 1,
		Change: &alibi.Change{Head: "9ab12cd0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70", Base: "3f2c1a9b0d1e3f2c1a9b0d1e3f2c1a9b0d1e3f2c"},
	}
	var b bytes.Buffer
	for _, l := range []any{head, line} {
		must.Do(t, wire.WritePush(&b, l))
	}
	return b.Bytes()
}

// FuzzPush: whatever is pushed is rejected, or can be shown.
func FuzzPush(f *testing.F) {
	whole := aPush(f, nil)
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Replace(whole, []byte(`"Passes":[{`), []byte(`"Personas":{"a":{}},"Light":[{"Steps":[{}]}],"Passes":[{},{`), 1))
	f.Add(bytes.Replace(whole, []byte(`"product":"head"`), []byte(`"product":"moon"`), 1))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := readPush(t.Context(), bytes.NewReader(body))
		if err != nil || len(p.problem.Errors) > 0 {
			return
		}
		must.Get(p.verify(t.Context(), nil))(t)
		for i := range p.trials {
			own := &p.trials[i]
			must.Get(render.NewParts(own.trial, nil))(t)
			if own.answer != nil {
				must.Get(render.NewAnswerParts(&render.Answered{Answer: *own.answer, Trial: own.trial}))(t)
			}
			own.trial.Answered()
			var text bytes.Buffer
			must.Do(t, render.Explain(&text, own.trial, nil, render.TerminalOptions{}))
			p.verdict(own)
		}
	})
}

// TestAccept_AL9_APushIsReadAsItWasWritten.
func TestAccept_AL9_APushIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	p, err := readPush(t.Context(), bytes.NewReader(aPush(t, nil)))
	if err != nil || len(p.problem.Errors) > 0 || len(p.trials) != 1 {
		t.Fatalf("%v, %+v", err, p)
	}
	v := p.verdict(&p.trials[0])
	if v.Alibi.Verdict != alibi.IsYours || v.Alibi.Part != alibi.Product || v.Alibi.Key != "" || len(v.Trial.Passes) != 1 || len(v.Trial.Result.Experiments) != 5 {
		t.Errorf("%+v", v.Alibi)
	}
	if e := p.entry(&p.trials[0]); e.LabelNames[alibi.Caused] != "caused by this change" {
		t.Errorf("%v", e.LabelNames)
	}
}

// TestAccept_AL9_APushThatContradictsItselfIsRejected, and so is one that two readers may read in two ways.
func TestAccept_AL9_APushThatContradictsItselfIsRejected(t *testing.T) {
	t.Parallel()
	old := func(label string) func(*trial.Trial) {
		return func(t *trial.Trial) {
			t.Result.Final.Classification, t.Result.Light.Classification = label, label
			t.Passes[0].Verdict.FinalClassification = label
			for i := range t.Result.Experiments { // too few runs to tell
				if e := &t.Result.Experiments[i]; e.Product == abi.Base && e.Tests == abi.Base {
					e.Runs, e.Passed = 2, 2
				}
			}
		}
	}
	whole := aPush(t, nil)
	for name, tc := range map[string]struct {
		body        []byte
		was, is     string
		path, wrong string
	}{
		"confidence":       {whole, `"attribution":"caused","confidence":0.9`, `"attribution":"caused","confidence":7`, "line 2: answer.confidence", "is not in [0, 1]"},
		"a key twice":      {whole, `"verdict":"yours"`, `"verdict":"not yours","verdict":"yours"`, "line 2", `the key "answer.verdict" occurs twice`},
		"a key in capital": {whole, `"verdict":"yours"`, `"Verdict":"not yours","verdict":"yours"`, "line 2", `the key "answer.verdict" occurs twice`},
		"no UTF-8":         {whole, `"persona":"light"`, "\"persona\":\"light\xff\"", "line 2", "it is no UTF-8"},
		"preexisting":      {aPush(t, old(alibi.Preexisting)), `"verdict":"open"`, `"verdict":"not yours","attribution":"preexisting"`, "line 2: answer.verdict", `by its case and runs it is "open"`},
	} {
		if !bytes.Contains(tc.body, []byte(tc.was)) {
			t.Fatalf("%s: there is no %s in %s", name, tc.was, tc.body)
		}
		p := must.Get(readPush(t.Context(), bytes.NewReader(bytes.ReplaceAll(tc.body, []byte(tc.was), []byte(tc.is)))))(t)
		if len(p.problem.Errors) == 0 || p.problem.Errors[0].Path != tc.path || !strings.Contains(p.problem.Errors[0].Message, tc.wrong) {
			t.Errorf("%s: %+v", name, p.problem.Errors)
		}
	}
	// What a court leaves open at its price is open here, too.
	body := aPush(t, old(alibi.Environment))
	body = bytes.Replace(body, []byte(`"lock":"chance"`), []byte(`"lock":"world"`), 1)
	p, err := readPush(t.Context(), bytes.NewReader(body))
	if err != nil || len(p.problem.Errors) > 0 {
		t.Fatalf("%v, %+v", err, p.problem)
	}
	if v := p.verdict(&p.trials[0]); v.Alibi.Verdict != alibi.IsOpen || v.Alibi.Label != "" || p.trials[0].answer.Lock != alibi.World {
		t.Errorf("%+v", v.Alibi)
	}
}

// TestAccept_AL9_AFinalAnswerIsThatOfTheRecordOrOfTheProof.
func TestAccept_AL9_AFinalAnswerIsThatOfTheRecordOrOfTheProof(t *testing.T) {
	t.Parallel()
	recorded := trial.Result{Final: trial.Final{Status: trial.Affirmed, Classification: alibi.Flaky, Confidence: 0.9}}
	was := must.Get(json.Marshal(recorded))(t)
	caused, flaky, none := alibi.Answer{Label: alibi.Caused, Confidence: 0.99}, alibi.Answer{Label: alibi.Flaky, Confidence: 0.9}, alibi.Answer{Confidence: 0.9}
	for i, tc := range []struct {
		is     trial.Final
		answer alibi.Answer
		want   bool
	}{
		{recorded.Final, flaky, true},
		{trial.Final{Status: trial.Amended, Classification: alibi.Caused, Confidence: 0.99}, caused, true},
		{trial.Final{Status: trial.Acquitted, Confidence: 0.9}, none, true},
		{recorded.Final, caused, false},
		{trial.Final{Status: trial.Mistrial, Classification: alibi.Flaky, Confidence: 0.9}, flaky, false},
		{trial.Final{Status: trial.Affirmed, Classification: alibi.Caused, Confidence: 0.99}, caused, false},
	} {
		if sameResult(was, &trial.Result{Final: tc.is}, &tc.answer) != tc.want {
			t.Errorf("%d: %+v, want %v", i, tc.is, tc.want)
		}
	}
}
