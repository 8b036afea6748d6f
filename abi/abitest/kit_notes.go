package abitest

import (
	"maps"
	"slices"
)

// measure keeps what the dearest call took.
func (k *kit) measure(input string, request []byte, o *Outcome) {
	m := &k.report.Most
	if o.Fuel > m.Fuel {
		m.Fuel, m.FuelInput = o.Fuel, input
	}
	if len(o.Response) > m.ResponseBytes {
		m.ResponseBytes, m.ResponseInput = len(o.Response), input
	}
	m.RequestBytes = max(m.RequestBytes, len(request))
	if !o.answered() {
		return
	}
	if o.Fuel > k.options.Fuel/2 {
		k.report.Note("§5.2", "calls come near the limit: more than half of the fuel")
	}
	if len(o.Response) > k.options.OutputBytes/2 {
		k.report.Note("§5.1", "calls come near the limit: more than half of what a response may hold")
	}
}

// tally is how a role was answered for.
type tally struct {
	answered, declined int
	failure            string // the first one
}

// count keeps how often a role was answered for, and how often declined.
func (k *kit) count(r *Request, a *answer) {
	role := string(r.Call())
	if r.Node != nil {
		role = string(r.Node.Family)
	}
	t := k.tallies[role]
	if a.failure == nil {
		t.answered++
	} else if t.declined++; t.declined == 1 {
		t.failure = a.failure.Code + ": " + a.failure.Message + ", to " + r.Name
	}
	k.tallies[role] = t
	if !a.canonical {
		k.report.Note("§3.8", "responses are not canonical; a host accepts them, and writes them anew")
	}
}

// noteRoles tells of roles that the module does not always answer for.
func (k *kit) noteRoles() {
	for _, role := range slices.Sorted(maps.Keys(k.tallies)) {
		if t := k.tallies[role]; t.declined > 0 {
			k.report.Note("§2.18", "%s: %d of %d answers are failures, each of which ends a trial as a mistrial; the first: %s",
				role, t.declined, t.declined+t.answered, t.failure)
		}
	}
}
