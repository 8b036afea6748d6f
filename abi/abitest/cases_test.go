package abitest

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// everyRole is what no one module has.
func everyRole() *Roles {
	return &Roles{Families: ServedFamilies(), Contest: true, Edges: []string{"HD1", "HD2", "HD10"}, Criteria: []string{"clear", "safe"}}
}

// What the kit sends as a request is one: valid, canonical, the same every
// time, and its indexes point at what is there.
func TestCasesAreRequestsThatAHostMakes(t *testing.T) {
	t.Parallel()
	k := &kit{roles: everyRole()}
	for _, cases := range []struct {
		kind kind
		n    int
	}{{plain, plainCases}, {anything, 300}, {largest, 2}} {
		for i := range cases.n {
			list := newSource(7, i, cases.kind).requests(k.roles)
			again := newSource(7, i, cases.kind).requests(k.roles)
			if len(list) != len(ServedFamilies())+3 {
				t.Fatalf("%d requests", len(list))
			}
			for j, r := range list {
				message := r.Bytes()
				if !bytes.Equal(message, again[j].Bytes()) {
					t.Errorf("%s is another one the second time", r.Name)
				}
				typ, _ := codec.Lookup(typeName(r.Call(), "request"))
				canonical, err := typ.Canonical(message, 0)
				if err != nil || !bytes.Equal(canonical, message) {
					t.Errorf("%s: %v", r.Name, err)
				}
				if fits, served := k.fits(r.Call(), message); r.Call() == abi.CallNode && (!served || !fits && r.Node.File == nil) {
					t.Errorf("%s has indexes that point at nothing", r.Name)
				}
				prior, source := codec.AppendPriorCases(nil, &r.Knowledge.Prior), codec.AppendSourceAnswer(nil, &r.Knowledge.Source)
				_, priorErr := codec.DecodePriorCases(prior, len(prior))
				_, sourceErr := codec.DecodeSourceAnswer(source, len(source))
				if priorErr != nil || sourceErr != nil {
					t.Errorf("%s: what the host knows: %v, %v", r.Name, priorErr, sourceErr)
				}
				if len(message) > abi.DefaultInputBytes {
					t.Errorf("%s has %d bytes", r.Name, len(message))
				}
			}
		}
	}
}

// A case has what its seed and number say, and nothing of the cases before it.
func TestSeedsMakeOtherCases(t *testing.T) {
	t.Parallel()
	one, other := newSource(1, 5, anything).requests(everyRole()), newSource(2, 5, anything).requests(everyRole())
	if bytes.Equal(one[0].Bytes(), other[0].Bytes()) {
		t.Error("two seeds make the same case")
	}
}
