package court

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
)

// Names of the host's own in source_refs of the evidence that judges get. What
// comes from elsewhere can't bear them: see foreignNames.
const (
	// opinionName is the document of that name: the text under audit.
	opinionName = "opinion"
	// forensicsName is what the host found when it looked an item up.
	forensicsName = "forensics"
	// dissentName is what another judge said in the first round.
	dissentName = "dissent"
)

// foreignMark stands before a name of the host's own that comes from elsewhere.
const foreignMark = "item:"

func reserved(ref string) bool {
	name, _, _ := strings.Cut(ref, ":")
	return slices.Contains([]string{opinionName, forensicsName, dissentName}, name)
}

// foreignNames names what comes from elsewhere so that it can't speak as the host.
type foreignNames struct{ mark string }

// foreignTo finds a mark that makes no name of a subject that is there already:
// foreignMark, as often as it takes.
func foreignTo(s *audit.Subject) foreignNames {
	marks := 1
	taken := func(name string) {
		n := 0
		for rest := name; ; n++ {
			if reserved(rest) {
				marks = max(marks, n+1)
			}
			var marked bool
			if rest, marked = strings.CutPrefix(rest, foreignMark); !marked {
				return
			}
		}
	}
	for i := range s.Documents {
		taken(s.Documents[i].Name)
	}
	for i := range s.Evidence {
		taken(s.Evidence[i].SourceRef)
	}
	return foreignNames{strings.Repeat(foreignMark, marks)}
}

// name is the name by which collectors and judges know a document or a source.
func (f foreignNames) name(ref string) string {
	if reserved(ref) {
		return f.mark + ref
	}
	return ref
}

// origin is what a name was elsewhere.
func (f foreignNames) origin(name string) string {
	if ref, marked := strings.CutPrefix(name, f.mark); marked && reserved(ref) {
		return ref
	}
	return name
}

// documents of the case, by these names. They differ as those of the case do.
func (f foreignNames) documents(s *audit.Subject) []abi.Document {
	list := slices.Clone(s.Documents)
	for i := range list {
		list[i].Name = f.name(list[i].Name)
	}
	return list
}
