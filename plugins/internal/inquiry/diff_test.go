package inquiry_test

import (
	"math"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/anytrial"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
)

func TestWhatADiffTells(t *testing.T) {
	t.Parallel()
	product := func(reach abi.SourceReach, distance int, named ...string) abi.ChangedFile {
		return abi.ChangedFile{Path: "cart/" + string(reach) + ".go", Kind: abi.SourceProduct, Reach: reach, Distance: distance, Named: named}
	}
	ownTest := abi.ChangedFile{Path: "cart/cart_test.go", Kind: abi.SourceTest, Reach: abi.ReachPackage, Named: []string{"TestTotal"}}
	besides := abi.ChangedFile{Path: "cart/testdata/a", Kind: abi.SourceFixture, Reach: abi.ReachPackage}
	module := abi.ChangedFile{Path: "go.mod", Kind: abi.SourceOther, Reach: abi.ReachDependencies}
	readme := abi.ChangedFile{Path: "README.md", Kind: abi.SourceOther, Reach: abi.ReachNone}
	unknown := product(abi.ReachUnknown, 0)
	type facts = map[string]float64
	for _, tc := range []struct {
		name    string
		changed []abi.ChangedFile
		lost    bool
		want    facts
	}{
		{"the product under test, named", []abi.ChangedFile{product(abi.ReachPackage, 0, "Total")}, false, facts{anytrial.Product: 1.6}},
		{"the product under test", []abi.ChangedFile{product(abi.ReachPackage, 0)}, false, facts{anytrial.Product: 1.1}},
		{"what it imports", []abi.ChangedFile{product(abi.ReachImported, 1)}, false, facts{anytrial.Product: 0.8}},
		{"what that imports", []abi.ChangedFile{product(abi.ReachImported, 2)}, false, facts{anytrial.Product: 0.5}},
		{"the test", []abi.ChangedFile{ownTest}, false, facts{anytrial.Automation: 1.4}},
		{"its data", []abi.ChangedFile{besides}, false, facts{anytrial.Automation: 0.6}},
		{"both", []abi.ChangedFile{ownTest, product(abi.ReachPackage, 0)}, false, facts{anytrial.Automation: 1.4, anytrial.Product: 1.1}},
		{"dependencies", []abi.ChangedFile{module, readme}, false, facts{anytrial.Infrastructure: 0.5, anytrial.Product: 0.3}},
		{"dependencies and the product", []abi.ChangedFile{product(abi.ReachPackage, 0), module}, false, facts{anytrial.Product: 1.1}},
		{"documents", []abi.ChangedFile{readme}, false, facts{anytrial.Flake: 0.8, anytrial.Infrastructure: 0.6}},
		{"nothing at all", nil, false, facts{anytrial.Flake: 0.8, anytrial.Infrastructure: 0.6}},
		{"who knows", []abi.ChangedFile{readme, unknown}, false, facts{}},
		{"a test that is not found", []abi.ChangedFile{readme}, true, facts{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := anytrial.LightCase(abi.FamilyInvestigate, "")
			items, got := inquiry.SourceItems(r, &abi.SourceAnswer{Known: true, Diff: true, Located: !tc.lost, Changed: tc.changed}, nil)
			r.Case.Evidence = items
			again := inquiry.SourceFacts(r)
			for j, label := range r.Case.Labels {
				if math.Abs(got[j]-tc.want[label]) > 1e-9 || math.Abs(again[j]-tc.want[label]) > 1e-9 {
					t.Errorf("%s: %v, from the items %v, want %v", label, got[j], again[j], tc.want[label])
				}
			}
			if len(items) != len(tc.want) {
				t.Errorf("items %+v", items)
			}
		})
	}
}

func TestAChangedFileIsToldOnce(t *testing.T) {
	t.Parallel()
	items, facts := inquiry.SourceItems(anytrial.LightCase(abi.FamilyInvestigate, ""), &abi.SourceAnswer{
		Known: true, Diff: true, Located: true,
		Frames:  []abi.SourceFrame{{Path: "cart/cart.go", Line: 7, Kind: abi.SourceProduct, Changed: true}},
		Changed: []abi.ChangedFile{{Path: "cart/cart.go", Kind: abi.SourceProduct, Reach: abi.ReachPackage, Named: []string{"Total"}}},
	}, nil)
	if len(items) != 1 || items[0].SourceRef != "source:cart/cart.go:7" || !strings.Contains(items[0].Content, "cart.go") || facts[0] != 1.6 {
		t.Errorf("%+v, %v", items, facts)
	}
}

// A diff that touches nothing says that the cause lies outside of the code; which
// of the two it is there, the case itself tells, where it does.
func TestADiffThatTouchesNothingLeavesTheRestToTheCase(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]map[string]float64{
		"the disk is full\n":                {anytrial.Infrastructure: 0.8},
		"it took too long\n":                {anytrial.Flake: 0.8, anytrial.Infrastructure: 0.6},
		"nothing to see\n":                  {anytrial.Flake: 0.8, anytrial.Infrastructure: 0.6},
		"disk is full, and took too long\n": {anytrial.Flake: 0.8, anytrial.Infrastructure: 0.6},
	} {
		r := anytrial.LightCase(abi.FamilyInvestigate, log)
		_, got := inquiry.SourceItems(r, &abi.SourceAnswer{Known: true, Diff: true, Located: true}, weigh(r))
		for j, label := range r.Case.Labels {
			if math.Abs(got[j]-want[label]) > 1e-9 {
				t.Errorf("%q: %s %v, want %v", log, label, got[j], want[label])
			}
		}
	}
}
