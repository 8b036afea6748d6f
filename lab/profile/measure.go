package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
)

// parts into which the modules are dealt out.
const parts = 6

// figure is one line of the head: a Light, a profile, and how good the court is with them.
type figure struct {
	light, profile string
	report         *calibrate.Report
}

// holdOut measures on each part what was made of the others, beside no profile
// and the hand-tuned signals alone.
func holdOut(ctx context.Context, entries []docket.Entry, plain *abi.Profile) ([]figure, error) {
	bench, err := study.New()
	if err != nil {
		return nil, err
	}
	defer bench.Close()
	path, err := study.LightPath()
	if err != nil {
		return nil, err
	}
	part := deal(entries)
	learned := make([]*abi.Profile, parts)
	for k := range parts {
		result, err := learn(ctx, of(entries, part, func(p int) bool { return p != k }), plain)
		if err != nil {
			return nil, err
		}
		learned[k] = result.Profile
	}
	var list []figure
	for _, light := range []struct {
		name string
		path *pipeline.Definition
	}{{"the report's reader", nil}, {"the Light path", path}} {
		for _, profile := range []struct {
			name string
			of   func(part int) *abi.Profile
		}{
			{"none", func(int) *abi.Profile { return nil }},
			{"by hand alone", func(int) *abi.Profile { return plain }},
			{"learned, and by hand", func(k int) *abi.Profile { return learned[k] }},
		} {
			var seen []calibrate.Observation
			for k := range parts {
				own := of(entries, part, func(p int) bool { return p == k })
				some, err := bench.Observe(ctx, host.Config{LightPath: light.path, Profile: profile.of(k)}, own)
				if err != nil {
					return nil, err
				}
				seen = append(seen, some...)
			}
			list = append(list, figure{light.name, profile.name, calibrate.Measure(seen, nil, calibrate.Options{Seed: 1, Activation: 0.85, Rejection: 0.5})})
		}
	}
	return list, nil
}

// deal gives each case the part of its module, in the order in which the modules appear.
func deal(entries []docket.Entry) []int {
	known := make(map[string]int)
	part := make([]int, len(entries))
	for i := range entries {
		group := entries[i].Case.Group
		if _, ok := known[group]; !ok {
			known[group] = len(known)
		}
		part[i] = known[group] % parts
	}
	return part
}

func of(entries []docket.Entry, part []int, in func(int) bool) []docket.Entry {
	var out []docket.Entry
	for i := range entries {
		if in(part[i]) {
			out = append(out, entries[i])
		}
	}
	return out
}

// head is what the profile says of itself.
func head(result *fit.Result, held []figure) string {
	var b strings.Builder
	say := func(format string, a ...any) {
		fmt.Fprintln(&b, strings.TrimRight("# "+fmt.Sprintf(format, a...), " "))
	}
	say("What a failing Go test's output says about its cause.")
	say("")
	say("For:   reports of `go test` under the labels pb001 (product bug), ab001 (automation bug: the test is wrong),")
	say("       si001 (system issue: machine, network, service) and nd001 (no defect: flaky).")
	say("Use:   shadowcourt try failures.json --from gotest --profile THIS_FILE")
	say("Made:  `make profile`, from %d failures of %d modules whose cause is known (examples/dockets/README.md), as a", result.Report.Cases, result.Report.Groups)
	say("       report shows them: documents, what its reader cut from them, and the reader's own Light. The signals of")
	say("       lab/profile/plain.yaml, which are hand-tuned, are at the end.")
	say("Model: %s.", result.Report.Model)
	say("")
	say("How well profiles do that are made this way, on modules that they were not fitted on (%d parts). Right: the share", parts)
	say("of all cases; gain: what the court adds to Light, in points, with a 95 %% interval over modules; ECE: of the court.")
	say("%-20s %-21s %6s %6s %6s %15s %6s %6s", "Light", "profile", "Light", "court", "gain", "", "ECE", "Brier")
	for _, f := range held {
		o := &f.report.Overall
		d := o.Rivals[0].Difference
		say("%-20s %-21s %6.3f %6.3f %+6.1f %6.1f to %+5.1f %6s %6s", f.light, f.profile, *o.Rivals[0].Accuracy.Share, *o.Court.Share,
			100*d.Estimate, 100*d.Interval.Low, 100*d.Interval.High, three(f.report.Court.ECE), three(f.report.Court.Brier))
	}
	say("")
	say("The causes were equally frequent there; in life they are not. Weights are natural logarithms (nats): 0.7 doubles the")
	say("odds, 2.3 makes them tenfold. docs/fitting.md says how they were found.")
	return b.String()
}

func three(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *x)
}
