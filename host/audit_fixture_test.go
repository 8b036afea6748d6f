package host_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// bench is the judge of testdata/bench, built once.
var bench = sync.OnceValues(func() ([]byte, error) { return buildGuest("./testdata/bench") })

// openAuditor opens an Auditor with the shared compile cache, closed with the test.
func openAuditor(t testing.TB, config host.AuditConfig) *host.Auditor {
	t.Helper()
	config.CacheDir = cacheDir
	a := must.Get(host.OpenAuditor(context.Background(), config))(t)
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// toldJudges opens an Auditor on a rubric of judges that do as they are told:
// what stands below `judges:` and `criteria:` of a rubric.
func toldJudges(t testing.TB, rubric string, config host.AuditConfig) *host.Auditor {
	t.Helper()
	told := benched(t, rubric)
	config.Rubric, config.Modules = told.Rubric, told.Modules
	return openAuditor(t, config)
}

// benched is the configuration of such an Auditor.
func benched(t testing.TB, rubric string) host.AuditConfig {
	t.Helper()
	wasm := must.Get(bench())(t)
	parsed := must.Get(audit.Parse("told.yaml", []byte("rubric: told\n"+rubric)))(t)
	files := modules(t)
	files["bench.wasm"] = &fstest.MapFile{Data: wasm}
	return host.AuditConfig{Rubric: parsed, Modules: files}
}

// judged audits an opinion that must come to a report.
func judged(t testing.TB, a *host.Auditor, s audit.Subject) *audit.Outcome {
	t.Helper()
	o := must.Get(a.Audit(context.Background(), s))(t)
	return o
}

// encoded is all of an outcome that could differ, as bytes.
func encoded(o *audit.Outcome) string {
	return string(codec.AppendAuditReport(codec.AppendSnapshot(nil, &o.State), &o.Report)) + strings.Join(o.Path, " ")
}

// ruling is an opinion in full, with what it can be checked against.
func ruling() audit.Subject {
	return audit.Subject{
		Opinion: abi.JudicialOpinion{
			CaseID: "disk", CourtName: "Court of Volumes",
			Text: "The charge is a leak. The prosecution relies on graph, by which \"usage rises by 2 GB an hour\".\n" +
				"The defense answers that the quota was exceeded, because the log says \"quota exceeded for volume data-7\".\n" +
				"However, the operator reports that nothing was deployed this week, which weakens the charge.\n" +
				"The court therefore amends the verdict to quota, with a confidence of 0.7.\n",
			Metadata: map[string]string{"final_classification": "quota", "confidence": "0.7"},
		},
		Evidence:  dispute().Evidence,
		Documents: dispute().Documents,
	}
}
