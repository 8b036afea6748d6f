package tap_test

import (
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/tap"
)

// TestAccept_IG4_StreamsOfTAP reads what the runners of testdata wrote.
func TestAccept_IG4_StreamsOfTAP(t *testing.T) {
	t.Parallel()
	for _, stream := range streams(t) {
		readers.Golden(t, stream, stream+".want", func() readers.Reader { return &tap.Reader{} })
	}
}

func streams(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.tap")
	if err != nil || len(names) != 10 {
		t.Fatalf("%d streams (%v)", len(names), err)
	}
	return names
}
