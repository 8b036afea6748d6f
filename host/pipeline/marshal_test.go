package pipeline_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// sameMeaning compares field by field, so that a field that Marshal forgets is seen; cmp would use the method Equal of pointers.
func sameMeaning(a, b *pipeline.Definition) string {
	return cmp.Diff(*a, *b, cmpopts.IgnoreUnexported(pipeline.Definition{}), cmpopts.EquateEmpty())
}

func roundTrip(d *pipeline.Definition) error {
	written, err := pipeline.Marshal(d)
	if err != nil {
		return err
	}
	again, err := pipeline.Parse("again.yaml", written)
	if err != nil {
		return fmt.Errorf("what was written is rejected: %w\n%s", err, written)
	}
	if diff := sameMeaning(d, again); diff != "" {
		return fmt.Errorf("the meaning changed (-before +after):\n%s\n%s", diff, written)
	}
	twice, err := pipeline.Marshal(again)
	if err != nil {
		return err
	}
	if !bytes.Equal(written, twice) || !d.Equal(again) {
		return errors.New("written twice, the bytes differ")
	}
	return nil
}

func TestYAMLKeepsTheMeaning(t *testing.T) {
	t.Parallel()
	ours := must.Get(pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt))(t)
	must.Do(t, roundTrip(ours))
	for _, file := range []string{seedFile, "testdata/busy.yaml", "testdata/hostile.yaml"} {
		d := must.Get(pipeline.Load(file))(t)
		must.Do(t, roundTrip(d), file)
	}
}

func TestYAMLKeepsTheMeaningOfAnyDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := randomDefinition(t)
		if err := d.Validate(); err != nil {
			t.Fatalf("the generator makes faults: %v", err)
		}
		if err := roundTrip(d); err != nil {
			t.Fatal(err)
		}
		_ = pipeline.Lint(d)
		g, err := pipeline.NewGraph(d)
		if err != nil {
			t.Fatal(err)
		}
		pipeline.Mermaid(g, nil)
	})
}

// word gives texts that YAML could take for something else, and arbitrary ones.
func word() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"true", "null", "~", "1", "1e3", ".nan", "0x1f", "2001-01-01", "a: b", "- a", "#c", "'", "\"", "x ", " x", "a\nb",
			"\n", "\r", "\t", "\u0085", "\u2028", "\ufeff", "*a", "&a", "!t", "<<", "yes", "=", "{", "\x1b", "\\", "é", "𝄞",
		}),
		rapid.StringN(1, 12, 40),
	)
}

