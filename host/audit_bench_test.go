package host_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
)

// thousand are the opinions of the tour's verdicts, over and over.
func thousand(b *testing.B) []audit.Subject {
	b.Helper()
	h := open(b, host.Config{})
	var own []audit.Subject
	for _, id := range []string{"tour-rounds", "tour-amend", "tour-plea", "tour-even"} {
		subject, ok := court.OpinionOf(try(b, h, tour(b)[id].Case), "bench")
		if !ok {
			b.Fatalf("%s has no verdict", id)
		}
		own = append(own, subject)
	}
	list := make([]audit.Subject, 1000)
	for i := range list {
		list[i] = own[i%len(own)]
		list[i].Opinion.CaseID = strconv.Itoa(i)
	}
	return list
}

// BenchmarkAudit audits one opinion after the other: five calls of modules
// each, two and then three side by side.
func BenchmarkAudit(b *testing.B) {
	subjects := thousand(b)
	a := openAuditor(b, host.AuditConfig{})
	b.ReportAllocs()
	fuel, n := uint64(0), 0
	for b.Loop() {
		o, err := a.Audit(context.Background(), subjects[n%len(subjects)])
		if err != nil || len(o.Errors) > 0 || o.Fuel == nil {
			b.Fatal(err, o)
		}
		fuel += *o.Fuel
		n++
	}
	b.ReportMetric(float64(fuel)/float64(n), "fuel/op")
}

// BenchmarkAuditThousand audits 1,000 opinions on all processors.
func BenchmarkAuditThousand(b *testing.B) {
	subjects := thousand(b)
	a := openAuditor(b, host.AuditConfig{})
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		entries := func(yield func(docket.OpinionEntry, error) bool) {
			for _, s := range subjects {
				if !yield(docket.OpinionEntry{Opinion: s.Opinion, Evidence: s.Evidence, Documents: s.Documents}, nil) {
					return
				}
			}
		}
		for one := range a.AuditAll(context.Background(), entries, 0) {
			if one.Err != nil || one.Audit.CaseID != strconv.Itoa(n) {
				b.Fatal(one.Err, one.Audit)
			}
			n++
		}
		if n != len(subjects) {
			b.Fatalf("%d audits", n)
		}
	}
}
