package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit/anytrial"
)

// Whatever the case, what the persona answers keeps the contract.
func TestEveryAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	source := anytrial.New(5)
	for range 1000 {
		r := source.Light(abi.FamilyInvestigate)
		r.Params = nil
		if len(r.Case.Labels) > 0 {
			r.Params = rulesOf("any", r.Case.Labels[0], "[a-z]+")
		}
		anytrial.CheckNode(t, play, r)
	}
}
