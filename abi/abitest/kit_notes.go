package abitest

import "slices"

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
	if o.Ending != Returned {
		return
	}
	if o.Fuel > k.options.Fuel/2 {
		k.report.Note("§5.2", "calls come near the limit: more than half of the fuel")
	}
	if len(o.Response) > k.options.OutputBytes/2 {
		k.report.Note("§5.3", "calls come near the limit: more than half of what a response may hold")
	}
}

// count keeps how often a role was answered for, and how often declined.
func (k *kit) count(r *Request, a *answer) {
	role := string(r.Call())
	if r.Node != nil {
		role = string(r.Node.Family)
	}
	if a.failure == nil {
		k.answered[role]++
	} else {
		k.declined[role]++
	}
	if !a.canonical {
		k.report.Note("§3.8", "responses are not canonical; a host accepts them, and writes them anew")
	}
}

// noteRoles tells of roles that the module never answered for.
func (k *kit) noteRoles() {
	var roles []string
	for role := range k.declined {
		roles = append(roles, role)
	}
	slices.Sort(roles)
	for _, role := range roles {
		if k.answered[role] == 0 {
			k.report.Note("§2.18", "%s: every answer is a failure; a trial with it is a mistrial", role)
		}
	}
}
