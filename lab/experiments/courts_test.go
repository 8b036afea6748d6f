package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// TestTheFixedOrder: offers seem to take ever longer, in the fixed order and within what an offer may take, and cost what they did.
func TestTheFixedOrder(t *testing.T) {
	t.Parallel()
	l := &ledger{Offers: plan.Offers(0, plan.GoPace(), plan.BuildOf)}
	offers, err := inOrder{&client{ledger: l, mode: experiment.All}}.Offers(t.Context(), nil)
	if err != nil || len(offers) != len(l.Offers) || l.Offers[0].Seconds > 60 {
		t.Fatal(offers, err)
	}
	for i := range offers {
		if fixedPlace(offers[i].Experiment) != i || offers[i].Seconds > 86400 || i > 0 && offers[i].Seconds < 9*offers[i-1].Seconds {
			t.Errorf("offer %d: %+v", i, offers[i])
		}
	}
}

// TestCourtsWithoutAMechanism: each change leaves the shipped court valid, and takes away what its name says.
func TestCourtsWithoutAMechanism(t *testing.T) {
	t.Parallel()
	whole, err := study.Court()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range courts() {
		d, err := study.Court()
		if err != nil {
			t.Fatal(err)
		}
		if c.change != nil {
			c.change(d)
		}
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", c.arm, err)
		}
		asks := map[pipeline.Family]bool{}
		for _, n := range d.Nodes {
			asks[n.Family] = n.Family != pipeline.FamilyDefend
			for _, p := range n.With {
				if p.Name == mostExperiments {
					asks[n.Family] = p.Number > 0
				}
			}
		}
		alone := c.arm == onlyJudge || c.arm == noneOfThese
		if !asks[pipeline.FamilyVerdict] || asks[pipeline.FamilyDiscover] == alone || asks[pipeline.FamilyDefend] != (c.arm == sidesAsk || c.arm == allOfThem) || d.Court.MaxRemands != whole.Court.MaxRemands && c.arm != noRemand && c.arm != noneOfThese {
			t.Errorf("%s: asks %v, %d remands", c.arm, asks, d.Court.MaxRemands)
		}
	}
	if onHead(abi.Experiment{Product: abi.Head, Tests: abi.Base}) {
		t.Error("a mixture is not head")
	}
}
