package investigate

import (
	"context"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
)

// mostAfter of the tests after which another one fails are named.
const mostAfter = 8

// Order finds the tests after which the failing test of a case fails, where its runs show that it passes alone, and adds them to the answer.
// Where none are found it says that the tests around it are needed. The error is that of the laboratory or the context.
func (i *Investigation) Order(ctx context.Context, c *abi.Case, a *alibi.Answer) error {
	if !a.DependsOnOrder() {
		return nil
	}
	defer i.clock.measure(c.ID)()
	a.Why += "; passes alone, fails after "
	found, err := i.lab.Polluters(ctx, c)
	if err != nil || !found.Confirmed {
		a.Why += "other tests"
		return err
	}
	a.After = found.Tests[:min(len(found.Tests), mostAfter)]
	a.Why += strings.Join(a.After, " and ")
	return nil
}
