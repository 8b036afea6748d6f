package open

import (
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment"
)

func TestSayExperiments(t *testing.T) {
	t.Parallel()
	if got := SayExperiments(experiment.Progress{Budget: time.Minute}); got != "" {
		t.Errorf("nothing runs: %q", got)
	}
	got := SayExperiments(experiment.Progress{
		Running: []string{"TestA: this tree, 5 times", "Test\x1b[2J: this tree, once"}, Waiting: 2, Expected: 12*time.Second + 400*time.Millisecond, Budget: 9 * time.Minute,
	})
	if want := "about 12s to go, running TestA: this tree, 5 times, Test"; !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b") || !strings.HasSuffix(got, " and 2 more; 9m0s of the budget left") {
		t.Errorf("%q", got)
	}
}
