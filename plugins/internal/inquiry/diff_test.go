package inquiry_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

func TestWhatADiffTells(t *testing.T) {
	t.Parallel()
	file := func(path string, kind abi.SourceKind, reach abi.SourceReach) abi.ChangedFile {
		return abi.ChangedFile{Path: path, Kind: kind, Reach: reach}
	}
	product, elsewhere := file("cart/cart.go", abi.SourceProduct, abi.ReachPackage), file("money/money.go", abi.SourceProduct, abi.ReachUnknown)
	ownTest, fixture := file("cart/cart_test.go", abi.SourceTest, abi.ReachPackage), file("tests/data/a", abi.SourceFixture, abi.ReachUnknown)
	module, readme := file("go.mod", abi.SourceOther, abi.ReachDependencies), file("README.md", abi.SourceOther, abi.ReachNone)
	type facts = map[string]float64
	for _, tc := range []struct {
		name    string
		changed []abi.ChangedFile
		lost    bool
		want    facts
	}{
		{"the product beside the test", []abi.ChangedFile{product, elsewhere}, false, facts{testkit.Product: 2}},
		{"the product elsewhere", []abi.ChangedFile{elsewhere, readme}, false, facts{testkit.Product: 1.1}},
		{"the test alone", []abi.ChangedFile{ownTest}, false, facts{testkit.Automation: 2}},
		{"data elsewhere", []abi.ChangedFile{fixture}, false, facts{testkit.Automation: 1.1}},
		{"both, beside the test", []abi.ChangedFile{product, ownTest}, false, facts{testkit.Product: 1.1}},
		{"the test, and the product elsewhere", []abi.ChangedFile{ownTest, elsewhere}, false, facts{}},
		{"dependencies", []abi.ChangedFile{module, readme}, false, facts{testkit.Infrastructure: 1, testkit.Product: 0.8}},
		{"dependencies and the product", []abi.ChangedFile{product, module}, false, facts{testkit.Product: 2}},
		{"dependencies and the test", []abi.ChangedFile{ownTest, module}, false, facts{}},
		{"documents", []abi.ChangedFile{readme}, false, facts{testkit.Flake: 2, testkit.Infrastructure: 1.8}},
		{"nothing at all", nil, false, facts{testkit.Flake: 2, testkit.Infrastructure: 1.8}},
		{"a test that is not found", []abi.ChangedFile{readme}, true, facts{}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := testkit.LightCase(abi.FamilyInvestigate, "")
			items, got := inquiry.SourceItems(r, &abi.SourceAnswer{Known: true, Diff: true, Located: !tc.lost, Changed: tc.changed}, nil)
			r.Case.Evidence = items
			again := inquiry.SourceFacts(r)
			for j, label := range r.Case.Labels {
				if math.Abs(got[j]-tc.want[label]) > 1e-9 || math.Abs(again[j]-tc.want[label]) > 1e-9 {
					t.Errorf("%s: %v, from the items %v, want %v", label, got[j], again[j], tc.want[label])
				}
			}
		})
	}
}

func TestAChangedFileIsToldOnce(t *testing.T) {
	t.Parallel()
	items, facts := inquiry.SourceItems(testkit.LightCase(abi.FamilyInvestigate, ""), &abi.SourceAnswer{
		Known: true, Frames: []abi.SourceFrame{
			{Path: "cart/cart.go", Line: 7, Kind: abi.SourceProduct, Changed: true, ChangedNear: true}, {Path: "cart/cart.go", Line: 9, Kind: abi.SourceProduct, Changed: true},
		},
	}, nil)
	if len(items) != 1 || items[0].SourceRef != "seeker-source:cart/cart.go:7" || !strings.Contains(items[0].Content, "cart.go") || facts[0] != 1.4 {
		t.Errorf("%+v, %v", items, facts)
	}
}

// A diff that touches nothing says that the cause lies outside of the code; which
// of the two it is there, the case itself tells, where it does.
func TestADiffThatTouchesNothingLeavesTheRestToTheCase(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]map[string]float64{
		"the disk is full\n":                {testkit.Infrastructure: 2.2},
		"it took too long\n":                {testkit.Flake: 2, testkit.Infrastructure: 1.8},
		"nothing to see\n":                  {testkit.Flake: 2, testkit.Infrastructure: 1.8},
		"disk is full, and took too long\n": {testkit.Flake: 2, testkit.Infrastructure: 1.8},
	} {
		r := testkit.LightCase(abi.FamilyInvestigate, log)
		_, got := inquiry.SourceItems(r, &abi.SourceAnswer{Known: true, Diff: true, Located: true}, weigh(r))
		for j, label := range r.Case.Labels {
			if math.Abs(got[j]-want[label]) > 1e-9 {
				t.Errorf("%q: %s %v, want %v", log, label, got[j], want[label])
			}
		}
	}
}

