package inquiry

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// symptom is what the message of a failed test is about.
type symptom int

// The symptoms.
const (
	unnamed  symptom = iota // it doesn't say
	compared                // a value is not the one that the test wants
	ran                     // the test ran into an error
)

// comparing words stand in messages that set one value against another.
func comparing() []string {
	return []string{
		"got", "want", "wants", "wanted", "expect", "expects", "expected", "expecting", "actual", "but was",
		"should", "mismatch", "not equal", "differ", "differs", "!=", "==", "assertionerror",
	}
}

// failing words stand in messages that hand on an error, those of operating
// systems among them.
func failing() []string {
	return []string{
		"error", "err", "failed", "cannot", "can't", "could not", "couldn't", "unable to", "invalid", "denied", "refused",
		"no such", "timeout", "timed out", "exceeded", "not permitted", "unavailable", "unreachable", "read-only file system",
		"no space left", "too many open files", "file too large", "already in use", "connection reset", "broken pipe",
	}
}

// surprising words say that the error was what nobody wanted.
func surprising() []string {
	return []string{"unexpected error", "unexpected err", "unexpected exception"}
}

// messages tells what messages of tests are about.
type messages struct{ comparing, failing, surprising odds.Signals }

func newMessages() messages {
	return messages{odds.FindPhrases(comparing()), odds.FindPhrases(failing()), odds.FindPhrases(surprising())}
}

// symptom of the message of a report. Where both an error and a comparison
// stand, the test wants one error and got another, or none.
func (m *messages) symptom(quote, path string) symptom {
	message := withoutLabels(behind(quote, path))
	switch compares := stands(m.comparing, message); {
	case compares && !stands(m.surprising, message):
		return compared
	case stands(m.failing, message) || compares:
		return ran
	default:
		return unnamed
	}
}

func stands(s odds.Signals, content string) bool {
	found := false
	s.Scan(content, func(_, _, _ int) { found = true })
	return found
}

// behind is a quote without the place that it begins with, whose name may hold
// any words.
func behind(quote, path string) string {
	if _, rest, found := strings.Cut(quote, path); found {
		return rest
	}
	return quote
}

// withoutLabels leaves out what assertion libraries print before every message:
// the word error there says nothing.
func withoutLabels(message string) string {
	var b strings.Builder
	for line := range strings.Lines(message) {
		rest := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(rest, "Error Trace:") || strings.HasPrefix(rest, "Test:") {
			continue
		}
		if behind, ok := strings.CutPrefix(rest, "Error:"); ok && line != rest {
			rest = behind
		}
		b.WriteString(rest)
	}
	return b.String()
}
