package inquiry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

// What the court asks about comes first, then what was selected.
func TestWhatIsAskedComesFirst(t *testing.T) {
	t.Parallel()
	const log = "    a_test.go:1: it is\n    b_test.go:2: it was\n    c_test.go:3: the billing gateway is late\n"
	r := testkit.LightCase(abi.FamilyInvestigate, log)
	order := func() string {
		return strings.Join(refs(inquiry.Read(r, nil).Items(inquiry.Deepest)), " ")
	}
	if got := order(); got != "seeker-report:log:L1 seeker-report:log:L2 seeker-report:log:L3" {
		t.Errorf("without a focus %s", got)
	}
	r.File.Resolve = &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "b", FocusPaths: []string{"shop/b_test.go:2"}}}}
	if got := order(); got != "seeker-report:log:L2 seeker-report:log:L1 seeker-report:log:L3" {
		t.Errorf("with a focus %s", got)
	}
	r.File.Feedback = &abi.RemandFeedback{Questions: []abi.Question{{ID: "q", Question: "Was the billing gateway reachable?"}}}
	if got := order(); got != "seeker-report:log:L3 seeker-report:log:L2 seeker-report:log:L1" {
		t.Errorf("when asked %s", got)
	}
}

// A remand looks at more of the same than any traversal before, and at that only then.
func TestARemandReadsDeeper(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyInvestigate, strings.Repeat("the disk is full on a\n", 1)+"the disk is full on b\nthe disk is full on c\nthe disk is full on the fourth\n")
	const fourth = "seeker-signal:log:L4"
	if got := refs(inquiry.Read(r, nil).Items(inquiry.Remanded)); slices.Contains(got, fourth) {
		t.Errorf("without a remand %v", got)
	}
	r.File.Feedback = &abi.RemandFeedback{}
	clues := inquiry.Read(r, nil)
	if slices.Contains(refs(clues.Items(inquiry.Deepest)), fourth) || !slices.Contains(refs(clues.Items(inquiry.Remanded)), fourth) {
		t.Errorf("on a remand %v, at its depth %v", refs(clues.Items(inquiry.Deepest)), refs(clues.Items(inquiry.Remanded)))
	}
	for file, want := range map[*abi.LightFile]int{
		nil:            inquiry.First,
		{LoopsLeft: 0}: inquiry.First, // nothing was investigated
		{LoopsLeft: 2, Investigate: &abi.InvestigateArtifact{}}:                                  inquiry.First,
		{LoopsLeft: 1, Investigate: &abi.InvestigateArtifact{}}:                                  inquiry.Second,
		{LoopsLeft: 0, Investigate: &abi.InvestigateArtifact{}}:                                  inquiry.Deepest,
		{LoopsLeft: 2, Investigate: &abi.InvestigateArtifact{}, Feedback: &abi.RemandFeedback{}}: inquiry.Remanded,
	} {
		if got := inquiry.DepthOf(file); got != want {
			t.Errorf("%+v is read at depth %d, want %d", file, got, want)
		}
	}
}

// What the case's evidence quotes is given again only as another reading.
func TestUnheld(t *testing.T) {
	t.Parallel()
	const log = "wrong total of one\n    a_test.go:2: wrong total\n        of the cart\n"
	r := testkit.LightCase(abi.FamilyInvestigate, log)
	clues := inquiry.Read(r, nil)
	all := clues.Items(inquiry.Deepest)
	for _, tc := range []struct {
		name string
		item abi.Evidence
		want int
	}{
		{"the same line", abi.Evidence{SourceRef: "log:L1", Content: "wrong total of one", Supports: testkit.Product}, 1},
		{"a part of the lines", abi.Evidence{SourceRef: "log:L2", Content: "    a_test.go:2: wrong total", Supports: testkit.Product}, 1},
		{"the same words in another kind of reading", abi.Evidence{SourceRef: "probe:log:L1", Content: "wrong total of one", Supports: testkit.Product}, 1},
		{"a quote that doesn't say where it stands", abi.Evidence{SourceRef: "probe", Content: "    a_test.go:2: wrong total\n        of the cart", Supports: testkit.Product}, 1},
		{"another label", abi.Evidence{SourceRef: "log:L1", Content: "wrong total of one", Supports: testkit.Flake}, 2},
		{"another document", abi.Evidence{SourceRef: "other:L1", Content: "wrong", Supports: testkit.Product}, 2},
		{"its own", all[0], 2},
		{"nothing", abi.Evidence{SourceRef: "log:L1", Content: " "}, 2},
	} {
		if got := clues.Unheld(all, []abi.Evidence{tc.item}); len(all) != 2 || len(got) != tc.want {
			t.Errorf("%s: %d of %d are left: %v", tc.name, len(got), len(all), refs(got))
		}
	}
}

// A label leads where something speaks for it, and less for any other.
func TestLeads(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]bool{
		"nothing to see\n": false, "wrong total\n": true, "wrong total\nthe disk is full\n": false, "    a_test.go:2: got 1, want 2\n": true,
	} {
		if e := weigh(testkit.LightCase(abi.FamilyReport, log)); e.Leads() != want {
			t.Errorf("%q: %+v", log, *e)
		}
	}
}
