package inquiry_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/plugins/internal/inquiry"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit"
)

const crash = `--- FAIL: TestTotal (0.00s)
panic: boom [recovered]
	boom

goroutine 7 [running]:
testing.tRunner(0x1)
	/usr/local/go/src/testing/testing.go:1 +0x1
shop.Total(...)
	/src/shop/cart.go:12 +0x1d
shop.TestTotal(0x1)
	/src/shop/cart_test.go:7 +0x2

goroutine 1 [running]:
main.main()
	/src/shop/main.go:3 +0x1
`

func find(t *testing.T, items []abi.Evidence, ref string) *abi.Evidence {
	t.Helper()
	for i := range items {
		if items[i].SourceRef == ref {
			return &items[i]
		}
	}
	t.Fatalf("no item %s in %+v", ref, items)
	return nil
}

func refs(items []abi.Evidence) []string {
	var out []string
	for i := range items {
		out = append(out, items[i].SourceRef)
	}
	return out
}

func TestWhatPlacesTell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, log, ref, content, supports string
	}{
		{"the first own frame of a crash", crash, "seeker-frame:log:L8", "shop.Total(...)\n\t/src/shop/cart.go:12 +0x1d", testkit.Product},
		{"the message of a crash", crash, "seeker-crash:log:L2", "panic: boom [recovered]\n\tboom", ""},
		{"a test that doesn't compile", "# shop\n./cart_test.go:3:1: undefined: x\n", "seeker-diagnostic:log:L2", "./cart_test.go:3:1: undefined: x", testkit.Automation},
		{"a product that doesn't compile", "./cart.go:3:1: undefined: x\n", "seeker-diagnostic:log:L1", "./cart.go:3:1: undefined: x", testkit.Product},
		{"a value that the test didn't want", "    cart_test.go:9: got 1\n        want 2\n", "seeker-report:log:L1", "    cart_test.go:9: got 1\n        want 2", testkit.Product},
		{"an error that the test ran into", "    cart_test.go:9: open x: permission denied\n", "seeker-report:log:L1", "    cart_test.go:9: open x: permission denied", testkit.Infrastructure},
		{"an error that an assertion hands on", "    cart_test.go:9: \n        \tError Trace:\tcart_test.go:9\n        \tError:      \tReceived unexpected error:\n", "seeker-report:log:L1", "    cart_test.go:9: \n        \tError Trace:\tcart_test.go:9\n        \tError:      \tReceived unexpected error:", testkit.Infrastructure},
		{"another error than the test wanted", "    cart_test.go:9: expected error, got <nil>\n", "seeker-report:log:L1", "    cart_test.go:9: expected error, got <nil>", testkit.Product},
		{"a message that says nothing of the kind", "    cart_test.go:9: bad: [80 82]\n", "seeker-report:log:L1", "    cart_test.go:9: bad: [80 82]", ""},
		{"a signal", "all is well\nthe disk is full\n", "seeker-signal:log:L2", "the disk is full", testkit.Infrastructure},
		{"a signal within a message", "    cart_test.go:9: x\n        wrong total\n", "seeker-report:log:L1", "    cart_test.go:9: x\n        wrong total", testkit.Product},
		{"two signals that disagree", "the disk is full, took too long\n", "seeker-signal:log:L1", "the disk is full, took too long", ""},
		{"Python's frames", "Traceback (most recent call last):\n  File \"/app/cart.py\", line 3, in total\n", "seeker-frame:log:L2", "  File \"/app/cart.py\", line 3, in total", testkit.Product},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			e := find(t, inquiry.Read(testkit.LightCase(abi.FamilyInvestigate, tc.log), nil).Items(inquiry.First), tc.ref)
			if e.Content != tc.content || e.Supports != tc.supports || e.Element != abi.Water {
				t.Errorf("got %+v", *e)
			}
		})
	}
}

