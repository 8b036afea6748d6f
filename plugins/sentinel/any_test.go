package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit/anytrial"
)

// Whatever the case, and whatever the host knows, what the persona answers
// keeps the contract.
func TestEveryAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	source := anytrial.New(5)
	for range 1000 {
		for _, family := range []abi.Family{abi.FamilyResolve} {
			r := source.Light(family)
			answer := source.SourceAnswer()
			play := sentinel{func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure) { return answer, nil }}.play
			anytrial.CheckNode(t, play, r)
		}
	}
}
