package pipeline_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// edit is one change of the seed's text.
type edit struct{ old, new string }

// Each case changes the seed and names every fault that follows, in order.
func TestFaultsAreNamedWithTheirPlace(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edits []edit
		want  []string
	}{
		"unknown key":          {[]edit{{"start: indict", "begin: x\nstart: indict"}}, []string{"begin unknown_key at begin:"}},
		"unknown key, nested":  {[]edit{{"    shortcut: true\n    condition: \"pros", "    shortcut: true\n    when: x\n    condition: \"pros"}}, []string{"edges[0].when unknown_key at when:"}},
		"duplicate key":        {[]edit{{"start: indict", "start: indict\nstart: defend"}}, []string{"start duplicate_key at start:"}},
		"wrong type: flag":     {[]edit{{"loop: true", `loop: "true"`}}, []string{`edges[7].loop wrong_type at "true"`}},
		"wrong type: integer":  {[]edit{{"stickiness: 2", "stickiness: 2.0"}}, []string{`zones["discovery"].stickiness wrong_type at 2.0`}},
		"wrong type: text":     {[]edit{{"name: remand", "name: 7"}}, []string{"edges[7].name wrong_type at 7"}},
		"wrong type: nothing":  {[]edit{{"name: remand", "name:"}}, []string{"edges[7].name wrong_type at "}},
		"wrong type: list":     {[]edit{{"nodes: [indict]", "nodes: indict"}}, []string{`zones["prosecution"].nodes wrong_type at indict`}},
		"too large a number":   {[]edit{{"stickiness: 2", "stickiness: 99999999999999999999"}}, []string{`zones["discovery"].stickiness wrong_type at 99999999999999999999`}},
		"negative stickiness":  {[]edit{{"stickiness: 2", "stickiness: -1"}}, []string{`zones["discovery"].stickiness out_of_range at -1`}},
		"edge to nowhere":      {[]edit{{"to: hearing\n    condition: \"defense has alt", "to: hearin\n    condition: \"defense has alt"}}, []string{"edges[3].to unknown_node at hearin"}},
		"edge from nowhere":    {[]edit{{"from: hearing", "from: haring"}}, []string{"edges[4].from unknown_node at haring"}},
		"edge without target":  {[]edit{{"    to: hearing\n    condition: \"defense has alt", "    condition: \"defense has alt"}}, []string{"edges[3].to missing at id:"}},
		"unknown end":          {[]edit{{"to: _gap_brief", "to: _gap"}}, []string{"edges[8].to unknown_end at _gap"}},
		"any as a target":      {[]edit{{"to: _gap_brief", "to: _any"}}, []string{"edges[8].to unknown_node at _any"}},
		"an end as a source":   {[]edit{{"from: hearing", "from: _done"}}, []string{"edges[4].from unknown_node at _done"}},
		"duplicate edge":       {[]edit{{"id: HD4", "id: HD3"}}, []string{"edges[3].id duplicate_id at HD3"}},
		"duplicate node":       {[]edit{{"- name: discover", "- name: indict"}}, []string{`zones["discovery"].nodes[0] unknown_node at discover`, "nodes[1].name duplicate_id at indict"}},
		"duplicate zone":       {[]edit{{"  verdict:\n    nodes", "  discovery:\n    nodes"}}, []string{`zones["discovery"] duplicate_id at discovery:`}},
		"reserved name":        {[]edit{{"- name: discover", "- name: _any"}}, []string{`zones["discovery"].nodes[0] unknown_node at discover`, "nodes[1].name reserved_name at _any"}},
		"no start":             {[]edit{{"start: indict\n", ""}}, []string{"start missing at pipeline:"}},
		"unknown start":        {[]edit{{"start: indict", "start: indite"}}, []string{"start unknown_node at indite"}},
		"unknown done":         {[]edit{{"done: _done", "done: done"}}, []string{"done unknown_end at done"}},
		"empty zone":           {[]edit{{"nodes: [indict]", "nodes: []"}}, []string{`zones["prosecution"].nodes missing at [`}},
		"zone without nodes":   {[]edit{{"    nodes: [indict]\n", ""}}, []string{`zones["prosecution"].nodes missing at prosecution:`}},
		"zone of unknown":      {[]edit{{"nodes: [indict]", "nodes: [indict, ghost]"}}, []string{`zones["prosecution"].nodes[1] unknown_node at ghost`}},
		"unknown element":      {[]edit{{"    element: earth", "    element: wood"}}, []string{"nodes[1].element unknown_element at wood"}},
		"unknown family":       {[]edit{{"family: discover", "family: discovery"}}, []string{"nodes[1].family unknown_family at discovery"}},
		"unknown mask":         {[]edit{{"family: discover", "family: discover\n    masks: [discovery, cloak]"}}, []string{"nodes[1].masks[1] unknown_mask at cloak"}},
		"unknown persona":      {[]edit{{"family: discover", "family: discover\n    persona: nobody"}}, []string{"nodes[1].persona unknown_persona at nobody"}},
		"too many personas":    {[]edit{{"family: discover", "family: discover\n    persona: [bulwark, specter]"}}, []string{"nodes[1].persona persona_count at [bulwark"}},
		"no persona":           {[]edit{{"family: discover", "family: discover\n    persona: []"}}, []string{"nodes[1].persona missing at ["}},
		"wrong role":           {[]edit{{"family: discover", "family: discover\n    persona: herald"}}, []string{"nodes[1].persona wrong_role at herald"}},
		"persona, parallel":    {[]edit{{"family: discover", "family: discover\n    persona: bulwark\n    parallel: [specter]"}}, []string{"nodes[1].parallel duplicate_key at [specter"}},
		"unknown capability":   {[]edit{{"nodes:\n  - name", "personas:\n  abyss: {grants: [log, network]}\nnodes:\n  - name"}}, []string{`personas["abyss"].grants[1] unknown_grant at network`}},
		"unknown role":         {[]edit{{"nodes:\n  - name", "personas:\n  owl: {role: jury, alignment: x}\nnodes:\n  - name"}}, []string{`personas["owl"].role unknown_role at jury`}},
		"seat of unknown role": {[]edit{{"family: discover", "family: discover\n    persona: owl"}, {"nodes:\n  - name", "personas:\n  owl: {role: jury, alignment: x}\nnodes:\n  - name"}}, []string{`personas["owl"].role unknown_role at jury`}},
		"persona without":      {[]edit{{"nodes:\n  - name", "personas:\n  owl: {}\nnodes:\n  - name"}}, []string{`personas["owl"].role missing at owl:`, `personas["owl"].alignment missing at owl:`}},
		"bad duration":         {[]edit{{"start: indict", "court: {ttl: 10 minutes}\nstart: indict"}}, []string{"court.ttl bad_duration at 10"}},
		"negative duration":    {[]edit{{"start: indict", "court: {ttl: -1s}\nstart: indict"}}, []string{"court.ttl bad_duration at -1s"}},
		"bare duration":        {[]edit{{"start: indict", "court: {ttl: 600}\nstart: indict"}}, []string{"court.ttl wrong_type at 600"}},
		"threshold above 1":    {[]edit{{"start: indict", "court: {activation_threshold: 1.5}\nstart: indict"}}, []string{"court.activation_threshold bad_threshold at 1.5"}},
		"threshold NaN":        {[]edit{{"start: indict", "court: {activation_threshold: .nan}\nstart: indict"}}, []string{"court.activation_threshold out_of_range at .nan"}},
		"thresholds crossed":   {[]edit{{"start: indict", "court: {rejection_threshold: 0.9}\nstart: indict"}}, []string{"court.rejection_threshold bad_threshold at 0.9"}},
		"no handoffs":          {[]edit{{"start: indict", "court: {max_handoffs: 0}\nstart: indict"}}, []string{"court.max_handoffs out_of_range at 0"}},
		"with: a list":         {[]edit{{"start: indict", "start: indict"}, {"    loop: true", "    loop: true\n    with: {a: [1], b: .inf}"}}, []string{`edges[7].with["a"] wrong_type at [1`, `edges[7].with["b"] out_of_range at .inf`}},
		"a label twice":        {[]edit{{"start: indict", "labels:\n  a: {name: x}\n  a: {name: y}\nstart: indict"}}, []string{`labels["a"] duplicate_id at a:`}},
		"half a proof":         {[]edit{{"start: indict", "labels:\n  a: {evidence: x}\nstart: indict"}}, []string{`labels["a"].action missing at a:`}},
		"element of no kind":   {[]edit{{"start: indict", "elements:\n  wood: {evidence: x, action: y}\nstart: indict"}}, []string{`elements["wood"] unknown_element at wood:`}},
		"element, half":        {[]edit{{"start: indict", "elements:\n  fire: {evidence: x}\nstart: indict"}}, []string{`elements["fire"].action missing at fire:`}},
		"unreachable":          {[]edit{{"start: indict", "start: discover"}}, []string{"nodes[0] unreachable at name:"}},
		"unreachable behind always": {
			[]edit{{"condition: \"prosecution", "evaluator: always\n    condition: \"prosecution"}},
			[]string{"nodes[1] unreachable at name:"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := edited(t, c.edits...)
			_, err := pipeline.Parse("p.yaml", text)
			if err == nil {
				t.Fatal("no error")
			}
			check.Same(t, cmp.Diff(c.want, faults(t, text, err)), "(-want +got)", err)
		})
	}
}

