package abitest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/internal/msgtree"
)

// typeName is the wire name of the requests or responses of a call.
func typeName(call abi.Call, part string) string {
	if call == abi.CallEdges {
		return "edge_" + part
	}
	return string(call) + "_" + part
}

// absent puts plain cases to every role from which one optional field was taken, or one list emptied: each field and each list by itself,
// and all of them together.
func (k *kit) absent() error {
	sent := map[string]bool{}
	return k.each("fields left out", plainCases, plain, func(_ int, r *Request) error {
		list, err := k.afterAnswer(r)
		for _, r := range list {
			for _, v := range variants(r) {
				if sent[r.role()+v.what] || err != nil || k.spent() {
					continue
				}
				sent[r.role()+v.what] = true
				err = k.sendVariant(r, &v)
			}
		}
		return err
	})
}

// variant is a request with something taken from it, or something else in its place.
type variant struct {
	what    string
	message []byte
}

// variants gives what is left of a request without each field, with each list empty, with one label, and without all that can be left out,
// as far as it is a request then.
func variants(r *Request) []variant {
	whole := r.Bytes()
	t, _ := codec.Lookup(typeName(r.Call(), "request"))
	var list []variant
	add := func(what string, message []byte) {
		canonical, err := t.Canonical(message, 0)
		if err == nil && !slices.ContainsFunc(list, func(o variant) bool { return string(o.message) == string(canonical) }) {
			list = append(list, variant{what, canonical})
		}
	}
	eachEntry(whole, func(root, n *msgtree.Node, i int, at string) {
		entries, value := n.Entries, &n.Entries[i].Value
		n.Entries = slices.Concat(entries[:i], entries[i+1:])
		add("without "+at, root.Bytes())
		n.Entries = entries
		if items := value.Items; len(items) > 0 {
			value.Items = nil
			add("with an empty "+at, root.Bytes())
			value.Items = items
		}
	})
	add("with nothing that can be left out", bare(whole, func(message []byte) bool {
		_, err := t.Canonical(message, 0)
		return err == nil
	}))
	if r.Node != nil && r.Node.Indictment != nil {
		n, one := *r.Node, *r
		n.Case.Labels, one.Node = []string{n.Indictment.ChargedDefectType}, &n
		list = append(list, variant{"no label but the charge", one.Bytes()})
	}
	return list
}

// eachEntry visits every entry of every map of a message, with its path; of the elements of a list the first alone is looked into.
func eachEntry(message []byte, do func(root, n *msgtree.Node, i int, at string)) {
	root, _ := msgtree.Parse(message) // requests are well-formed
	var visit func(n *msgtree.Node, path string)
	visit = func(n *msgtree.Node, path string) {
		if len(n.Items) > 0 {
			visit(&n.Items[0], path+"[0]")
		}
		if path != "" && n.Kind == msgtree.Map {
			path += "."
		}
		for i := range n.Entries {
			at := path + n.Entries[i].Key.Text
			do(&root, n, i, at)
			visit(&n.Entries[i].Value, at)
		}
	}
	visit(&root, "")
}

// bare is what is left of a message when every field is taken from it without which it is valid.
func bare(message []byte, valid func([]byte) bool) []byte {
	root, _ := msgtree.Parse(message)
	var visit func(n *msgtree.Node)
	visit = func(n *msgtree.Node) {
		for i := len(n.Entries) - 1; i >= 0; i-- {
			whole := n.Entries
			if n.Entries = slices.Concat(whole[:i], whole[i+1:]); !valid(root.Bytes()) {
				n.Entries = whole
				visit(&n.Entries[i].Value)
			}
		}
	}
	visit(&root)
	return root.Bytes()
}

