package bench

import (
	"github.com/shadowcourt/shadowcourt/abi"
)

// maxFindings bounds a discovery; the strongest stay.
const maxFindings = 64

// discover reads the documents for what speaks for the labels: by the
// profile's signals where it has some, otherwise by the labels' own names. That
// a profile has none may only say that too few cases were there to learn any.
func discover(r *abi.NodeRequest) *abi.Discovery {
	if len(r.Case.Documents) == 0 {
		return &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{"the case has no documents to read"}}
	}
	if r.Profile != nil && len(r.Profile.Signals) > 0 {
		return readSignals(r.Case.Documents, r.Case.Labels, r.Profile)
	}
	return readNames(r.Case.Documents, r.Case.Labels)
}
