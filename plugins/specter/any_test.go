package main

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/anytrial"
)

// Whatever the proceeding, what the persona answers keeps the contract.
func TestEveryAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	source := anytrial.New(1)
	for range 500 {
		for _, family := range []abi.Family{abi.FamilyVerdict} {
			anytrial.CheckNode(t, arbitrate, source.Request(family))
		}
	}
}
