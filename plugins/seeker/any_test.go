package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/proceeding"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit/anytrial"
)

// Whatever the case, and whatever the host knows, what the persona answers
// keeps the contract.
func TestEveryAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	source := anytrial.New(5)
	asked := 0
	for range 1000 {
		for _, family := range []abi.Family{abi.FamilyInvestigate} {
			r := source.Light(family)
			answer := source.SourceAnswer()
			play := seeker{func(abi.SourceQuery) (abi.SourceAnswer, *abi.Failure) { return answer, nil }}.play
			anytrial.CheckNode(t, play, r)
			if anytrial.CheckChoice(t, proceeding.OnRemand, r) {
				asked++
			}
		}
	}
	if asked == 0 {
		t.Error("no experiment was asked for in any case")
	}
}
