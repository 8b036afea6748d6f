package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
)

// maxFindings bounds a discovery; the strongest stay.
const maxFindings = 64

// discover reads the documents for what speaks for the labels: by the signals
// of the profile, and without a profile by the labels' own names. A profile
// without signals says that no phrase tells anything.
func discover(r *abi.NodeRequest) *abi.Discovery {
	if len(r.Case.Documents) == 0 {
		return &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{"the case has no documents to read"}}
	}
	if r.Profile != nil {
		return readSignals(r.Case.Documents, r.Case.Labels, r.Profile)
	}
	return readNames(r.Case.Documents, r.Case.Labels)
}
