package abitest

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// repeat sends a request again: to the same module, and now and then to one in
// other lives.
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
			fail(bytesCheck, where, difference(first.Response, &o))
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

// difference says where a response leaves the first one.
func difference(first []byte, o *Outcome) string {
	if !o.answered() {
		return string(o.Ending) + ": " + o.Detail + ", another time it did not"
	}
	at := 0
	for at < min(len(first), len(o.Response)) && first[at] == o.Response[at] {
		at++
	}
	piece := func(b []byte) string { return hex.EncodeToString(b[min(at, len(b)):min(at+8, len(b))]) }
	return fmt.Sprintf("%d bytes, another time %d; from byte %d on %s, another time %s", len(o.Response), len(first), at, piece(o.Response), piece(first))
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
