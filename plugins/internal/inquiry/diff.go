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
	// Others' packages changed and nothing of the module: the product stands on
	// them, and so does what the test runs in.
	dependencyProductNats        = 0.3
	dependencyInfrastructureNats = 0.5
	// Nothing changed that the test reaches: the same code passed before. Where
	// the case speaks of what the test runs in, that is what changed.
	untouchedFlakeNats          = 0.8
	untouchedInfrastructureNats = 0.6
	untouchedSpokenNats         = 0.8
)

// maxDiffItems bounds the changed files that become items.
const maxDiffItems = 6

// bearing is what one changed file tells: of which label, and how much.
func bearing(f *abi.ChangedFile, roles Roles) (label string, nats float64) {
	named := len(f.Named) > 0
	switch {
	case f.Reach != abi.ReachPackage && f.Reach != abi.ReachImported:
		return "", 0
	case f.Kind == abi.SourceTest && f.Reach == abi.ReachPackage && named:
		return roles.Automation, ownTestNats
	case f.Kind == abi.SourceTest || f.Kind == abi.SourceFixture:
		return roles.Automation, besideTestNats
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
	return roles.Product, nats
}

// statement is what a diff as a whole tells of a label.
type statement struct {
	label, content string
	nats           float64
}

// overall is what a diff tells in which nothing of the module bears on the
// test; nothing where that is not known of all of it. spoken is what the case
// tells without the diff.
func overall(source *abi.SourceAnswer, roles Roles, spoken *Estimate) []statement {
	if !source.Diff || !source.Located {
		return nil
	}
	has := func(reaches ...abi.SourceReach) bool {
		return slices.ContainsFunc(source.Changed, func(f abi.ChangedFile) bool { return slices.Contains(reaches, f.Reach) })
	}
	const unchanged = "The diff touches nothing that the failing test reaches: "
	switch {
	case has(abi.ReachPackage, abi.ReachImported, abi.ReachUnknown):
		return nil
	case has(abi.ReachDependencies):
		const others = "Of what the failing test reaches the diff touches only the versions of others' packages: "
		return []statement{
			{roles.Infrastructure, others + "what it runs in may have changed with them", dependencyInfrastructureNats},
			{roles.Product, others + "the product stands on them", dependencyProductNats},
		}
	}
	const another = "what it runs in may be another"
	if spoken != nil && math.Log(spoken.Of(roles.Infrastructure)/spoken.Of(roles.Flake)) >= tellingNats {
		return []statement{{roles.Infrastructure, unchanged + another, untouchedSpokenNats}}
	}
	return []statement{
		{roles.Flake, unchanged + "the same code had another outcome", untouchedFlakeNats},
		{roles.Infrastructure, unchanged + another, untouchedInfrastructureNats},
	}
}

// changedFile tells of a changed file how it bears on the test.
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
	return said
}
