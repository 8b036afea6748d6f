package bench

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
		for _, family := range []abi.Family{abi.FamilyDiscover, abi.FamilyHearing} {
			r := source.Request(family)
			anytrial.CheckNode(t, Play, r)
			if anytrial.CheckChoice(t, Choose, r) {
				asked++
			}
		}
		anytrial.CheckContest(t, Contest, source.Contest())
	}
	if asked == 0 {
		t.Error("no experiment was asked for in any proceeding")
	}
}
