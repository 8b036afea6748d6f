package webhook

import (
	"net/http"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
)

// DefaultDelays are those between two attempts: eight attempts within about 18 hours.
func DefaultDelays() []time.Duration {
	return []time.Duration{5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour}
}

const (
	// jitter is the share of a delay by which it grows at most, so that what failed together is not sent together again.
	jitter = 0.25
	// mostRetryAfter bounds how long a receiver may ask to wait.
	mostRetryAfter = 6 * time.Hour
)

// passing are the statuses of requests that may succeed later. All other ones from 300 to 499 are those of a wrong address or message,
// which further attempts would not change.
var passing = []int{http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests}

// lasting says whether an attempt with this status need not be repeated.
func lasting(status int) bool {
	return status >= 300 && status < 500 && !slices.Contains(passing, status)
}

// retryAfter reads the header of that name: seconds or a date. 0: it says nothing.
func retryAfter(header string, now time.Time) time.Duration {
	wait, _ := httplimit.RetryAfter(header, now)
	return min(wait, mostRetryAfter)
}

// pause is the time until the next attempt behind a failed one, counted from 1. ok is false behind the last one. random is in [0, 1).
func pause(delays []time.Duration, attempt int, asked time.Duration, random float64) (wait time.Duration, ok bool) {
	if attempt < 1 || attempt > len(delays) {
		return 0, false
	}
	wait = delays[attempt-1]
	wait += time.Duration(random * jitter * float64(wait))
	return max(wait, asked), true
}
