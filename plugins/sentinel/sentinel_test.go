package main

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

const log = "panic: boom\n\nshop.Total()\n\t/src/shop/cart.go:12 +0x1\nshop.TestTotal()\n\t/src/tests/cart_test.go:7 +0x2\n"

func play(t *testing.T, r *abi.NodeRequest, source abi.SourceAnswer) []abi.SelectedComponent {
	t.Helper()
	a, failure := sentinel{func(q abi.SourceQuery) (abi.SourceAnswer, *abi.Failure) {
		if q.Text == "" {
			t.Error("asks about nothing")
		}
		return source, nil
	}}.play(r)
	if failure != nil {
		t.Fatal(failure)
	}
	return a.Resolve.Selected
}

func names(selected []abi.SelectedComponent) []string {
	var out []string
	for i := range selected {
		out = append(out, selected[i].Name)
	}
	return out
}

func TestResolveFromTheLog(t *testing.T) {
	t.Parallel()
	got := play(t, testkit.LightCase(abi.FamilyResolve, log), abi.SourceAnswer{})
	if !slices.Equal(names(got), []string{"/src/shop", "/src/tests"}) || !slices.Equal(got[0].FocusPaths, []string{"/src/shop/cart.go:12"}) || got[0].Reason == "" {
		t.Errorf("got %+v", got)
	}
	if got := play(t, testkit.LightCase(abi.FamilyResolve, "nothing\n"), abi.SourceAnswer{}); len(got) != 0 || got == nil {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestResolveFromTheSource(t *testing.T) {
	t.Parallel()
	source := abi.SourceAnswer{
		Known: true,
		Frames: []abi.SourceFrame{
			{Path: "shop/cart.go", Line: 12, Kind: abi.SourceProduct},
			{Path: "tests/cart_test.go", Line: 7, Kind: abi.SourceTest, Changed: true, ChangedNear: true},
			{Path: "shop/cart.go", Line: 20, Kind: abi.SourceProduct},
		},
		Changed: []abi.ChangedFile{{Path: "till/till.go", Kind: abi.SourceProduct, Added: 1, Removed: 2}},
	}
	r := testkit.LightCase(abi.FamilyResolve, log)
	got := play(t, r, source)
	if !slices.Equal(names(got), []string{"tests", "shop"}) || !slices.Equal(got[1].FocusPaths, []string{"shop/cart.go:12", "shop/cart.go:20"}) {
		t.Errorf("got %+v", got)
	}
	r.File.Investigate = &abi.InvestigateArtifact{}
	if got := play(t, r, source); !slices.Equal(names(got), []string{"tests", "shop", "till"}) {
		t.Errorf("going back selects %+v", got)
	}
	r.File.Investigate, r.File.Feedback = nil, &abi.RemandFeedback{}
	if got := play(t, r, source); !slices.Contains(names(got), "till") {
		t.Errorf("on remand selects %+v", got)
	}
}
