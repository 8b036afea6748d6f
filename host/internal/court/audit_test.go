package court

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// What is no pipeline of an audit is rejected before any module is loaded.
func TestWhatIsNoPipelineOfAnAudit(t *testing.T) {
	t.Parallel()
	rubric := must.Get(audit.LoadFS(pipelines.FS, pipelines.CourtOpinions))(t)
	text := must.Get(pipelines.FS.ReadFile(pipelines.Audit))(t)
	for name, tc := range map[string]struct{ old, instead, want string }{
		"as it is":                 {"", "", ""},
		"a third round":            {"rounds: 2", "rounds: 3", "judges are asked 2 times at most"},
		"one round":                {"rounds: 2", "rounds: 1", ""},
		"nobody collects":          {"parallel: [tracer, scribe]", "", "names nobody who collects"},
		"one after the other":      {"parallel: [tracer, scribe]", "persona: [tracer, scribe]", ""},
		"judges of the pipeline":   {"rounds: 2", "persona: tracer", "the rubric says who acts"},
		"no conclusion":            {"family: conclude", "family: synthesize", "one node of the family conclude, this pipeline has 0"},
		"a node of the court":      {"family: conclude", "family: verdict", "has no part in an audit"},
		"a persona called a judge": {"tracer", "warden", `the judge "warden" has the name of a persona`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			def, err := pipeline.Parse("p.yaml", []byte(strings.ReplaceAll(string(text), tc.old, tc.instead)))
			if tc.old == "" {
				def, err = pipeline.Parse("p.yaml", text)
			}
			must.Do(t, err)
			err = checkAuditGraph(def, rubric)
			if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
