package pipeline_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

const seedFile = "testdata/seed-defect-court.yaml"

func TestAccept_CT1_SeedYAMLLoadsVerbatim(t *testing.T) {
	t.Parallel()
	seed := must.Get(pipeline.Load(seedFile))(t)
	ours := must.Get(pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt))(t)
	for name, d := range map[string]*pipeline.Definition{"seed": seed, "ours": ours} {
		if len(d.Nodes) != 5 || len(d.Edges) != 12 || len(d.Zones) != 3 {
			t.Errorf("%s: got %d nodes, %d edges, %d zones", name, len(d.Nodes), len(d.Edges), len(d.Zones))
		}
		must.Get(pipeline.NewGraph(d))(t, name)
		if warnings := pipeline.Lint(d); len(warnings) > 0 {
			t.Errorf("%s: %v", name, warnings)
		}
		if d.Court != pipeline.DefaultCourt() || d.Clerk != "clerk" || d.Start != "indict" || d.Done != "_done" {
			t.Errorf("%s: court %+v, clerk %q, start %q, done %q", name, d.Court, d.Clerk, d.Start, d.Done)
		}
	}

	// Ours adds keys and changes no meaning.
	if len(ours.Labels) != 4 || len(ours.Kinds) == 0 {
		t.Errorf("%d labels and %d elements are told of", len(ours.Labels), len(ours.Kinds))
	}
	for i := range ours.Personas {
		if p := &ours.Personas[i]; len(p.Grants) != 1 || p.Grants[0] != abi.CapExperiment {
			t.Errorf("%s is granted %v", p.ID, p.Grants)
		}
		ours.Personas[i].Grants = nil
	}
	if with := ours.Nodes[4].With; len(with) != 1 || with[0].Name != "environment_labels" {
		t.Errorf("the verdict has the parameters %v", with)
	}
	ours.Nodes[4].With = nil
	ours.Edges[0].With, ours.Nodes[3].Rounds, ours.Labels, ours.Kinds = nil, 0, nil, nil
	if diff := cmp.Diff(*seed, *ours, cmpopts.IgnoreUnexported(pipeline.Definition{})); diff != "" {
		t.Errorf("ours differs from the seed (-seed +ours):\n%s", diff)
	}
}

// The family selects personas and masks, whatever the nodes are called.
func TestAccept_CT1_FamilySelectsNotTheName(t *testing.T) {
	t.Parallel()
	text := string(seedText(t))
	for _, name := range []string{"indict", "discover", "defend", "hearing", "verdict"} {
		for _, context := range []string{"name: %s\n", "from: %s\n", "to: %s\n", "start: %s\n", "[%s", ", %s]"} {
			text = strings.ReplaceAll(text, fmt.Sprintf(context, name), fmt.Sprintf(context, "x"+name))
		}
	}
	renamed := must.Get(pipeline.Parse("renamed.yaml", []byte(text)))(t)
	seed := must.Get(pipeline.Load(seedFile))(t)
	for i := range seed.Nodes {
		want := seed.Nodes[i]
		want.Name = "x" + want.Name
		check.Same(t, cmp.Diff(want, renamed.Nodes[i]))
	}
}

func TestOursStatesItsParameters(t *testing.T) {
	t.Parallel()
	d := must.Get(pipeline.LoadFS(pipelines.FS, pipelines.DefectCourt))(t)
	check.Same(t, cmp.Diff([]pipeline.Param{pipeline.Number("min_confidence", 0.95)}, d.Edges[0].With))
	check.Same(t, cmp.Diff([]string{"challenger", "abyss", "bulwark", "specter", "clerk"}, d.Modules()))
}