// faults gives the faults of an error as "path code at text", with the word that stands at the fault's place.
func faults(t *testing.T, text []byte, err error) []string {
	t.Helper()
	var all pipeline.Errors
	if !errors.As(err, &all) {
		t.Fatalf("not a list of faults: %v", err)
	}
	lines := strings.Split(string(text), "\n")
	list := make([]string, len(all))
	for i, e := range all {
		word := strings.TrimLeft(lines[e.Line-1][e.Column-1:], " ")
		if end := strings.IndexAny(word, " ,]}"); end >= 0 {
			word = word[:end]
		}
		list[i] = fmt.Sprintf("%s %s at %s", e.Path, e.Code, word)
	}
	return list
}

func edited(t *testing.T, edits ...edit) []byte {
	t.Helper()
	text := string(seedText(t))
	for _, e := range edits {
		must.Equal(t, strings.Count(text, e.old), 1, e.old, "times in the seed")
		text = strings.Replace(text, e.old, e.new, 1)
	}
	return []byte(text)
}

func TestAllFaultsAtOnceInOrder(t *testing.T) {
	t.Parallel()
	text := edited(t,
		edit{"done: _done", "done: _done\ncourt: {ttl: soon, rejection_threshold: 2}"},
		edit{"family: discover", "family: discovery"},
		edit{"id: HD9", "id: HD8"},
		edit{"nodes: [indict]", "nodes: [indict, ghost]\n    colour: red"},
		edit{"start: indict", "start: discover"},
	)
	_, err := pipeline.Parse("p.yaml", text)
	want := []string{
		`zones["prosecution"].nodes[1] unknown_node at ghost`,
		`zones["prosecution"].colour unknown_key at colour:`,
		"nodes[0] unreachable at name:",
		"nodes[1].family unknown_family at discovery",
		"edges[8].id duplicate_id at HD8",
		"court.ttl bad_duration at soon",
		"court.rejection_threshold bad_threshold at 2",
	}
	check.Same(t, cmp.Diff(want, faults(t, text, err)), "(-want +got)")
	first, _, _ := strings.Cut(err.Error(), "\n")
	check.Equal(t, first, `p.yaml:6:21: zones["prosecution"].nodes[1]: no node is called "ghost" [unknown_node]`, "the first line")
}

