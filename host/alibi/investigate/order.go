package investigate

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// Order finds the tests after which the failing test of a case fails, where its runs show that it passes alone, and adds them to the answer.
// The error is that of the laboratory or the context.
func (i *Investigation) Order(ctx context.Context, c *abi.Case, a *alibi.Answer) error {
	if !a.DependsOnOrder() {
		return nil
	}
	tests, err := i.lab.Polluters(ctx, c)
	a.FailsAfter(tests[:min(len(tests), alibi.MostAfter)])
	return err
}