func TestAddedKeysAreRead(t *testing.T) {
	t.Parallel()
	d, err := pipeline.Parse("p.yaml", []byte(`
pipeline: p
clerk: notary
court: {enabled: false, ttl: 90s, max_handoffs: 7, max_remands: 0, activation_threshold: 1, rejection_threshold: 0.25, max_rounds: 9}
personas:
  challenger: {module: mine, grants: [log, recall]}
  owl: {colour: Grey, element: air, role: light, alignment: light}
nodes:
  - {name: a, family: indict, masks: [], rounds: 2}
  - {name: b, family: judge, parallel: [owl, herald]}
  - {name: c, family: report, persona: owl}
edges:
  - {id: E1, from: a, to: b, evaluator: sure, module: other, with: {n: 3, f: 0.5, t: "0.5", no: false}}
  - {id: E2, from: c, to: _done, evaluator: always}
start: a
`))
	must.Do(t, err)
	want := pipeline.Court{TTL: 90 * time.Second, MaxHandoffs: 7, ActivationThreshold: 1, RejectionThreshold: 0.25, MaxRounds: 9}
	check.Same(t, cmp.Diff(want, d.Court))
	challenger, _ := d.Persona("challenger")
	if challenger.Module != "mine" || challenger.Alignment != "accuser" || len(challenger.Grants) != 2 {
		t.Errorf("challenger: %+v", challenger)
	}
	owl, _ := d.Persona("owl")
	if owl.Name != "owl" || owl.Module != "owl" || len(owl.Grants) != 0 {
		t.Errorf("owl: %+v", owl)
	}
	a, b, e := d.Nodes[0], d.Nodes[1], d.Edges[0]
	if a.Masks == nil || len(a.Masks) != 0 || a.Rounds != 2 || !b.Parallel || len(b.Personas) != 2 {
		t.Errorf("nodes: %+v %+v", a, b)
	}
	params := []pipeline.Param{pipeline.Number("n", 3), pipeline.Number("f", 0.5), pipeline.Text("t", "0.5"), {Name: "no", Kind: pipeline.ParamFlag}}
	if diff := cmp.Diff(params, e.With); diff != "" || e.Evaluator != "sure" || e.Module != "other" {
		t.Errorf("edge: %+v %s", e, diff)
	}
	if d.Edges[1].Module != "notary" || d.Edges[1].Evaluator != pipeline.Always {
		t.Errorf("edge: %+v", d.Edges[1])
	}
}

func seedText(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile(seedFile))(t)
}

// places gives the faults of an error as "line:column path code".
func places(t testing.TB, err error) []string {
	t.Helper()
	var all pipeline.Errors
	if !errors.As(err, &all) {
		t.Fatalf("not a list of faults: %v", err)
	}
	list := make([]string, len(all))
	for i, e := range all {
		list[i] = strings.TrimSpace(fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Path)) + " " + string(e.Code)
	}
	return list
}

