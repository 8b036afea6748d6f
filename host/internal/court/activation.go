package court

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// activate says what becomes of a case before any trial: an empty status
// means that it is tried.
func activate(config *abi.CourtConfig, confidence float64) trial.Status {
	switch {
	case !config.Enabled:
		return trial.Unreviewed
	case confidence >= config.ActivationThreshold:
		return trial.Accepted
	case confidence < config.RejectionThreshold:
		return trial.Rejected
	default:
		return ""
	}
}
