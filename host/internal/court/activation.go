package court

import "github.com/shadowcourt/shadowcourt/abi"

// activate says what becomes of a case before any trial: an empty status
// means that it is tried.
func activate(config *abi.CourtConfig, confidence float64) Status {
	switch {
	case !config.Enabled:
		return Unreviewed
	case confidence >= config.ActivationThreshold:
		return Accepted
	case confidence < config.RejectionThreshold:
		return Rejected
	default:
		return ""
	}
}
