package gotest_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
)

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, pattern := range []string{"testdata/*.gotest.json", "testdata/streams/*.gotest.json"} {
		streams, err := filepath.Glob(pattern)
		if err != nil || len(streams) == 0 {
			t.Fatal("no stream matches "+pattern, err)
		}
		for _, stream := range streams {
			readers.Golden(t, stream, strings.TrimSuffix(stream, ".gotest.json")+".want", func() readers.Reader { return &gotest.Reader{} })
		}
	}
}