func randomDefinition(t *rapid.T) *pipeline.Definition {
	optional := rapid.OneOf(rapid.Just(""), word())
	text := func() string { return optional.Draw(t, "text") }
	named := func(s string) bool { return pipeline.BadModule(s) == "" }
	modules := optional.Filter(named)
	module := func() string { return modules.Draw(t, "module") }
	element := func() abi.Element {
		return rapid.SampledFrom(append(pipeline.Elements(), "")).Draw(t, "element")
	}
	d := &pipeline.Definition{
		Pipeline: word().Draw(t, "pipeline"), Description: text(), Clerk: module(), Done: rapid.SampledFrom(pipeline.Ends()).Draw(t, "done"),
		Court: pipeline.Court{
			Enabled: rapid.Bool().Draw(t, "enabled"), TTL: time.Duration(rapid.Int64Min(1).Draw(t, "ttl")),
			MaxHandoffs: rapid.IntRange(1, 99).Draw(t, "handoffs"), MaxRemands: rapid.IntRange(0, 9).Draw(t, "remands"),
			ActivationThreshold: rapid.Float64Range(0.5, 1).Draw(t, "activation"),
			RejectionThreshold:  rapid.Float64Range(0, 0.5).Draw(t, "rejection"), MaxRounds: rapid.IntRange(1, 9).Draw(t, "rounds"),
		},
	}
	// A persona without a module has the one of its ID.
	for _, id := range rapid.SliceOfNDistinct(word().Filter(named), 0, 3, rapid.ID).Draw(t, "personas") {
		p := pipeline.Persona{
			ID: id, Name: text(), Colour: text(), Element: element(), Role: rapid.SampledFrom(pipeline.Roles()).Draw(t, "role"),
			Alignment: word().Draw(t, "alignment"), Contests: element(), Module: module(),
			Grants: rapid.SliceOfDistinct(rapid.SampledFrom(pipeline.Capabilities()), rapid.ID).Draw(t, "grants"),
			Prompt: text(),
		}
		if slices.Contains(p.Grants, abi.CapComplete) {
			p.Models = rapid.SliceOfNDistinct(word(), 1, 3, rapid.ID).Draw(t, "models")
		}
		if p.Module != "" && rapid.Bool().Draw(t, "fallback") {
			p.Fallback = p.Module + " again"
		}
		d.Personas = append(d.Personas, p)
	}
	for _, id := range rapid.SliceOfNDistinct(word(), 0, 3, rapid.ID).Draw(t, "labels") {
		l := pipeline.Label{ID: id, Name: text()}
		if rapid.Bool().Draw(t, "proof") {
			l.Proof = pipeline.Proof{Evidence: word().Draw(t, "evidence"), Action: word().Draw(t, "action")}
		}
		d.Labels = append(d.Labels, l)
	}
	for _, e := range rapid.SliceOfDistinct(rapid.SampledFrom(pipeline.Elements()), rapid.ID).Draw(t, "elements") {
		d.Kinds = append(d.Kinds, pipeline.Kind{Element: e, Proof: pipeline.Proof{Evidence: word().Draw(t, "evidence"), Action: word().Draw(t, "action")}})
	}
	names := rapid.SliceOfNDistinct(word().Filter(func(s string) bool { return s[0] != '_' }), 1, 5, rapid.ID).Draw(t, "nodes")
	families := []abi.Family{abi.FamilyHearing, abi.FamilyVerdict, abi.FamilyIndict, abi.FamilyJudge, abi.FamilyRecall}
	for _, name := range names {
		n := pipeline.Node{
			Name: name, Element: element(), Family: rapid.SampledFrom(families).Draw(t, "family"), Rounds: rapid.IntRange(0, 3).Draw(t, "rounds"),
		}
		if rapid.Bool().Draw(t, "masked") {
			n.Masks = rapid.SliceOfDistinct(rapid.SampledFrom(pipeline.Masks()), rapid.ID).Draw(t, "masks")
		}
		if n.Family == abi.FamilyJudge {
			for i := range d.Personas {
				n.Personas = append(n.Personas, d.Personas[i].ID)
			}
			n.Parallel = len(n.Personas) > 0 && rapid.Bool().Draw(t, "parallel")
		}
		n.With = params(t)
		d.Nodes = append(d.Nodes, n)
	}
	d.Start = names[0]
	if rapid.Bool().Draw(t, "zoned") {
		d.Zones = []pipeline.Zone{{Name: word().Draw(t, "zone"), Nodes: names, Element: element(), Stickiness: rapid.IntRange(0, 9).Draw(t, "sticky")}}
	}
	for _, id := range rapid.SliceOfNDistinct(word(), 1, 6, rapid.ID).Draw(t, "edges") {
		e := pipeline.Edge{
			ID: id, Name: text(), From: rapid.SampledFrom(append(names, pipeline.Any)).Draw(t, "from"),
			To:   rapid.SampledFrom(append(pipeline.Ends(), names...)).Draw(t, "to"),
			Loop: rapid.Bool().Draw(t, "loop"), Shortcut: rapid.Bool().Draw(t, "shortcut"),
			Condition: text(), Evaluator: text(), Module: module(),
		}
		e.With = params(t)
		d.Edges = append(d.Edges, e)
	}
	d.Edges = append(d.Edges, pipeline.Edge{ID: "the way out", From: names[len(names)-1], To: pipeline.EndDone})
	d.Complete()
	return d
}

func params(t *rapid.T) []pipeline.Param {
	var with []pipeline.Param
	for _, name := range rapid.SliceOfNDistinct(word(), 0, 3, rapid.ID).Draw(t, "with") {
		with = append(with, rapid.SampledFrom([]pipeline.Param{
			pipeline.Number(name, rapid.Float64Range(-1e300, 1e300).Draw(t, "number")),
			pipeline.Number(name, 3), pipeline.Number(name, math.Copysign(0, -1)),
			pipeline.Text(name, word().Draw(t, "text")), pipeline.Text(name, ""),
			{Name: name, Kind: pipeline.ParamFlag, Flag: true},
			{Name: name, Kind: pipeline.ParamFlag},
		}).Draw(t, "param"))
	}
	return with
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range files {
		f.Add(must.Get(os.ReadFile(file))(f))
	}
	f.Add([]byte("pipeline: p\nnodes:\n  - {name: a, family: judge, parallel: [herald]}\nedges:\n  - {id: E, from: _any, to: _done, with: {a: 1, b: x, c: true}}\nstart: a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := pipeline.Parse("fuzz.yaml", data)
		if err != nil {
			var all pipeline.Errors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		must.Do(t, roundTrip(d))
		_ = pipeline.Lint(d)
		g := must.Get(pipeline.NewGraph(d))(t)
		pipeline.Mermaid(g, []pipeline.Move{{From: d.Start, Edge: "E", To: "_done"}})
	})
}