func TestFilesThatAreNoPipeline(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ text, want string }{
		"empty":          {"", "1:1 syntax"},
		"only a comment": {"# nothing\n", "1:1 syntax"},
		"a list":         {"- a\n", "1:1 wrong_type"},
		"no YAML":        {"a: b\nc: [\n", "2:1 syntax"},
		"two documents":  {"pipeline: a\n---\npipeline: b\n", "2:1 syntax"},
		"not UTF-8":      {"pipeline: a\nx: \xff\n", "2:4 encoding"},
		"a control":      {"pipeline: \x00\n", "1:11 encoding"},
		"too large":      {strings.Repeat("#\n", pipeline.MaxFileBytes), "0:0 too_large"},
		"deep flow":      {strings.Repeat("[", 40_000), "1:1 syntax"},
		"deep enough":    {"pipeline: " + strings.Repeat("[", 40) + strings.Repeat("]", 40), "1:43 too_deep"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := pipeline.Parse("p.yaml", []byte(c.text))
			if err == nil {
				t.Fatal("no error")
			}
			if got := places(t, err); got[0] != c.want && got[len(got)-1] != c.want {
				t.Errorf("got %q, want %s\n%v", got, c.want, err)
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	_, err := pipeline.LoadFS(fstest.MapFS{}, "absent.yaml")
	if err == nil || err.Error() != "absent.yaml: can't be read: file does not exist [unreadable]" {
		t.Errorf("got %v", err)
	}
	_, err = pipeline.Load("testdata")
	if err == nil {
		t.Error("a folder was read")
	}
}

// A small file with aliases can stand for a huge one; it is rejected in no time.
func TestAliasBombIsRejected(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("pipeline: &a0 x\n")
	for i := range 30 {
		fmt.Fprintf(&b, "k%d: &a%d [*a%d, *a%d, *a%d]\n", i, i+1, i, i, i)
	}
	b.WriteString("nodes:\n  - {<<: *a1, name: n, family: triage}\n")
	_, err := pipeline.Parse("bomb.yaml", []byte(b.String()))
	got := places(t, err)
	if len(got) != pipeline.MaxErrors+1 || !strings.HasSuffix(got[pipeline.MaxErrors], " more") {
		t.Errorf("got %d faults, the last %s", len(got), got[len(got)-1])
	}
	check.Contains(t, err.Error(), "[alias]", "no fault of an alias", err)
}

func TestAccept_DI1_ReferencesInPipelines(t *testing.T) {
	t.Parallel()
	text := must.Get(fs.ReadFile(pipelines.FS, pipelines.DefectCourt))(t)
	const pin = "@sha256:1111111111111111111111111111111111111111111111111111111111111111"
	for _, c := range []struct{ module, fault, warning string }{
		{module: "oci://registry.example/judges/specter" + pin},
		{module: "oci://localhost:5000/specter:v1.2.3" + pin},
		{module: "oci://[::1]:5000/a/b/specter" + pin},
		{module: "oci-layout:../judges:v1" + pin},
		{module: "oci://registry.example/judges/specter:v1", warning: "[unpinned]"},
		{module: "oci://registry.example/judges/specter", fault: "[bad_reference]"},
		{module: "oci://registry.example:v1", fault: "[bad_reference]"},
		{module: "oci://registry.example/a/../b:v1/c", fault: "[bad_reference]"},
		{module: "oci://registry.example/judges/Specter:v1", fault: "[bad_reference]"},
		{module: "oci://user:password@registry.example/judges/specter:v1", fault: "[bad_reference]"},
		{module: "oci://registry.example/specter@sha256:11", fault: "[bad_reference]"},
		{module: "https://registry.example/specter:v1", fault: "[bad_reference]"},
		{module: "oci//registry.example/specter:v1", fault: "[bad_reference]"},
		{module: "oci-layout:judges", fault: "[bad_reference]"},
		{module: "oci://registry.example/" + strings.Repeat("a/", 600) + "b:v1", fault: "[bad_reference]"},
	} {
		def, err := pipeline.Parse("court.yaml", []byte(strings.Replace(string(text), "module: specter\n", "module: \""+c.module+"\"\n", 1)))
		if (err != nil) != (c.fault != "") || err != nil && (!strings.Contains(err.Error(), c.fault) || !strings.HasPrefix(err.Error(), "court.yaml:64:")) {
			t.Errorf("%s: %v, want %q", c.module, err, c.fault)
			continue
		}
		if err != nil {
			continue
		}
		if warnings := pipeline.Lint(def); (len(warnings) > 0) != (c.warning != "") || len(warnings) > 0 && !strings.Contains(warnings.Error(), c.warning) {
			t.Errorf("%s: %v, want %q", c.module, warnings, c.warning)
		}
		if file := pipeline.ModuleFile(c.module); !fs.ValidPath(file) || strings.Contains(file, "/") || !strings.HasSuffix(file, ".oci") {
			t.Errorf("%s: %s", c.module, file)
		}
	}
	if pipeline.IsReference("specter") || pipeline.ModuleFile("specter") != "specter.wasm" {
		t.Error("a name is taken for a reference")
	}
}
