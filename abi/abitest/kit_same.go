package abitest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// repeat sends a request again: to the same module, and now and then to one in other lives.
func (k *kit) repeat(number int, r *Request, first *outcome) error {
	request := r.Bytes()
	fail := func(check CheckID, where, detail string) {
		k.report.Fail(check, Failure{Input: r.Name, Call: r.Call(), Request: request, Detail: where + ": " + detail})
	}
	same := func(s Subject, where string, bytesCheck CheckID, fuel bool) error {
		o, err := k.send(s, r.Call(), request, r.Knowledge)
		if err != nil {
			return err
		}
		k.report.Try(bytesCheck)
		if fuel {
			k.report.Try(CheckFuel)
		}
		switch {
		case o.Ending != first.Ending || !bytes.Equal(o.Response, first.Response):
			fail(bytesCheck, where, difference(first.Response, &o, "another time"))
		case fuel && o.Fuel != first.Fuel:
			fail(CheckFuel, where, fmt.Sprintf("%d units of fuel, at first %d", o.Fuel, first.Fuel))
		}
		return nil
	}
	if err := same(k.subjects.Usual, "again", CheckBytes, true); err != nil {
		return err
	}
	if number%freshEvery == 0 {
		if err := same(k.subjects.Fresh, "in another instance", CheckBytes, true); err != nil {
			return err
		}
	}
	if number%coldEvery == 0 && !k.report.broken(CheckBytes) {
		return same(k.subjects.Cold, "in an instance that was never called before", CheckMemory, false)
	}
	return nil
}

// difference says where a response leaves the first one, and when that was given.
func difference(first []byte, o *Outcome, when string) string {
	if !o.answered() {
		return o.ended() + ", " + when + " it did not"
	}
	at := 0
	for at < min(len(first), len(o.Response)) && first[at] == o.Response[at] {
		at++
	}
	piece := func(b []byte) string { return hex.EncodeToString(b[min(at, len(b)):min(at+8, len(b))]) }
	return fmt.Sprintf("%d bytes, %s %d; from byte %d on %s, %s %s", len(o.Response), when, len(first), at, piece(o.Response), when, piece(first))
}

// measure keeps what the most expensive call took.
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
	if o.Fuel > k.options.Fuel/4*3 {
		k.report.Note("§5.2", "calls come near the limit: more than three quarters of the fuel")
	}
	if len(o.Response) > abi.DefaultOutputBytes/2 {
		k.report.Note("§5.1", "calls come near the limit: more than half of what a response may hold")
	}
}

// tally is how a role was answered for.
type tally struct {
	answered, declined int
	failure            string // the first one
	mistrials          int    // verdicts that decide nothing
	remanded           int    // verdicts that remand when no remand is left
}

// countVerdict notes verdicts that end a trial without a decision.
func (k *kit) countVerdict(r *Request, v *abi.Verdict, t *tally) {
	switch {
	case v.Decision == abi.Mistrial:
		t.mistrials++
	case v.Decision == abi.Remand && r.Node.RemandsLeft == 0:
		if t.remanded++; t.remanded == 1 {
			k.report.Note("§4.8", "it remands where `remands_left` is 0 (%s): such a trial is a mistrial", r.Name)
		}
	}
}

// count keeps how often a role was answered for, and how often declined.
func (k *kit) count(r *Request, a *answer) {
	t := k.tallies[r.role()]
	switch {
	case a.node != nil && (a.node.Experiment != nil || a.node.Completion != nil): // the answer follows
	case a.failure != nil && r.lost(): // the persona's fallback plays
	case a.failure == nil:
		t.answered++
	default:
		if t.declined++; t.declined == 1 {
			t.failure = a.failure.Code + ": " + a.failure.Message + ", to " + r.Name
		}
	}
	if a.node != nil && a.node.Artifact != nil && a.node.Artifact.Verdict != nil {
		k.countVerdict(r, a.node.Artifact.Verdict, &t)
	}
	k.tallies[r.role()] = t
	if !a.canonical {
		k.report.Note("§3.8", "responses are not canonical; a host accepts them, and writes them again")
	}
}

// noteRoles tells of roles that the module does not always answer for.
func (k *kit) noteRoles() {
	for _, role := range slices.Sorted(maps.Keys(k.tallies)) {
		if t := k.tallies[role]; t.declined > 0 {
			k.report.Note("§2.18", "%s: %d of %d answers are failures, each of which ends a trial as a mistrial; the first: %s",
				role, t.declined, t.declined+t.answered, t.failure)
		}
		if t := k.tallies[role]; t.mistrials > 0 {
			k.report.Note("§4.8", "%s: %d of %d answers are `mistrial`, which leaves the case undecided; who is not convinced acquits",
				role, t.mistrials, t.declined+t.answered)
		}
	}
}