// sendVariant sends one. Where an index points at what was taken, a module may trap over it.
func (k *kit) sendVariant(r *Request, v *variant) error {
	call := r.Call()
	o, err := k.send(k.subjects.Usual, call, v.message, nil)
	if err != nil {
		return err
	}
	k.report.Try(CheckOptional)
	fail := func(check CheckID, detail string) {
		k.report.Fail(check, Failure{Input: r.Name + ", " + v.what, Call: call, Request: v.message, Detail: detail, Stderr: o.Stderr})
	}
	if o.answered() {
		if _, f := o.answer(call); f != nil {
			fail(f.check, f.detail)
		}
		return nil
	}
	check := endingCheck(&o)
	if check == CheckReturns || check == CheckStays || check == CheckQuestions {
		if r.Node != nil {
			if n, err := codec.DecodeNodeRequest(v.message, len(v.message)); err != nil || !inItems(&n) {
				return nil //nolint:nilerr // not even a node's request
			}
		}
		switch {
		case r.Node != nil && k.report.broken(CheckOutcomes):
			check = CheckOutcomes
		case !k.report.broken(check):
			check = CheckOptional
		}
	}
	fail(check, o.ended())
	return nil
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

// onlyValues are problems of values that a module may hand on as they are: it need not check what it reads.
func onlyValues() []abi.Code {
	return append([]abi.Code{
		abi.CodeInvalidUTF8, abi.CodeNotFinite, abi.CodeOutOfRange, abi.CodeInvalidValue, abi.CodeEmpty, abi.CodeBadCount, abi.CodeDuplicateKey,
	}, acrossFields...)
}

// sendBroken sends bytes that no host sends. The module answers with a message
// or ends the call; it does not hang, and does not answer with what is none.
func (k *kit) sendBroken(call abi.Call, input string, request []byte) error {
	o, err := k.send(k.subjects.Usual, call, request, nil)
	if err != nil {
		return err
	}
	k.report.Try(CheckMalformed)
	fail := func(check CheckID, detail string) {
		if !k.report.broken(check) {
			check = CheckMalformed
		}
		k.report.Fail(check, Failure{Input: input, Call: call, Request: request, Detail: detail, Stderr: o.Stderr})
	}
	if o.Ending == OutOfFuel || o.Ending == OutOfTime {
		k.hung++
	}
	switch o.Ending {
	case Trapped, Exited, OutOfMemory, StackExceeded, BadQuestion:
	case Returned, Declined:
		if _, f := o.answer(call); f != nil && !k.handsOn(call, request) {
			fail(f.check, f.detail)
		}
	default:
		fail(endingCheck(&o), o.ended())
	}
	return nil
}

// handsOn says whether all that is wrong with a request are values.
func (k *kit) handsOn(call abi.Call, request []byte) bool {
	t, _ := codec.Lookup(typeName(call, "request"))
	_, err := t.Canonical(request, 0)
	var v *abi.ValidationError
	if !errors.As(err, &v) {
		return false
	}
	return !slices.ContainsFunc(v.Problems, func(p abi.Problem) bool { return !slices.Contains(onlyValues(), p.Code) })
}

// malformed cuts and changes the requests of a plain case with all that a request may have.
func (k *kit) malformed() error {
	const cuts, flips = 40, 60
	var requests []*Request
	text := "x"
	for _, r := range newSource(k.options.Seed, 1, plain).requests(k.roles) {
		list, err := k.afterAnswer(r.addParam(abi.Param{Name: unknownParam, Text: &text}))
		if err != nil {
			return err
		}
		requests = append(requests, list...)
	}
	for i, r := range requests {
		whole := r.Bytes()
		rnd := rand.New(rand.NewPCG(k.options.Seed, uint64(i))) //nolint:gosec // the same every time
		inputs := append([]variant{
			{"no bytes instead of ", nil},
			{"a byte more than ", append(slices.Clone(whole), 0xc0)},
			{"nil instead of ", []byte{0xc0}},
			{"a list instead of ", []byte{0x90}},
			{"an unknown field before ", slices.Concat([]byte{whole[0] + 1}, []byte("\xa7unknown\x01"), whole[1:])}, // maps of requests have less than 15 fields
		}, wrongValues(whole)...)
		for range cuts {
			at := rnd.IntN(len(whole))
			inputs = append(inputs, variant{fmt.Sprintf("the first %d bytes of ", at), whole[:at]})
		}
		for range flips {
			at, bit := rnd.IntN(len(whole)), rnd.IntN(8)
			flipped := slices.Clone(whole)
			flipped[at] ^= 1 << bit
			inputs = append(inputs, variant{fmt.Sprintf("bit %d of byte %d changed in ", bit, at), flipped})
		}
		for _, input := range inputs {
			if k.hung >= mostHung {
				k.report.Note("§3.14", "%d malformed requests took all of the fuel or the time of a call: the others were not sent", k.hung)
				return nil
			}
			k.options.Progress("malformed requests", i, len(requests))
			if err := k.sendBroken(r.Call(), input.what+r.Name, input.message); err != nil || k.spent() {
				return err
			}
		}
	}
	return nil
}

// mostHung is how many malformed requests may take a module until its fuel is
// spent, or its time: each takes seconds, and one more tells nothing new.
const mostHung = MaxFailures

// wrongValues gives a message without each field, with another kind of value in it, and with lengths that no message has.
func wrongValues(message []byte) (list []variant) {
	eachEntry(message, func(root, n *msgtree.Node, i int, at string) {
		was, entries := n.Entries[i].Value, n.Entries
		n.Entries = slices.Concat(entries[:i], entries[i+1:])
		list = append(list, variant{"without " + at + " in ", root.Bytes()})
		n.Entries = entries
		for _, head := range []string{"\xdb", "\xdd", "\xdf"} { // of texts, lists and maps
			n.Entries[i].Value = msgtree.RawNode(head + "\xff\xff\xff\xff")
			list = append(list, variant{fmt.Sprintf("2^32-1 as the length (%x) of %s in ", head, at), root.Bytes()})
		}
		n.Entries[i].Value = msgtree.NilNode()
		list = append(list, variant{"nil for " + at + " in ", root.Bytes()})
		n.Entries[i].Value = msgtree.BinaryNode("x")
		list = append(list, variant{"bin for " + at + " in ", root.Bytes()})
		n.Entries[i].Value = was
	})
	return list
}
