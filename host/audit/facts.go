package audit

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Facts are what the host knows of the evidence that judges may cite: what is
// there, and what stands in the documents. The zero value knows nothing; it is
// filled by one goroutine and read by any number.
type Facts struct {
	refs map[string]fact
}

// fact is what is known of the items of one source_ref.
type fact struct {
	stands   bool   // one of them at least is not absent
	document string // that claims it, for one that is absent
}

// Add says of an item what was found when its content was looked up in the
// documents; document is the one that the item names.
func (f *Facts) Add(sourceRef string, status abi.QuoteStatus, document string) {
	if f.refs == nil {
		f.refs = make(map[string]fact)
	}
	known := f.refs[sourceRef]
	known.stands = known.stands || status != abi.QuoteAbsent
	if known.document == "" {
		known.document = document
	}
	f.refs[sourceRef] = known
}

// missing says why an item can't be cited; empty if it can. An item that does
// not stand can be accused of a violation, and not relied on.
func (f *Facts) missing(sourceRef string, accused bool) string {
	switch known, there := f.refs[sourceRef]; {
	case !there:
		return "which is not in the evidence"
	case !known.stands && !accused:
		return "which does not stand in " + quoted(known.document)
	default:
		return ""
	}
}

// overrules says why an opinion does not count; empty if it does. A violation is
// one that stands: whoever alleges it has to say of what.
func (f *Facts) overrules(o *abi.CriterionOpinion) string {
	cited := slices.Sorted(slices.Values(o.CitedEvidence))
	for _, ref := range slices.Compact(cited) {
		if why := f.missing(ref, o.SecurityViolationFound); why != "" {
			return "it cites " + quoted(ref) + ", " + why
		}
	}
	if o.SecurityViolationFound && len(cited) == 0 {
		return "it alleges a security violation, and cites nothing that has one"
	}
	return ""
}
