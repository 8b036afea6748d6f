package wire_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// example is a trial that stands for two cases.
func example() *trial.Trial {
	c := abi.Case{ID: "a", Subject: "TestA fails", Labels: []string{"pb001", "nd001"}, Documents: []abi.Document{{Name: "log", Text: "FAIL\n"}}}
	member := c
	member.ID = "b"
	t := &trial.Trial{
		Result:     trial.Result{ID: "a", Final: trial.Final{Status: trial.Accepted, Classification: "pb001", Confidence: 0.1 + 0.2}, Path: []string{}},
		Case:       c,
		Truth:      &trial.Truth{Classification: "pb001"},
		LabelNames: map[string]string{"pb001": "product bug"},
	}
	t.Stand([]abi.Case{member})
	return t
}

func lineOf(t testing.TB, form wire.Form) []byte {
	t.Helper()
	l := wire.Line{Docket: 7, Ordinal: 1, Case: "a"}
	must.Do(t, l.Put(example(), form))
	text := must.Get(json.Marshal(&l))(t) //nolint:musttag // the truth bears the names of Go, as in journals
	return text
}

// outputs are what people and programs see of a trial.
func outputs(t testing.TB, of *trial.Trial, table bool) string {
	t.Helper()
	var b bytes.Buffer
	list := []render.Writer{render.NewJSONL(&b)}
	if table {
		list = append(list, render.NewTable(&b, render.TerminalOptions{}))
	}
	out := render.NewOutput(nil, list...)
	must.Do(t, out.Write(of))
	must.Do(t, out.Close())
	return b.String()
}

// A line gives the outputs of the trial that was put into it.
func TestALineGivesTheOutputsOfItsTrial(t *testing.T) {
	t.Parallel()
	for _, form := range []wire.Form{wire.Results, wire.Summary, wire.Whole} {
		l := must.Get(wire.Parse(lineOf(t, form)))(t, form)
		got := must.Get(l.Trial())(t, form)
		check.Equal(t, outputs(t, got, form != wire.Results), outputs(t, example(), form != wire.Results), form)
		if whole := form == wire.Whole; whole != (len(got.Case.Documents) == 1) || whole != (len(got.Members) == 1) {
			t.Errorf("%s: %d documents, %d members", form, len(got.Case.Documents), len(got.Members))
		}
	}
}

// Whatever a server sends is rejected, or can be shown in every form.
func FuzzParse(f *testing.F) {
	for _, form := range []wire.Form{wire.Results, wire.Summary, wire.Whole} {
		f.Add(lineOf(f, form))
	}
	f.Add([]byte(`{"docket":1,"ordinal":1,"result":{"id":"a","final":{"status":"mistrial"},"light":null,"gap_brief":{},"error":{}},"story":{"Result":{},"Passes":[{}],"Light":[{}],"Beside":{"Result":{}}}}`))
	f.Add([]byte(`{"docket":1,"ordinal":1,"result":{"id":"a","final":{"status":"x"},"experiments":[{}],"proposed_experiment":{},"completions":[{}],"statements":[{}],"audit":{}}}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		l, err := wire.Parse(text)
		if err != nil {
			return
		}
		of, err := l.Trial()
		if err != nil || of == nil {
			return
		}
		out := render.NewOutput(nil, render.NewJSONL(io.Discard), render.NewJSON(io.Discard), render.NewTable(io.Discard, render.TerminalOptions{Width: 80}),
			render.NewCases(io.Discard), render.NewHTML(io.Discard), render.NewMarkdown(io.Discard))
		if err := out.Write(of); err == nil {
			_ = out.Close()
		}
	})
}
