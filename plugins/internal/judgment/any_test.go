package judgment

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/testkit/anytrial"
)

// Whatever the proceeding, what the persona answers keeps the contract.
func TestEveryAnswerKeepsTheContract(t *testing.T) {
	t.Parallel()
	source := anytrial.New(1)
	asked := 0
	for range 500 {
		for _, family := range []abi.Family{abi.FamilyVerdict} {
			r := source.Request(family)
			anytrial.CheckNode(t, Play, r)
			if anytrial.CheckChoice(t, Choose, r) {
				asked++
			}
		}
	}
	if asked == 0 {
		t.Error("no experiment was asked for in any proceeding")
	}
}
