package pipeline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

func TestLintNamesWhatIsHardlyMeant(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edits []edit
		want  []string
	}{
		"shortcut goes back":   {[]edit{{"to: _remand\n    loop: true", "to: defend\n    shortcut: true\n    loop: true"}}, []string{"edges[7].shortcut shortcut_goes_back at true"}},
		"loop goes forward":    {[]edit{{"from: hearing\n    to: verdict", "from: hearing\n    to: verdict\n    loop: true"}}, []string{"edges[4].loop loop_goes_forward at true"}},
		"loop to an end":       {[]edit{{"to: _gap_brief", "to: _gap_brief\n    loop: true"}}, []string{"edges[8].loop loop_goes_forward at true"}},
		"unmarked loop":        {[]edit{{"to: _gap_brief", "to: defend"}}, []string{"edges[8].to unmarked_loop at defend"}},
		"unmarked remand":      {[]edit{{"    loop: true\n", ""}}, []string{"edges[7].to unmarked_loop at _remand"}},
		"no zone":              {[]edit{{"nodes: [discover, defend]", "nodes: [defend]"}}, []string{"nodes[1].name node_without_zone at discover"}},
		"two zones":            {[]edit{{"nodes: [hearing, verdict]", "nodes: [hearing, verdict, defend]"}}, []string{`zones["verdict"].nodes[2] node_in_two_zones at defend`}},
		"never fires":          {[]edit{{"condition: \"verdict == acquit\"", "evaluator: always"}}, []string{"edges[11] never_fires at id:"}},
		"never fires, any":     {[]edit{{"    to: _mistrial\n    condition: \"verdict", "    to: _mistrial\n    evaluator: always\n    with: {a: 1}\n    condition: \"verdict"}}, []string{"edges[11].with with_ignored at {a:"}},
		"rounds":               {[]edit{{"family: defend", "family: defend\n    rounds: 2"}}, []string{"nodes[2].rounds rounds_ignored at 2"}},
		"unused persona":       {[]edit{{"nodes:\n  - name", "personas:\n  owl: {role: light, alignment: x}\nnodes:\n  - name"}}, []string{`personas["owl"] unused_persona at owl:`}},
		"the clerk has a side": {[]edit{{"start: indict", "clerk: abyss\nstart: indict"}}, []string{"clerk clerk_plays_persona at abyss"}},
		"an edge has a side":   {[]edit{{"name: amend", "name: amend\n    module: specter"}}, []string{"edges[6].module clerk_plays_persona at specter"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := edited(t, c.edits...)
			d, err := pipeline.Parse("p.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, faults(t, text, pipeline.Lint(d))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLintOfEnds(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text string
		want []string
	}{
		"dead end": {
			"pipeline: p\nnodes:\n  - {name: a, family: triage}\n  - {name: b, family: report}\nedges:\n  - {id: E, from: a, to: _done}\nstart: a\n",
			[]string{"nodes[1] dead_end at {name:"},
		},
		"only edges of any node end": {
			"pipeline: p\nnodes:\n  - {name: a, family: triage}\nedges:\n  - {id: E, from: _any, to: _done}\nstart: a\n",
			[]string{"edges only_any_ends at -"},
		},
		"an edge of any node always fires": {
			"pipeline: p\nnodes:\n  - {name: a, family: triage}\n  - {name: b, family: report}\n" +
				"edges:\n  - {id: A, from: a, to: b}\n  - {id: B, from: a, to: _done}\n  - {id: X, from: _any, to: b, evaluator: always}\nstart: a\n",
			[]string{"edges[0] never_fires at {id:"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := pipeline.Parse("p.yaml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, faults(t, []byte(c.text), pipeline.Lint(d))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