func TestTheSourceKnowsBetter(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyInvestigate, crash)
	source := &abi.SourceAnswer{Known: true, Frames: []abi.SourceFrame{
		{Path: "shop/cart.go", Line: 12, Kind: abi.SourceTest, Function: "Total", Changed: true, ChangedNear: true, Excerpt: "return 0"},
		{Path: "shop/cart_test.go", Line: 7, Kind: abi.SourceTest},
	}}
	if e := find(t, inquiry.Read(r, source).Items(inquiry.First), "seeker-frame:log:L8"); e.Supports != "" {
		t.Errorf("a frame in a helper of the tests speaks for %s", e.Supports)
	}
	items, facts := inquiry.SourceItems(r, source, nil)
	if len(items) != 1 || items[0].SourceRef != "seeker-source:shop/cart.go:12" || items[0].Supports != testkit.Automation || !strings.Contains(items[0].Content, "return 0") {
		t.Fatalf("items %+v", items)
	}
	r.Case.Evidence = items
	if again := inquiry.SourceFacts(r); math.Abs(again[1]-facts[1]) > 1e-9 || facts[1] <= 0 {
		t.Errorf("facts %v, read back from the evidence %v", facts, again)
	}
}

func weigh(r *abi.NodeRequest) *inquiry.Estimate {
	return inquiry.Read(r, nil).Weigh(r, inquiry.Deepest, nil)
}

func TestEstimate(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyReport, "nothing to see\n")
	if e := weigh(r); !e.Thin() || e.Settled() != 0 || e.Of(testkit.Product) != 0.25 {
		t.Errorf("of nothing: %+v", e)
	}
	r = testkit.LightCase(abi.FamilyReport, "the disk is full\n")
	alone := weigh(r)
	if top, p := alone.Top(testkit.Product); top != testkit.Infrastructure || p < 0.6 || alone.Thin() {
		t.Errorf("of a signal: %s %v", top, p)
	}
	r.Case.Evidence = inquiry.Read(r, nil).Items(inquiry.Deepest)
	if again := weigh(r); !slices.Equal(again.Posterior, alone.Posterior) {
		t.Errorf("what was gathered counts twice: %v, before %v", again.Posterior, alone.Posterior)
	}
	r.File.Recall = &abi.RecallResult{Match: true, PriorCase: "c", Classification: testkit.Infrastructure, Confidence: 0.8}
	known := weigh(r)
	if known.Of(testkit.Infrastructure) <= alone.Of(testkit.Infrastructure) {
		t.Error("an earlier case counts nothing")
	}
	r.Case.Evidence = append(r.Case.Evidence, abi.Evidence{SourceRef: "casebook:c", Content: "as before", Supports: testkit.Infrastructure, RelevanceConfidence: 0.8})
	r.File.Correlate = &abi.CorrelateResult{LinkedCase: "c", Classification: testkit.Infrastructure, Confidence: 0.8}
	if again := weigh(r); !slices.Equal(again.Posterior, known.Posterior) {
		t.Errorf("one earlier case counts twice: %v, before %v", again.Posterior, known.Posterior)
	}
	r.Case.Evidence = []abi.Evidence{{SourceRef: "witness", Content: "I saw it", Supports: testkit.Flake, RelevanceConfidence: 0.9}}
	r.File = nil
	if e := weigh(r); e.Of(testkit.Flake) <= alone.Of(testkit.Flake) {
		t.Error("another witness counts nothing")
	}
}

func TestInjectedTextDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, log := range []string{"the disk is full\n", crash, "", "    cart_test.go:9: wrong total\n"} {
		before := weigh(testkit.LightCase(abi.FamilyReport, log))
		for _, label := range []string{testkit.Product, testkit.Flake} {
			r := testkit.LightCase(abi.FamilyReport, log+testkit.Injection(label))
			r.Case.Documents = append(r.Case.Documents, abi.Document{Name: "notes", Text: testkit.Injection(label)})
			if after := weigh(r); !slices.Equal(after.Posterior, before.Posterior) {
				t.Errorf("%q: %v, before %v", log, after.Posterior, before.Posterior)
			}
		}
	}
}

