package abitest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
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

// kept notes whether the module would remember its calls if it was let.
func (k *kit) kept() error {
	if k.subjects.Kept == nil {
		return nil
	}
	for _, r := range newSource(k.options.Seed, 0, plain).requests(k.roles) {
		var answers [2]Outcome
		for i := range answers {
			var err error
			if answers[i], err = k.send(k.subjects.Kept, r.Call(), r.Bytes(), r.Knowledge); err != nil {
				return err
			}
			if !answers[i].answered() {
				k.report.Note("§2.5", "called twice in an instance that is not reset, it ends with %s: pristine calls are what keeps it going", answers[i].Ending)
				return nil
			}
		}
		if !bytes.Equal(answers[0].Response, answers[1].Response) {
			k.report.Note("§2.6", "it keeps state: called twice in an instance that is not reset, it answers differently (%s); no host lets it", r.Name)
			return nil
		}
	}
	return nil
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
	if len(o.Response) > k.options.OutputBytes/2 {
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
	role := string(r.Call())
	if r.Node != nil {
		role = string(r.Node.Family)
	}
	t := k.tallies[role]
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
	k.tallies[role] = t
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

// absent puts plain cases to every role from which one optional field was taken, or one list emptied: each field and each list by itself.
func (k *kit) absent() error {
	sent := map[string]bool{}
	return k.each("fields left out", plainCases, plain, func(_ int, r *Request) error {
		list, err := k.afterAnswer(r)
		for _, r := range list {
			if err == nil && !k.spent() {
				err = k.absentFrom(r, sent)
			}
		}
		return err
	})
}

// absentFrom sends the variants of a request that were not sent to its role yet.
func (k *kit) absentFrom(r *Request, sent map[string]bool) error {
	role := string(r.Call())
	if r.Node != nil {
		role = string(r.Node.Family)
	}
	for _, v := range variants(r) {
		if sent[role+v.what] {
			continue
		}
		sent[role+v.what] = true
		if err := k.sendVariant(r, &v); err != nil || k.spent() {
			return err
		}
	}
	return nil
}

// variant is a request with something taken from it.
type variant struct {
	what    string
	message []byte
}

// variants gives what is left of a request without each field, with each list empty, and with one label, as far as it is a request then.
func variants(r *Request) []variant {
	whole := r.Bytes()
	t, _ := codec.Lookup(typeName(r.Call(), "request"))
	var list []variant
	for _, v := range leftOut(whole) {
		canonical, err := t.Canonical(v.message, 0)
		if err == nil && !slices.ContainsFunc(list, func(o variant) bool { return string(o.message) == string(canonical) }) {
			list = append(list, variant{v.what, canonical})
		}
	}
	if r.Node != nil && r.Node.Indictment != nil {
		n, one := *r.Node, *r
		n.Case.Labels, one.Node = []string{n.Indictment.ChargedDefectType}, &n
		list = append(list, variant{"no label but the charge", one.Bytes()})
	}
	return list
}

// sendVariant sends one. Where an index points at what was taken, a module may trap over it.
func (k *kit) sendVariant(r *Request, v *variant) error {
	fits := true
	if r.Node != nil {
		n, err := codec.DecodeNodeRequest(v.message, len(v.message))
		fits = err == nil && inItems(&n)
	}
	return k.sendForm(r.Call(), r.Name+", "+v.what, v.message, fits)
}

// inItems says whether all indexes of a request point at items of the indictment.
func inItems(r *abi.NodeRequest) bool {
	items := 0
	if r.Indictment != nil {
		items = len(r.Indictment.Evidence)
	}
	var indexes []int
	for i := range r.Exhibits {
		indexes = append(indexes, r.Exhibits[i].EvidenceIndex)
	}
	challenged := slices.Clone(r.Contested)
	if r.DefenseBrief != nil {
		challenged = append(challenged, r.DefenseBrief.Challenges...)
		if a := r.DefenseBrief.AlternativeHypothesis; a != nil {
			indexes = append(indexes, a.Support...)
		}
	}
	if r.Hearing != nil {
		for i := range r.Hearing.Rounds {
			challenged = append(challenged, r.Hearing.Rounds[i].NewChallenges...)
		}
	}
	if r.Turn != nil {
		challenged = append(challenged, r.Turn.NewChallenges...)
	}
	for i := range challenged {
		indexes = append(indexes, challenged[i].EvidenceIndex)
	}
	return !slices.ContainsFunc(indexes, func(i int) bool { return i >= items })
}

// leftOut gives a message without each entry of each of its maps, and with each of its lists
// empty; of the elements of a list the first alone is looked into.
func leftOut(message []byte) []variant {
	root, err := msgtree.Parse(message)
	if err != nil {
		return nil
	}
	var list []variant
	var visit func(n *msgtree.Node, path string)
	visit = func(n *msgtree.Node, path string) {
		if len(n.Items) > 0 {
			visit(&n.Items[0], path+"[0]")
		}
		if path != "" && n.Kind == msgtree.Map {
			path += "."
		}
		entries := n.Entries
		for i := range entries {
			value := &entries[i].Value
			at := path + entries[i].Key.Text
			n.Entries = slices.Concat(entries[:i], entries[i+1:])
			list = append(list, variant{"without " + at, root.Bytes()})
			n.Entries = entries
			if items := value.Items; len(items) > 0 {
				value.Items = nil
				list = append(list, variant{"with an empty " + at, root.Bytes()})
				value.Items = items
			}
			visit(value, at)
		}
	}
	visit(&root, "")
	return list
}
