package httplimit

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"17": 17 * time.Second, "0": 0, "1.5": 1500 * time.Millisecond, "1000000000": 1e9 * time.Second,
		now.Add(40 * time.Second).Format(http.TimeFormat): 40 * time.Second, now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		if got, ok := RetryAfter(header, now); got != want || !ok {
			t.Errorf("%q: %s, %t", header, got, ok)
		}
	}
	for _, header := range []string{"", "soon", "-5", "nan", "1 s", "inf", "99999999999999999999"} {
		if got, ok := RetryAfter(header, now); got != 0 || ok {
			t.Errorf("%q: %s, %t", header, got, ok)
		}
	}
}