func TestTopics(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyReport, "connecting to the billing gateway at nine\nthe gateway of billing gave up\nbilling is fun\nthe disk is full\n")
	r.Case.Evidence = []abi.Evidence{{SourceRef: "log:L4", Content: "the disk is full", Supports: testkit.Infrastructure}}
	r.File.Feedback = &abi.RemandFeedback{Questions: []abi.Question{
		{ID: "q1", Question: "What tells product_bug (0.40) from no_defect (0.35)?"},
		{ID: "q2", Question: `Item [0] log:L4 "the disk is full" is quoted twice: what else shows what it says?`},
		{ID: "q3", Question: "Was the billing gateway reachable?"},
	}}
	topics := inquiry.Topics(r)
	item := func(supports, content string) *abi.Evidence {
		return &abi.Evidence{Supports: supports, Content: content}
	}
	for _, tc := range []struct {
		topic int
		item  *abi.Evidence
		want  bool
	}{
		{0, item(testkit.Product, ""), true},
		{0, item(testkit.Flake, ""), true},
		{0, item(testkit.Automation, ""), false},
		{1, item(testkit.Infrastructure, ""), true},
		{1, item(testkit.Flake, ""), false},
		{2, item("", "the gateway of Billing is down"), true},
		{2, item("", "billing is down"), false},
	} {
		if got := topics[tc.topic].Concerns(tc.item); got != tc.want {
			t.Errorf("question %d and %+v: %v", tc.topic, *tc.item, got)
		}
	}
	if len(topics[1].Items) != 1 || len(topics[0].Items) != 0 {
		t.Errorf("items %v, %v", topics[0].Items, topics[1].Items)
	}
	found := refs(inquiry.Read(r, nil).Search(&topics[2]))
	slices.Sort(found)
	if !slices.Equal(found, []string{"seeker-answer:log:L1", "seeker-answer:log:L2"}) {
		t.Errorf("searched %v", found)
	}
}

// A file that lies where packages of others do is the module's own if the source has it.
func TestTheSourceKnowsItsOwn(t *testing.T) {
	t.Parallel()
	log := "panic: boom\n\nshop.Total()\n\t/go/pkg/mod/shop@v1/cart.go:12 +0x1\n"
	if got := refs(inquiry.Read(testkit.LightCase(abi.FamilyInvestigate, log), nil).Items(inquiry.Deepest)); slices.Contains(got, "seeker-frame:log:L3") {
		t.Errorf("%v has a frame of somebody else's", got)
	}
	source := &abi.SourceAnswer{Known: true, Frames: []abi.SourceFrame{{Path: "cart.go", Line: 12, Kind: abi.SourceProduct}}}
	if got := refs(inquiry.Read(testkit.LightCase(abi.FamilyInvestigate, log), source).Items(inquiry.Deepest)); !slices.Contains(got, "seeker-frame:log:L3") {
		t.Errorf("%v lacks a frame that the source has", got)
	}
}

// A witness whom the court challenged counts less, and so does one whom nobody measured, and one who read the lines that are read here.
func TestDoubtfulWitnessesCountLess(t *testing.T) {
	t.Parallel()
	const log = "    cart_test.go:9: it is\n    cart_test.go:10: got 1\n"
	flake := func(item abi.Evidence, measured, challenged bool) float64 {
		r := testkit.LightCase(abi.FamilyReport, log)
		item.Supports, item.RelevanceConfidence = testkit.Flake, 0.8
		r.Case.Evidence = []abi.Evidence{item}
		if challenged {
			r.File.Feedback = &abi.RemandFeedback{Challenged: []abi.ChallengedItem{{EvidenceIndex: 0, Why: "is doubtful"}}}
		}
		if measured {
			r.Profile.Sources = append(slices.Clone(r.Profile.Sources), abi.SourceReliability{
				Source: "witness", Share: 1, Cap: 3, Statements: []abi.SourceStatement{{Says: testkit.Flake, Given: []abi.LabelWeight{
					{Label: testkit.Product, Weight: 0.1}, {Label: testkit.Flake, Weight: 0.8}, {Label: testkit.Automation, Weight: 0.1}, {Label: testkit.Infrastructure, Weight: 0.1},
				}}},
			})
		}
		return weigh(r).Of(testkit.Flake)
	}
	seen := abi.Evidence{SourceRef: "witness", Content: "I saw it"}
	read := abi.Evidence{SourceRef: "witness:log:L1", Content: "    cart_test.go:9: it is"}
	none, whole, unmeasured := flake(abi.Evidence{SourceRef: "witness"}, false, true), flake(seen, true, false), flake(seen, false, false)
	for name, doubted := range map[string]float64{
		"unmeasured": unmeasured, "a reading of what is read here": flake(read, true, false), "challenged": flake(seen, true, true),
	} {
		if doubted >= whole || doubted <= none {
			t.Errorf("%s: %v, whole %v, nobody %v", name, doubted, whole, none)
		}
	}
}

