package httplimit

import (
	"net/http"
	"strconv"
	"time"
)

// RetryAfter reads the header of that name: how long a server asks to wait, in seconds or until a date. ok is false where it is neither,
// or more than 1e9 s, which no server means.
func RetryAfter(header string, now time.Time) (wait time.Duration, ok bool) {
	const most = 1e9 // ten times as many overflow a time.Duration
	if seconds, err := strconv.ParseFloat(header, 64); err == nil && seconds >= 0 && seconds <= most {
		return time.Duration(seconds * float64(time.Second)), true
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0, false
	}
	return max(at.Sub(now), 0), true
}
