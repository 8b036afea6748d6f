package alibi

import "github.com/shadowcourt/shadowcourt/host/trial"

// AtPrice is what the court makes of a trial.
func (l *Light) AtPrice(t *trial.Trial) *Answer { return l.of(t) }