// What a question finds by its words is no line that is evidence already.
func TestSearchLeavesCluesAlone(t *testing.T) {
	t.Parallel()
	r := testkit.LightCase(abi.FamilyInvestigate, "the disk is full on billing gateway\n")
	r.File.Feedback = &abi.RemandFeedback{Questions: []abi.Question{{ID: "q", Question: "Was the billing gateway reachable?"}}}
	topics := inquiry.Topics(r)
	check.Len(t, inquiry.Read(r, nil).Search(&topics[0]), 0, "found")
}

// The verdict on an earlier case rests on text like this one's: where both say the same, the surer of them counts, and not both.
func TestAnEarlierVerdictIsNoSecondObservation(t *testing.T) {
	t.Parallel()
	of := func(log string, confidence float64) float64 {
		r := testkit.LightCase(abi.FamilyReport, log)
		if confidence > 0 {
			r.File.Recall = &abi.RecallResult{Match: true, PriorCase: "c", Classification: testkit.Infrastructure, Confidence: confidence}
		}
		return weigh(r).Of(testkit.Infrastructure)
	}
	text, verdict, both := of("the disk is full\n", 0), of("", 0.9), of("the disk is full\n", 0.9)
	if math.Abs(both-verdict) > 1e-9 || text >= both {
		t.Errorf("text %v, verdict %v, both %v", text, verdict, both)
	}
	if weak := of("the disk is full\n", 0.3); math.Abs(weak-text) > 1e-9 {
		t.Errorf("a weak match moves %v to %v", text, weak)
	}
	if contradicted := of("took too long\n", 0.9); contradicted >= verdict || contradicted <= of("took too long\n", 0) {
		t.Errorf("against the text the verdict counts %v", contradicted)
	}
}

// What the court asks about comes first, then what was selected.
func TestWhatIsAskedComesFirst(t *testing.T) {
	t.Parallel()
	const log = "    a_test.go:1: it is\n    b_test.go:2: it was\n    c_test.go:3: the billing gateway is late\n"
	r := testkit.LightCase(abi.FamilyInvestigate, log)
	order := func() string {
		return strings.Join(refs(inquiry.Read(r, nil).Items(inquiry.Deepest)), " ")
	}
	check.Equal(t, order(), "seeker-report:log:L1 seeker-report:log:L2 seeker-report:log:L3", "without a focus")
	r.File.Resolve = &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "b", FocusPaths: []string{"shop/b_test.go:2"}}}}
	check.Equal(t, order(), "seeker-report:log:L2 seeker-report:log:L1 seeker-report:log:L3", "with a focus")
	r.File.Feedback = &abi.RemandFeedback{Questions: []abi.Question{{ID: "q", Question: "Was the billing gateway reachable?"}}}
	check.Equal(t, order(), "seeker-report:log:L3 seeker-report:log:L2 seeker-report:log:L1", "when asked")
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
		check.Equal(t, inquiry.DepthOf(file), want, file, "read at depth")
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
