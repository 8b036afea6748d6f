package serve

import (
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestKeep(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]store.Keep{
		"90d": {Age: 90 * 24 * time.Hour}, "12h": {Age: 12 * time.Hour}, "500MB": {Bytes: 500e6}, "20GB": {Bytes: 20e9}, "1TB": {Bytes: 1e12},
	} {
		check.Equal(t, must.Get(keepOf([]string{text}))(t), want, text)
	}
	check.Equal(t, must.Get(keepOf([]string{"90d", "20GB"}))(t), (store.Keep{Age: 90 * 24 * time.Hour, Bytes: 20e9}), "both")
	for _, list := range [][]string{{""}, {"d"}, {"90"}, {"0d"}, {"-1d"}, {"1.5d"}, {"90 d"}, {"1d", "2h"}, {"1GB", "1MB"}, {"999999999999d"}, {"99999999999TB"}, {"GB90"}} {
		if got, err := keepOf(list); err == nil {
			t.Errorf("%q is taken for %+v", list, got)
		}
	}
}
