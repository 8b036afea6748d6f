package abitest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// typeName is the wire name of the requests or responses of a call.
func typeName(call abi.Call, part string) string {
	if call == abi.CallEdges {
		return "edge_" + part
	}
	return string(call) + "_" + part
}

// vectors sends the test vectors of the requests: the valid ones as the host would write them, and the broken ones as they are.
func (k *kit) vectors() error {
	for _, call := range k.roles.Manifest().Calls {
		name := typeName(call, "request")
		set, err := RequestSet(name)
		if err != nil {
			return err
		}
		sent := map[string]bool{}
		for i := range set.Vectors {
			k.options.Progress("vectors of "+name, i, len(set.Vectors))
			if err := k.vector(call, name, &set.Vectors[i], sent); err != nil || k.spent() {
				return err
			}
			if k.hangs() {
				return nil
			}
		}
	}
	return nil
}

func (k *kit) vector(call abi.Call, typeName string, v *Vector, sent map[string]bool) error {
	input := "vector of " + typeName + ": " + v.Name
	message, err := v.Message()
	if err != nil {
		return err
	}
	if !v.Valid {
		if v.Limit != 0 { // valid but for a limit that no host sets
			return nil
		}
		return k.sendBroken(call, input, message)
	}
	if sent[v.Canonical] {
		return k.sendBroken(call, input, message) // in a form that hosts don't write
	}
	sent[v.Canonical] = true
	canonical, err := hex.DecodeString(v.Canonical)
	if err != nil {
		return err
	}
	return k.sendValid(call, input, canonical)
}

// sendValid sends a request of a form that the type allows. What stands in it
// may not fit together as in a case: then a module may trap over it.
func (k *kit) sendValid(call abi.Call, input string, request []byte) error {
	fits, served := k.fits(call, request)
	if !served {
		return nil
	}
	return k.sendForm(call, input, request, fits)
}

// sendForm sends a valid request that is no whole case. Where it does not fit together it may trap.
func (k *kit) sendForm(call abi.Call, input string, request []byte, fits bool) error {
	o, err := k.send(k.subjects.Usual, call, request, nil)
	if err != nil {
		return err
	}
	k.report.Try(CheckOptional)
	fail := func(check CheckID, detail string) {
		k.report.Fail(check, Failure{Input: input, Call: call, Request: request, Detail: detail, Stderr: o.Stderr})
	}
	if o.answered() {
		if _, f := o.answer(call); f != nil {
			fail(f.check, f.detail)
		}
		return nil
	}
	check := endingCheck(&o)
	if check == CheckReturns || check == CheckStays || check == CheckQuestions {
		if !fits {
			return nil
		}
		switch {
		case call == abi.CallNode && k.report.broken(CheckOutcomes):
			check = CheckOutcomes
		case !k.report.broken(check):
			check = CheckOptional
		}
	}
	fail(check, o.ended())
	return nil
}

// fits says whether indexes of a request point at something, and whether the module promises to serve it.
func (k *kit) fits(call abi.Call, request []byte) (fits, served bool) {
	if call != abi.CallNode {
		return true, true
	}
	r, err := codec.DecodeNodeRequest(request, len(request))
	if err != nil || !slices.Contains(k.roles.Families, r.Family) {
		return false, false
	}
	return r.File == nil && inItems(&r), true
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

// mostHung is how many malformed requests may take a module until its fuel is
// spent, or its time: each takes seconds, and one more tells nothing new.
const mostHung = MaxFailures

// hangs says whether malformed requests are not worth the wait any more.
func (k *kit) hangs() bool {
	if k.hung < mostHung {
		return false
	}
	k.report.Note("§3.14", "%d malformed requests took all of the fuel or the time of a call: the others were not sent", k.hung)
	return true
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

// malformed cuts and changes the requests of a plain case.
func (k *kit) malformed() error {
	const cuts, flips = 40, 60
	requests := newSource(k.options.Seed, 0, plain).requests(k.roles)
	for i, r := range requests {
		whole := r.Bytes()
		rnd := rand.New(rand.NewPCG(k.options.Seed, uint64(i))) //nolint:gosec // the same every time
		inputs := []variant{
			{"no bytes instead of ", nil},
			{"a byte more than ", append(slices.Clone(whole), 0xc0)},
			{"nil instead of ", []byte{0xc0}},
			{"a list instead of ", []byte{0x90}},
			{"an unknown field before ", withField(whole)},
		}
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
		for j, input := range inputs {
			if k.hangs() {
				return nil
			}
			k.options.Progress("malformed requests", i*len(inputs)+j, len(requests)*len(inputs))
			if err := k.sendBroken(r.Call(), input.what+r.Name, input.message); err != nil || k.spent() {
				return err
			}
		}
	}
	return nil
}

// withField puts a field that no type has in front; requests have less than 15 fields at their outside.
func withField(message []byte) []byte {
	out := []byte{message[0] + 1}
	return append(append(out, "\xa7unknown\x01"...), message[1:]...)
}
