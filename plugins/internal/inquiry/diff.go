package inquiry

import (
	"math"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// What a diff tells of a test that failed, in nats, hand-tuned. The revision
// that it is taken from is one where the test passed, or is taken for one.
const (
	// A change of the product is the nearer the fewer imports lie between it and
	// the test; a function that the test or the log names is nearer still.
	packageNats  = 1.1
	importedNats = 0.8
	fartherNats  = 0.5
	namedNats    = 0.5
	// ownTestNats: the failing test itself was changed; besideTestNats: another
	// test of its package, or its data.
	ownTestNats    = 1.4
	besideTestNats = 0.6
	// onlyNats: of product and tests one changed, and the other can't be the cause.
	onlyNats = 2.0
	// Others' packages or the build changed and nothing of the module: the product stands on
	// them, and so does what the test runs in.
	dependencyProductNats        = 0.8
	dependencyInfrastructureNats = 1.0
	// Nothing changed that the test reaches: the same code passed before. Where
	// the case speaks of what the test runs in, that is what changed.
	untouchedFlakeNats          = 2.0
	untouchedInfrastructureNats = 1.8
	untouchedSpokenNats         = 2.2
)

// maxDiffItems bounds the changed files that become items.
const maxDiffItems = 6

// scene is what of a diff bears on the failing test.
type scene struct {
	source *abi.SourceAnswer
	roles  Roles
	// whole: the test was found, and it is known of every change whether it bears on it.
	whole                        bool
	product, tests, dependencies bool
	// fresh: the test is new.
	fresh bool
}

func sceneOf(source *abi.SourceAnswer, roles Roles) *scene {
	s := &scene{source: source, roles: roles, whole: source.Diff && source.Located}
	for i := range source.Changed {
		switch f := &source.Changed[i]; {
		case f.Reach == abi.ReachUnknown:
			s.whole = false
		case f.Reach == abi.ReachDependencies:
			s.dependencies = true
		case f.Reach == abi.ReachNone:
		case f.Kind == abi.SourceTest || f.Kind == abi.SourceFixture:
			s.tests = true
		default:
			s.product = true
		}
	}
	s.fresh = source.Diff && len(source.Tests) > 0 && source.Tests[0].New
	return s
}

// found says whether it is a test that was found, and not only the code that failed.
func (s *scene) found() bool {
	return len(s.source.Tests) > 0 ||
		slices.ContainsFunc(s.source.Frames, func(f abi.SourceFrame) bool { return f.Kind == abi.SourceTest })
}

// bearing is what one changed file tells: of which label, and how much.
func (s *scene) bearing(f *abi.ChangedFile) (label string, nats float64) {
	named := len(f.Named) > 0
	switch {
	case f.Reach != abi.ReachPackage && f.Reach != abi.ReachImported:
		return "", 0
	case f.Kind == abi.SourceTest && f.Reach == abi.ReachPackage && named:
		return s.roles.Automation, ownTestNats
	case f.Kind == abi.SourceTest || f.Kind == abi.SourceFixture:
		return s.roles.Automation, besideTestNats
	case f.Kind != abi.SourceProduct:
		return "", 0
	}
	nats = fartherNats
	switch {
	case f.Reach == abi.ReachPackage:
		nats = packageNats
	case f.Distance <= 1:
		nats = importedNats
	}
	if named {
		nats += namedNats
	}
	if s.meant() {
		nats = min(nats, meantProductNats)
	}
	return s.roles.Product, nats
}

// statement is what a diff as a whole tells of a label.
type statement struct {
	label, content string
	nats           float64
}

// overall is what a diff as a whole tells: which causes it leaves, where that
// is known of all of it. spoken is what the case tells without the diff.
func (s *scene) overall(spoken *Estimate) []statement {
	switch {
	case s.fresh:
		return s.neverPassed(spoken)
	case !s.whole:
		return nil
	case s.product && !s.tests && s.found() && !s.meant():
		return []statement{{s.roles.Product, "Of what the failing test uses the diff changes the product, and no test or fixture", onlyNats}}
	case s.tests && !s.product && !s.dependencies:
		return []statement{{s.roles.Automation, "Of what the failing test uses the diff changes tests or fixtures, and no code of the product", onlyNats}}
	case s.product || s.tests:
		return nil
	case s.dependencies:
		const others = "Of what the failing test reaches the diff touches only the versions of others' packages, or how it is built: "
		return []statement{
			{s.roles.Infrastructure, others + "the environment of the test may have changed with them", dependencyInfrastructureNats},
			{s.roles.Product, others + "the product depends on them", dependencyProductNats},
		}
	}
	const unchanged = "The diff changes no code that the failing test uses: "
	const another = "its environment may have changed"
	if spoken != nil && math.Log(spoken.Of(s.roles.Infrastructure)/spoken.Of(s.roles.Flake)) >= tellingNats {
		return []statement{{s.roles.Infrastructure, unchanged + another, untouchedSpokenNats}}
	}
	return []statement{
		{s.roles.Flake, unchanged + "the same code once passed", untouchedFlakeNats},
		{s.roles.Infrastructure, unchanged + another, untouchedInfrastructureNats},
	}
}

// announcedNats: documents or messages tell of what a new test checks, so that it is the product which lacks it.
const announcedNats = 0.9

// mostFresh is how far the product may lead for a new test before something
// else than that a value differs must speak for it.
const mostFresh = 1.0

// neverPassed tells of a new test that the diff says nothing of it: product and
// test are level, unless something else speaks.
func (s *scene) neverPassed(spoken *Estimate) []statement {
	content := s.source.Tests[0].Name + " never passed on any tree: the revision that the diff begins at does not have it"
	lead := 0.0
	if spoken != nil {
		lead = math.Log(spoken.Of(s.roles.Product) / spoken.Of(s.roles.Automation))
	}
	if !(lead > 0 && lead < mostFresh) { // the label may be none of the case's
		lead = 0
	}
	list := []statement{{s.roles.Automation, content, lead}}
	for i := range s.source.Intent {
		if in := &s.source.Intent[i]; in.Kind == abi.IntentDocuments || in.Kind == abi.IntentMessage {
			list = append(list, statement{s.roles.Product, "What the new test checks was announced: " + meaning(in) + shown(&in.Hunk), lead + announcedNats})
			break
		}
	}
	return list
}

// changedFile tells of a changed file how it bears on the test, and shows its
// nearest hunk.
func changedFile(f *abi.ChangedFile) string {
	where := ", in the package of the failing test"
	switch {
	case f.Reach == abi.ReachImported && f.Distance > 1:
		where = ", which the failing test reaches through " + text.Count(f.Distance, "import")
	case f.Reach == abi.ReachImported:
		where = ", which the failing test's package imports"
	}
	said := "The diff touches " + f.Path + " (+" + text.Int(f.Added) + " -" + text.Int(f.Removed) + ")" + where
	if len(f.Named) > 0 {
		said += "; the test or the log names what it touches there: " + strings.Join(f.Named, ", ")
	}
	if f.Hunk != nil {
		said += shown(f.Hunk)
	}
	return said
}

// shown is a hunk with who made it.
func shown(h *abi.SourceHunk) string {
	said := ""
	if h.Commit != "" {
		said = " (commit " + h.Commit
		if h.Author != "" {
			said += " by " + h.Author
		}
		said += ")"
	}
	return said + "\n" + strings.TrimRight(ends(h.Text, maxQuoteBytes), "\n")
}
