package inquiry

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// What a diff tells of a test that failed, in nats, hand-tuned. The revision
// that it is taken from is one where the test passed, or is taken for one.
const (
	// changedNearNats: the diff touches lines near the place that failed; changedNats: it touches the file.
	changedNearNats = 1.4
	changedNats     = 0.7
	// onlyNats: of product and tests one changed near the test, and the other can't be the cause; fartherNats: elsewhere.
	onlyNats    = 2.0
	fartherNats = 1.1
	// besideNats: both changed; so much speaks for the product where it changed beside the test.
	besideNats = 1.1
	// Others' packages or the build changed and nothing of the module: the product stands on them, and so does what the test runs in.
	dependencyProductNats        = 0.8
	dependencyInfrastructureNats = 1.0
	// Nothing changed: the same code passed before. Where the case speaks of what the test runs in, that is what changed.
	untouchedFlakeNats          = 2.0
	untouchedInfrastructureNats = 1.8
	untouchedSpokenNats         = 2.2
)

// sourceKey is the source of items about the module's source.
const sourceKey = weigh.DiffSource

// IsSource says whether an item tells what the source shows.
func IsSource(e *abi.Evidence) bool { return odds.SourceKey(e.SourceRef) == sourceKey }

const (
	maxFrames = 50
	// maxQueryBytes bounds the text that the source is asked about.
	maxQueryBytes = 256 << 10
)

// Query asks for the files that the documents name, and for the test that the
// subject names: the heads and tails of documents that are long.
func Query(r *abi.NodeRequest, lines int) abi.SourceQuery {
	var b strings.Builder
	b.WriteString(r.Case.Subject)
	b.WriteByte('\n')
	room := maxQueryBytes / max(1, len(r.Case.Documents))
	for i := range r.Case.Documents {
		b.WriteString(ends(r.Case.Documents[i].Text, room))
		b.WriteByte('\n')
	}
	return abi.SourceQuery{Text: strings.ToValidUTF8(b.String(), ""), Limit: maxFrames, Lines: lines}
}

func ends(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:most/2] + "\n" + s[len(s)-most/2:]
}

// SourceItems are evidence of what the diff says of the places that a log names and of the test that failed, and the nats by which it moves
// the labels. spoken is what the case tells without it, or nil.
func SourceItems(r *abi.NodeRequest, source *abi.SourceAnswer, spoken *Estimate) (items []abi.Evidence, facts []float64) {
	if source == nil || !source.Known {
		return nil, nil
	}
	clues := &Clues{labels: r.Case.Labels, profile: r.Profile}
	facts = make([]float64, len(r.Case.Labels))
	// Of all that is told of a label the strongest counts.
	tell := func(ref string, s statement) {
		j := slices.Index(r.Case.Labels, s.label)
		if j < 0 {
			return
		}
		facts[j] = max(facts[j], s.nats)
		one := make([]float64, len(facts))
		one[j] = s.nats
		item := abi.Evidence{SourceRef: ref, Content: s.content, Element: abi.Water}
		item.Supports, item.RelevanceConfidence = clues.speaks(one, placeRelevance)
		items = append(items, item)
	}
	roles := RolesOf(r)
	if fresh := len(source.Tests) > 0 && source.Tests[0].New; fresh {
		tell(sourceKey+":diff", neverPassed(source, roles, spoken))
		return items, facts
	}
	told := make(map[string]bool) // files
	for i := range source.Frames {
		f := &source.Frames[i]
		if label := roles.of(f.Kind); label != "" && f.Changed && !told[f.Path] {
			told[f.Path] = true
			nats := changedNats
			if f.ChangedNear {
				nats = changedNearNats
			}
			tell(sourceKey+":"+f.Path+":"+text.Int(f.Line), statement{label, touched(f), nats})
		}
	}
	if source.Diff && source.Located {
		for _, s := range overall(source, roles, spoken) {
			tell(sourceKey+":diff", s)
		}
	}
	return items, facts
}

// statement is what a diff tells of a label.
type statement struct {
	label, content string
	nats           float64
}

