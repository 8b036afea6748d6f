package record_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// judging are the modules of an audit.
func judging(version string) []record.Part {
	return []record.Part{{Name: "warden", Digest: record.DigestOf([]byte("warden" + version))}}
}

// The modules of court and audit follow their own ways: each is written where it changes, and they don't take turns.
func TestModulesOfCourtAndAuditAreGenerationsOfTheirOwn(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	name := filepath.Join(t.TempDir(), "record")
	header := auditHeader()
	w := must.Get(record.Create(name, key, header))(t)
	// Entries: header, then as in the order of the list.
	steps := []struct{ court, audit string }{{"1", "1"}, {"1", "1"}, {"2", "1"}, {"2", ""}, {"2", "2"}, {"1", "1"}}
	want := []string{"1 2", "1 2", "5 2", "5 none", "5 8", "10 11"}
	for i, s := range steps {
		one := trial(fmt.Sprint("case-", i))
		if s.audit != "" {
			one = audited(one.ID)
			one.Audit.Modules = judging(s.audit)
		}
		one.Modules = modules(s.court)
		if i == 4 { // as after an interruption
			must.Do(t, w.Close())
			w = must.Get(record.Resume(name, key, header, -1, ""))(t)
		}
		must.Do(t, w.Append(one))
		if one.Generation != 0 || one.Audit != nil && one.Audit.Generation != 0 {
			t.Error("Append changed the trial that it was given")
		}
	}
	must.Do(t, w.Finish())
	data := read(t, name)
	if report := verify(t, data, key); !report.Complete() || report.Trials != 6 || report.Audits != 5 || report.Entries != 14 {
		t.Errorf("%+v", report)
	}
	r := must.Get(record.NewReader(bytes.NewReader(data), key))(t)
	for i := 0; i < len(steps); {
		e := must.Get(r.Next())(t)
		if e.Trial == nil {
			continue
		}
		got := fmt.Sprint(e.Trial.Generation, " none")
		if a := e.Trial.Audit; a != nil {
			got = fmt.Sprint(e.Trial.Generation, " ", a.Generation)
			check.Equal(t, a.Modules[0], judging(steps[i].audit)[0], "trial", i, "modules", a.Modules)
		}
		if got != want[i] || e.Trial.Modules[1] != modules(steps[i].court)[1] || e.Trial.Kept != header.Contents {
			t.Errorf("trial %d has the generations %s, want %s; modules %v", i, got, want[i], e.Trial.Modules)
		}
		i++
	}
}

// A record whose header says nothing of audits takes none, and stays as it was.
func TestARecordWithoutAuditsInItsHeaderTakesNone(t *testing.T) {
	t.Parallel()
	key := newKey(t, true)
	name := filepath.Join(t.TempDir(), "record")
	w := must.Get(record.Create(name, key, header()))(t)
	check.Fails(t, w.Append(audited("a")), "the record has none")
	must.Do(t, w.Append(trial("a")))
	must.Do(t, w.Finish())
	data := must.Get(os.ReadFile(name))(t)
	if report := verify(t, data, key); !report.Complete() || report.Trials != 1 || report.Audits != 0 {
		t.Errorf("%+v", report)
	}
}