func TestNoWayOut(t *testing.T) {
	t.Parallel()
	text := []byte("pipeline: p\nnodes:\n  - {name: a, family: triage}\nedges:\n  - {id: E, from: a, to: a, loop: true}\nstart: a\n")
	_, err := pipeline.Parse("p.yaml", text)
	check.Same(t, cmp.Diff([]string{"edges no_end at -"}, faults(t, text, err)))
}

func TestAccept_CT5_EqualSidesAreRejectedAtLoad(t *testing.T) {
	t.Parallel()
	personas := func(s string) edit { return edit{"nodes:\n  - name", "personas:\n" + s + "nodes:\n  - name"} }
	cases := map[string]struct {
		edits []edit
		want  []string
	}{
		"equal alignments": {
			[]edit{personas("  abyss: {alignment: accuser}\n")},
			[]string{`personas["abyss"].alignment same_alignment at accuser`},
		},
		"the judge aligned with the prosecution": {
			[]edit{personas("  specter: {alignment: accuser}\n")},
			[]string{`personas["specter"].alignment same_alignment at accuser`},
		},
		"one module under two names": {
			[]edit{personas("  abyss: {module: challenger}\n")},
			[]string{`personas["abyss"].module same_module at challenger`},
		},
		"one persona on two sides": {
			[]edit{{"family: defend", "family: defend\n    persona: challenger"}},
			[]string{"nodes[2].persona wrong_role at challenger", "nodes[2].persona same_persona at challenger"},
		},
		"one persona twice in a hearing": {
			[]edit{{"family: hearing", "family: hearing\n    persona: [challenger, abyss, abyss]"}},
			[]string{"nodes[3].persona[2] wrong_role at abyss", "nodes[3].persona[2] same_persona at abyss"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := edited(t, c.edits...)
			_, err := pipeline.Parse("p.yaml", text)
			if err == nil {
				t.Fatal("accepted")
			}
			check.Same(t, cmp.Diff(c.want, faults(t, text, err)), "(-want +got)", err)
		})
	}
	// Bench and judge are one side and may be one persona's alignment.
	must.Get(pipeline.Parse("p.yaml", edited(t, personas("  specter: {alignment: bench}\n"))))(t)
}

