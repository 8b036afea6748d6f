package sandbox

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/internal/pages"

// Reset is how an instance is made pristine again after a call.
type Reset int

// The ways, the cheapest first. See package pages for what they do.
const (
	// ResetAuto takes the cheapest that works here.
	ResetAuto Reset = iota
	ResetScan
	ResetDiscard
	ResetCompare
	// ResetFresh makes a new instance for every call: what all the others have
	// to be equal to.
	ResetFresh
)

// way of package pages. What is new anyway needs no help of the kernel.
func (r Reset) way() pages.Way {
	switch r {
	case ResetAuto:
		return pages.Auto
	case ResetScan:
		return pages.Scan
	case ResetDiscard:
		return pages.Discard
	case ResetCompare, ResetFresh:
		return pages.Compare
	}
	return pages.Compare
}

func (r Reset) String() string {
	if r == ResetFresh {
		return "fresh"
	}
	return r.way().String()
}
