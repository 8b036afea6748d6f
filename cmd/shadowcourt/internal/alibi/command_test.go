package alibi

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// With --case-budget no test takes what others leave of the budget, even where it is the usual time.
func TestACaseBudgetIsNotBorrowedFrom(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]int{"--budget=10m": 3, "--case-budget=2m": 0} {
		f := New(cli.Streams{}, "").Flags()
		must.Do(t, f.Parse([]string{args}))
		check.Equal(t, borrowers(f, 3), want, args)
	}
}