// touched tells what the diff does to a place, with the lines as they are.
func touched(f *abi.SourceFrame) string {
	where := f.Path
	if f.Function != "" {
		where += ", in " + f.Function
	}
	said := "The diff touches " + where
	if f.ChangedNear {
		said = "The diff touches lines near " + where + ", line " + text.Int(f.Line)
	}
	if f.Excerpt == "" {
		return said
	}
	return said + "\n" + strings.TrimRight(ends(f.Excerpt, maxQuoteBytes), "\n")
}

// neverPassed tells of a new test that the diff says nothing of it: product and test are level, unless something else speaks.
func neverPassed(source *abi.SourceAnswer, roles Roles, spoken *Estimate) statement {
	// mostFresh is how far the product may lead before something else than that a value differs must speak for it.
	const mostFresh = 1.0
	lead := 0.0
	if spoken != nil {
		lead = math.Log(spoken.Of(roles.Product) / spoken.Of(roles.Automation))
	}
	if !(lead > 0 && lead < mostFresh) { // the label may be none of the case's
		lead = 0
	}
	return statement{roles.Automation, source.Tests[0].Name + " never passed on any tree: the revision that the diff begins at does not have it", lead}
}

// overall is what a diff as a whole tells: what did not change is not the cause. spoken is what the case tells without the diff.
func overall(source *abi.SourceAnswer, roles Roles, spoken *Estimate) []statement {
	var product, tests, dependencies *abi.ChangedFile // the first of each, which is the nearest
	for i := range source.Changed {
		f := &source.Changed[i]
		first := &product
		switch {
		case f.Reach == abi.ReachNone:
			continue
		case f.Reach == abi.ReachDependencies:
			first = &dependencies
		case f.Kind == abi.SourceTest || f.Kind == abi.SourceFixture:
			first = &tests
		}
		if *first == nil {
			*first = f
		}
	}
	only := func(f *abi.ChangedFile) float64 {
		if f.Reach == abi.ReachPackage {
			return onlyNats
		}
		return fartherNats
	}
	switch {
	case product != nil && tests != nil:
		if product.Reach != abi.ReachPackage {
			return nil
		}
		return []statement{{roles.Product, "The diff changes the product beside the failing test" + changed(product) + ", and tests or fixtures", besideNats}}
	case product != nil:
		return []statement{{roles.Product, "The diff changes the product" + changed(product) + ", and no test or fixture", only(product)}}
	case tests != nil && dependencies == nil:
		return []statement{{roles.Automation, "The diff changes tests or fixtures" + changed(tests) + ", and no code of the product", only(tests)}}
	case tests != nil:
		return nil
	case dependencies != nil:
		others := "The diff changes only the versions of others' packages, or how the tests are built" + changed(dependencies) + ": "
		return []statement{
			{roles.Infrastructure, others + "the environment of the test may have changed with them", dependencyInfrastructureNats},
			{roles.Product, others + "the product depends on them", dependencyProductNats},
		}
	}
	const unchanged = "The diff changes no code: "
	const another = "the environment of the test may have changed"
	if spoken != nil && math.Log(spoken.Of(roles.Infrastructure)/spoken.Of(roles.Flake)) >= tellingNats {
		return []statement{{roles.Infrastructure, unchanged + another, untouchedSpokenNats}}
	}
	return []statement{
		{roles.Flake, unchanged + "the same code once passed", untouchedFlakeNats},
		{roles.Infrastructure, unchanged + another, untouchedInfrastructureNats},
	}
}

func changed(f *abi.ChangedFile) string {
	return " (" + f.Path + ", +" + text.Int(f.Added) + " -" + text.Int(f.Removed) + ")"
}

// SourceFacts are the nats of the items about the source that are in the evidence: what an investigation learned of the diff, for those who
// may not ask for it themselves.
func SourceFacts(r *abi.NodeRequest) []float64 {
	facts := make([]float64, len(r.Case.Labels))
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		if !IsSource(e) {
			continue
		}
		one := make([]float64, len(facts))
		addWitness(one, r.Case.Labels, e.Supports, e.RelevanceConfidence)
		for j, x := range one {
			facts[j] = max(facts[j], x)
		}
	}
	odds.Limit(facts, factCap)
	return facts
}
