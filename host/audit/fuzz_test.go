package audit_test

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// A rubric is read or rejected with a reason. One that is read is complete: its weights can be
// summed, and it can be written and read again as the same.
func FuzzParse(f *testing.F) {
	shipped, err := pipelines.FS.ReadFile(pipelines.CourtOpinions)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(shipped)
	f.Add([]byte("rubric: r\njudges:\n  a: {module: m, with: {n: .inf}}\ncriteria:\n  - {id: c, category: Security, weight: 1e308, judges: [a], lead: a}\nweights: {security: 2}\n"))
	f.Add([]byte("rubric: &x [*x]\n"))
	f.Add([]byte("rubric: r\njudges: {a: {}, a: {}}\ncriteria:\n  - {id: c, judges: [a, a]}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rubric, err := audit.Parse("r.yaml", text)
		if err != nil {
			if err.Error() == "" || rubric != nil {
				t.Errorf("rejected with %q and %v", err, rubric)
			}
			return
		}
		if err := rubric.Validate(); err != nil {
			t.Fatalf("read, and not valid: %v", err)
		}
		for _, w := range rubric.Weighings() {
			if !(w.Weight > 0 && w.Share > 0 && w.Share <= 1) {
				t.Errorf("a weighing is %+v", w)
			}
		}
		first, err := audit.Marshal(rubric)
		if err != nil {
			t.Fatal(err)
		}
		again, err := audit.Parse("again.yaml", first)
		if err != nil {
			t.Fatalf("what is written is rejected: %v\n%s", err, first)
		}
		if second, err := audit.Marshal(again); err != nil || !bytes.Equal(first, second) {
			t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
		}
	})
}