// factsOf gives what a source tells of each label, and its items.
func factsOf(t *testing.T, log string, source abi.SourceAnswer) (map[string]float64, []abi.Evidence) {
	t.Helper()
	r := testkit.LightCase(abi.FamilyInvestigate, log)
	source.Known, source.Diff, source.Located = true, true, true
	items, facts := inquiry.SourceItems(r, &source, weigh(r))
	by := map[string]float64{}
	for j, label := range r.Case.Labels {
		by[label] = facts[j]
	}
	return by, items
}

var (
	productChange = abi.ChangedFile{Path: "cart/cart.go", Kind: abi.SourceProduct, Reach: abi.ReachPackage, Code: true}
	testChange    = abi.ChangedFile{Path: "cart/cart_test.go", Kind: abi.SourceTest, Reach: abi.ReachPackage, Code: true}
	oldTest       = abi.FailingTest{Name: "TestTotal", Path: "cart/cart_test.go"}
	newTest       = abi.FailingTest{Name: "TestTotal", Path: "cart/cart_test.go", New: true, Changed: true}
)

const wrongTotal = "    cart_test.go:9: got 1, want 3\n"

// TestAccept_EX3_LogicalConstraints: what did not change is not the cause, unless the test is new.
func TestAccept_EX3_LogicalConstraints(t *testing.T) {
	t.Parallel()
	comments := productChange
	comments.Code, comments.Reach = false, abi.ReachNone
	for _, tc := range []struct {
		name    string
		tests   []abi.FailingTest
		changed []abi.ChangedFile
		raised  []string
		level   bool
	}{
		{"only the product", []abi.FailingTest{oldTest}, []abi.ChangedFile{productChange}, []string{testkit.Product}, false},
		{"only the test", []abi.FailingTest{oldTest}, []abi.ChangedFile{testChange, comments}, []string{testkit.Automation}, false},
		{"neither", []abi.FailingTest{oldTest}, []abi.ChangedFile{comments}, []string{testkit.Flake, testkit.Infrastructure}, false},
		{"a new test and the product", []abi.FailingTest{newTest}, []abi.ChangedFile{testChange, productChange}, nil, true},
		{"a new test alone", []abi.FailingTest{newTest}, []abi.ChangedFile{testChange}, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			facts, items := factsOf(t, wrongTotal, abi.SourceAnswer{Tests: tc.tests, Changed: tc.changed})
			for label, nats := range facts {
				if raised := slices.Contains(tc.raised, label); raised != (nats >= 1.5) && !tc.level {
					t.Errorf("%s: %v nats", label, nats)
				}
			}
			told := slices.ContainsFunc(items, func(e abi.Evidence) bool { return strings.Contains(e.Content, "never passed on any tree") })
			if told != tc.level {
				t.Errorf("items %+v", items)
			}
			if !tc.level {
				return
			}
			r := testkit.LightCase(abi.FamilyInvestigate, wrongTotal)
			r.Case.Evidence = items
			if e := inquiry.Read(r, nil).Weigh(r, inquiry.First, inquiry.SourceFacts(r)); e.Leads() {
				t.Errorf("a label leads: %v", e.Posterior)
			}
		})
	}
}

// A frame in a helper of the tests says nothing about the test.
func TestAccept_EX3_HelpersOfTests(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]string{
		"example.com/shop/cart_test.TestTotal(0xc000)": testkit.Automation, "example.com/shop/cart_test.TestTotal.func1()": testkit.Automation,
		"example.com/shop/cart_test.(*suite).TestTotal(0xc000)": testkit.Automation, "example.com/shop/cart_test.equal(...)": "",
		"example.com/shop/cart_test.(*suite).open(0xc000, 0x1)": "",
	} {
		r := testkit.LightCase(abi.FamilyInvestigate, "panic: no\n\ngoroutine 1 [running]:\n"+function+"\n\t/src/shop/cart_test.go:7 +0x1\n")
		if e := find(t, inquiry.Read(r, nil).Items(inquiry.First), "seeker-frame:log:L4"); e.Supports != want {
			t.Errorf("%s speaks for %q", function, e.Supports)
		}
	}
}
