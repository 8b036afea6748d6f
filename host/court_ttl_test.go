package host_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// A court without time is rejected in Go as it is in a pipeline: 0 is neither "at once" nor "without end".
func TestACourtWithoutTime(t *testing.T) {
	t.Parallel()
	for _, ttl := range []int64{0, -1} {
		_, err := host.Open(t.Context(), host.Config{Court: &abi.CourtConfig{Enabled: true, TTL: ttl, MaxHandoffs: 1, MaxRounds: 1}})
		if err == nil || !strings.Contains(err.Error(), "ttl: is ") || !strings.Contains(err.Error(), "must be above zero") {
			t.Errorf("ttl %d: %v", ttl, err)
		}
	}
}
