package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// A court without time is rejected in Go as it is in a pipeline: 0 is neither "at once" nor "without end".
func TestACourtWithoutTime(t *testing.T) {
	t.Parallel()
	for _, ttl := range []time.Duration{0, -1} {
		_, err := host.Open(t.Context(), host.Config{Court: func(c *pipeline.Court) { c.TTL = ttl }})
		if err == nil || !strings.Contains(err.Error(), "ttl: is ") || !strings.Contains(err.Error(), "must be above zero") {
			t.Errorf("ttl %s: %v", ttl, err)
		}
	}
}
