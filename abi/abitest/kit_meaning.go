package abitest

import (
	"bytes"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Names of the same length, so that a response that repeats one can be compared with a response that repeats the other.
const (
	nameOne, nameOther = "node-one-of-two", "node-two-of-two"

	unknownParam = "unknown_parameter_c4d1"
	unknownRule  = "unknown_rule_7f3a"
)

// meaning asks some requests again with something changed that must not, or must, make a difference.
func (k *kit) meaning() error {
	return k.each("changed requests", min(meaningCases, k.options.Cases), anything, func(number int, r *Request) error {
		list, err := k.afterAnswer(r)
		for _, r := range list {
			if err == nil {
				err = k.means(number, r)
			}
		}
		return err
	})
}

// means asks one request again with something changed.
func (k *kit) means(number int, r *Request) error {
	if err := k.ignoresParams(r); err != nil {
		return err
	}
	switch {
	case r.Node != nil:
		return k.ignoresName(r)
	case r.Edges != nil:
		if err := k.decidesAny(r, newSource(k.options.Seed, number+1, anything).requests(k.roles)); err != nil {
			return err
		}
		return k.knowsNot(r)
	}
	return nil
}

// tell gives the answer to a request; without one it is none of these checks' business: the others have found it, or will.
func (k *kit) tell(r *Request) (Outcome, answer, bool, error) {
	o, err := k.send(k.subjects.Usual, r.Call(), r.Bytes(), r.Knowledge)
	if err != nil || !o.answered() {
		return o, answer{}, false, err
	}
	a, f := o.answer(r.Call())
	return o, a, f == nil, nil
}

// differs is what a changed request breaks that is not answered as the one before: the check that it is about, or what is wrong with its
// size, or what the module did before at requests that were not changed.
func (k *kit) differs(check CheckID, r *Request, o *Outcome, detail string) {
	if !o.answered() {
		own := endingCheck(o)
		if own == CheckReturns && r.Node != nil && len(r.Node.Completions) > 0 && k.report.broken(CheckOutcomes) {
			own = CheckOutcomes
		}
		if own != CheckReturns && own != CheckStays || k.report.broken(own) {
			check = own
		}
	}
	k.breaks(check, r, detail)
}

func (k *kit) breaks(check CheckID, r *Request, detail string) {
	k.report.Fail(check, Failure{Input: r.Name, Call: r.Call(), Request: r.Bytes(), Detail: detail})
}

// ignoresName calls a node by other names: the family's, one as long as that, a short one, and two longer ones.
func (k *kit) ignoresName(r *Request) error {
	family := string(r.Node.Family)
	told := map[string]*Outcome{}
	for _, pair := range [][2]string{
		{family, strings.Repeat("qz", len(family))[:len(family)]}, {family, "n1"}, {family, nameOne}, {nameOne, nameOther},
	} {
		for _, name := range pair {
			if told[name] != nil {
				continue
			}
			o, _, ok, err := k.tell(r.named(name))
			if err != nil || name == family && !ok {
				return err
			}
			told[name] = &o
		}
		k.report.Try(CheckNodeName)
		if first, other := told[pair[0]], told[pair[1]]; !sameBut(first, other, pair[0], pair[1]) {
			k.differs(CheckNodeName, r.named(pair[1]), other,
				"another answer when the node is called "+pair[1]+" instead of "+pair[0]+": "+difference(first.Response, other, "another time"))
			return nil
		}
	}
	return nil
}

// sameBut says whether two answers differ at most in the name that they repeat. Who repeats it may cut what it says after some bytes: names
// of different lengths can't be compared then.
func sameBut(one, other *Outcome, name, otherName string) bool {
	if one.Ending != other.Ending {
		return false
	}
	if len(name) != len(otherName) {
		return bytes.Equal(one.Response, other.Response) || bytes.Contains(other.Response, []byte(otherName))
	}
	return bytes.Equal(one.Response, bytes.ReplaceAll(other.Response, []byte(otherName), []byte(name)))
}

// named gives a copy with another name of the node.
func (r *Request) named(name string) *Request {
	n, c := *r.Node, *r
	n.Node, c.Node = name, &n
	return &c
}

// ignoresParams adds a parameter that nobody knows.
func (k *kit) ignoresParams(r *Request) error {
	without, _, ok, err := k.tell(r)
	if err != nil || !ok {
		return err
	}
	half := 0.5
	changed := r.addParam(abi.Param{Name: unknownParam, Number: &half})
	with, a, ok, err := k.tell(changed)
	if err != nil {
		return err
	}
	k.report.Try(CheckParams)
	if !ok || (a.failure == nil && !bytes.Equal(without.Response, with.Response)) {
		k.differs(CheckParams, changed, &with, "with a parameter "+unknownParam+": "+difference(without.Response, &with, "another time"))
	}
	return nil
}

// decidesAny asks for edges of `_any` with the same limits, and all else taken from another request.
func (k *kit) decidesAny(r *Request, others []*Request) error {
	at := slices.IndexFunc(others, func(o *Request) bool { return o.Edges != nil })
	one, other := *r, *r
	a, b := *r.Edges, *others[at].Edges
	a.Questions = slices.Clone(a.Questions)
	for i := range a.Questions {
		a.Questions[i].Any = true
	}
	b.Questions, b.Limits = a.Questions, a.Limits
	one.Edges, other.Edges = &a, &b
	var told [2]answer
	k.report.Try(CheckAny)
	for i, asked := range []*Request{&one, &other} {
		o, a, ok, err := k.tell(asked)
		if err != nil {
			return err
		}
		if told[i] = a; !ok {
			k.differs(CheckAny, asked, &o, "all questions of `_any`: "+untold(&o))
			return nil
		}
	}
	first, second := told[0], told[1]
	if got, want := fired(&second), fired(&first); got != want {
		k.breaks(CheckAny, &other, "the same limits with another artifact: "+got+", before "+want)
	}
	return nil
}

// untold says why there is no answer.
func untold(o *Outcome) string {
	if o.answered() {
		return "the response is no message"
	}
	return o.ended()
}

// fired says which questions were answered with yes.
func fired(a *answer) string {
	if a.failure != nil {
		return "failure " + a.failure.Code
	}
	ids := []string{"fires:"}
	for i := range a.edges.Answers {
		if a.edges.Answers[i].Fires {
			ids = append(ids, a.edges.Answers[i].ID)
		}
	}
	return strings.Join(ids, " ")
}

// knowsNot asks for a rule that nobody knows, beside others and alone.
func (k *kit) knowsNot(r *Request) error {
	question := abi.EdgeQuestion{ID: "unknown", Evaluator: unknownRule}
	for _, questions := range [][]abi.EdgeQuestion{{question}, append(slices.Clone(r.Edges.Questions), question)} {
		e, asked := *r.Edges, *r
		e.Questions, asked.Edges = questions, &e
		o, a, ok, err := k.tell(&asked)
		if err != nil {
			return err
		}
		k.report.Try(CheckUnknown)
		if !ok {
			k.differs(CheckUnknown, &asked, &o, "asked for the rule "+unknownRule+": "+untold(&o))
			return nil
		}
		if a.failure == nil {
			k.breaks(CheckUnknown, &asked, "asked for the rule "+unknownRule+" it answers "+fired(&a))
			return nil
		}
	}
	return nil
}
