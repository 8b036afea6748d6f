package inquiry_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit/anytrial"
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
		{"the test alone", []abi.ChangedFile{ownTest}, false, facts{anytrial.Automation: 2}},
		{"its data alone", []abi.ChangedFile{besides}, false, facts{anytrial.Automation: 2}},
		{"both", []abi.ChangedFile{ownTest, product(abi.ReachPackage, 0)}, false, facts{anytrial.Automation: 1.4, anytrial.Product: 1.1}},
		{"dependencies", []abi.ChangedFile{module, readme}, false, facts{anytrial.Infrastructure: 1, anytrial.Product: 0.8}},
		{"dependencies and the product", []abi.ChangedFile{product(abi.ReachPackage, 0), module}, false, facts{anytrial.Product: 1.1}},
		{"documents", []abi.ChangedFile{readme}, false, facts{anytrial.Flake: 2, anytrial.Infrastructure: 1.8}},
		{"nothing at all", nil, false, facts{anytrial.Flake: 2, anytrial.Infrastructure: 1.8}},
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
	if len(items) != 1 || items[0].SourceRef != "seeker-source:cart/cart.go:7" || !strings.Contains(items[0].Content, "cart.go") || facts[0] != 1.6 {
		t.Errorf("%+v, %v", items, facts)
	}
}

// A diff that touches nothing says that the cause lies outside of the code; which
// of the two it is there, the case itself tells, where it does.
func TestADiffThatTouchesNothingLeavesTheRestToTheCase(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]map[string]float64{
		"the disk is full\n":                {anytrial.Infrastructure: 2.2},
		"it took too long\n":                {anytrial.Flake: 2, anytrial.Infrastructure: 1.8},
		"nothing to see\n":                  {anytrial.Flake: 2, anytrial.Infrastructure: 1.8},
		"disk is full, and took too long\n": {anytrial.Flake: 2, anytrial.Infrastructure: 1.8},
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

// facts gives what a source tells of each label, and its items.
func factsOf(t *testing.T, log string, source abi.SourceAnswer) (map[string]float64, []abi.Evidence) {
	t.Helper()
	r := anytrial.LightCase(abi.FamilyInvestigate, log)
	source.Known, source.Diff, source.Located = true, true, true
	items, facts := inquiry.SourceItems(r, &source, weigh(r))
	by := map[string]float64{}
	for j, label := range r.Case.Labels {
		by[label] = facts[j]
	}
	return by, items
}

var (
	productChange = abi.ChangedFile{Path: "cart/cart.go", Kind: abi.SourceProduct, Reach: abi.ReachPackage, Code: true, Named: []string{"Total"}}
	testChange    = abi.ChangedFile{Path: "cart/cart_test.go", Kind: abi.SourceTest, Reach: abi.ReachPackage, Code: true, Named: []string{"TestTotal"}}
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
		{"only the product", []abi.FailingTest{oldTest}, []abi.ChangedFile{productChange}, []string{anytrial.Product}, false},
		{"only the test", []abi.FailingTest{oldTest}, []abi.ChangedFile{testChange, comments}, []string{anytrial.Automation}, false},
		{"neither", []abi.FailingTest{oldTest}, []abi.ChangedFile{comments}, []string{anytrial.Flake, anytrial.Infrastructure}, false},
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
			r := anytrial.LightCase(abi.FamilyInvestigate, wrongTotal)
			r.Case.Evidence = items
			if e := inquiry.Read(r, nil).Weigh(r, inquiry.First, inquiry.SourceFacts(r)); e.Leads() {
				t.Errorf("a label leads: %v", e.Posterior)
			}
		})
	}
}

// TestAccept_EX4_IntentMakesAStaleTest: the more tells that a change was meant, the more speaks for a stale test; every item
// has its hunk, commit and author, and names the label that it speaks for.
func TestAccept_EX4_IntentMakesAStaleTest(t *testing.T) {
	t.Parallel()
	intent := func(kind abi.IntentKind, path string) abi.SourceIntent {
		return abi.SourceIntent{Kind: kind, Path: path, Names: []string{"1", "3"}, Hunk: abi.SourceHunk{Line: 4, Text: "-\treturn 3\n+\treturn 1", Commit: "8c1f3a0d2b4e", Author: "Zoë"}}
	}
	value, tests := intent(abi.IntentValue, "cart/cart.go"), intent(abi.IntentTests, "cart/other_test.go")
	truth := value
	truth.Names = []string{"true", "false"}
	message, expectation := intent(abi.IntentMessage, ""), intent(abi.IntentExpectation, "cart/cart_test.go")
	for _, tc := range []struct {
		name    string
		changed []abi.ChangedFile
		intent  []abi.SourceIntent
		stale   bool
	}{
		{"nothing", []abi.ChangedFile{productChange}, nil, false},
		{"the value", []abi.ChangedFile{productChange}, []abi.SourceIntent{value}, true},
		{"a truth value", []abi.ChangedFile{productChange}, []abi.SourceIntent{truth}, false},
		{"the message alone", []abi.ChangedFile{productChange}, []abi.SourceIntent{message}, false},
		{"a truth value and the message", []abi.ChangedFile{productChange}, []abi.SourceIntent{truth, message}, true},
		{"tests of the same", []abi.ChangedFile{productChange}, []abi.SourceIntent{tests}, true},
		{"a product that did not change", nil, []abi.SourceIntent{tests}, false},
		{"a test that was changed itself", []abi.ChangedFile{productChange, testChange}, []abi.SourceIntent{expectation, value, message}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			facts, items := factsOf(t, wrongTotal, abi.SourceAnswer{Tests: []abi.FailingTest{oldTest}, Changed: tc.changed, Intent: tc.intent})
			stale := false
			for i := range items {
				e := &items[i]
				if strings.HasPrefix(e.Content, "The behaviour changed on purpose, so the test is stale") {
					stale = true
				}
				if strings.HasPrefix(e.Content, "The behaviour") && (e.Supports != anytrial.Automation || !strings.Contains(e.Content, "commit 8c1f3a0d2b4e by Zoë)\n-\treturn 3\n+\treturn 1")) {
					t.Errorf("item %+v", e)
				}
			}
			if ahead := facts[anytrial.Automation] > facts[anytrial.Product]; stale != tc.stale || tc.stale && !ahead {
				t.Errorf("%v, items %+v", facts, items)
			}
		})
	}
}

// A frame in a helper of the tests says nothing about the test.
func TestAccept_EX3_HelpersOfTests(t *testing.T) {
	t.Parallel()
	for function, want := range map[string]string{
		"example.com/shop/cart_test.TestTotal(0xc000)": anytrial.Automation, "example.com/shop/cart_test.TestTotal.func1()": anytrial.Automation,
		"example.com/shop/cart_test.(*suite).TestTotal(0xc000)": anytrial.Automation, "example.com/shop/cart_test.equal(...)": "",
		"example.com/shop/cart_test.(*suite).open(0xc000, 0x1)": "",
	} {
		r := anytrial.LightCase(abi.FamilyInvestigate, "panic: no\n\ngoroutine 1 [running]:\n"+function+"\n\t/src/shop/cart_test.go:7 +0x1\n")
		if e := find(t, inquiry.Read(r, nil).Items(inquiry.First), "seeker-frame:log:L4"); e.Supports != want {
			t.Errorf("%s speaks for %q", function, e.Supports)
		}
	}
}
