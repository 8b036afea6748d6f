package measure

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// tried is a case that went before the court: Light's answer with its confidence, the court's with its own ("" leaves it
// open), and the right label.
func tried(light string, stated float64, court string, final float64, truth string) Observation {
	status := trial.Affirmed
	decision := abi.Affirm
	switch court {
	case "":
		status, decision = trial.Acquitted, abi.Acquit
	case light:
	default:
		status, decision = trial.Amended, abi.Amend
	}
	return Observation{
		Truth: truth, Light: trial.Answer{Classification: light, Confidence: stated},
		Activated: true, Status: status, Decision: decision, Final: trial.Answer{Classification: court, Confidence: final},
	}
}

// with changes an observation.
func with(o Observation, change func(*Observation)) Observation {
	change(&o)
	return o
}

// untried is a case that Light was sure of, or hopeless at.
func untried(light string, stated float64, truth string) Observation {
	o := tried(light, stated, "", 0, truth)
	o.Activated, o.Decision, o.Status = false, "", trial.Rejected
	if stated >= 0.85 {
		o.Status, o.Final = trial.Accepted, trial.Answer{Classification: light, Confidence: stated}
	}
	return o
}