// An edge of any node that always fires counts before every move to a node, but not before one to an end.
func TestReachBehindAnEdgeOfAnyNodeThatAlwaysFires(t *testing.T) {
	t.Parallel()
	const nodes = "pipeline: p\nnodes:\n  - {name: a, family: triage}\n  - {name: b, family: triage}\n  - {name: c, family: report}\nstart: a\nedges:\n"
	cases := map[string]struct {
		edges string
		want  []string
	}{
		"no falling through": {
			"  - {id: X, from: _any, to: c, evaluator: always}\n  - {id: C, from: c, to: _done}\n",
			[]string{"nodes[1] unreachable at {name:"},
		},
		"no own move to a node": {
			"  - {id: X, from: _any, to: c, evaluator: always}\n  - {id: A, from: a, to: b}\n  - {id: C, from: c, to: _done}\n",
			[]string{"nodes[1] unreachable at {name:"},
		},
		"an own move to an end": {
			"  - {id: X, from: _any, to: c, evaluator: always}\n  - {id: Y, from: c, to: b}\n  - {id: A, from: a, to: _done}\n",
			[]string{"nodes[1] unreachable at {name:"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := []byte(nodes + c.edges)
			_, err := pipeline.Parse("p.yaml", text)
			if err == nil {
				t.Fatal("no error")
			}
			check.Same(t, cmp.Diff(c.want, faults(t, text, err)))
		})
	}
}

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
			d := must.Get(pipeline.Parse("p.yaml", text))(t)
			check.Same(t, cmp.Diff(c.want, faults(t, text, pipeline.Lint(d))), "(-want +got)")
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
			d := must.Get(pipeline.Parse("p.yaml", []byte(c.text)))(t)
			check.Same(t, cmp.Diff(c.want, faults(t, []byte(c.text), pipeline.Lint(d))), "(-want +got)")
		})
	}
}
