package plan_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// The turn goes round among those that have begun, and who ends makes room for the next.
func TestRun(t *testing.T) {
	t.Parallel()
	want := []string{"0.0", "1.0", "0.1", "1.1", "0.2", "1.2", "2.0", "3.0", "2.1", "3.1", "2.2", "3.2"}
	for range 100 {
		var got []string // only one has the turn
		for _, ended := range plan.Run(t.Context(), 4, 2, func(ctx context.Context, i int) {
			for step := range 3 {
				got = append(got, fmt.Sprintf("%d.%d", i, step))
				if step < 2 {
					plan.Yield(ctx)
				}
			}
		}) {
			<-ended
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q", got)
		}
	}
	if plan.Yield(t.Context()) {
		t.Error("without others somebody had the turn")
	}
	if len(plan.Run(t.Context(), 0, 2, nil)) > 0 {
		t.Error("nothing ended")
	}
}
