package quarantine

import (
	"math"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Failures are what the rule of [Failures.Stopped] needs to know of a test in quarantine.
type Failures struct {
	// Count counts failures; several in a row of one commit, Head, count once.
	Count int    `yaml:"count"`
	First Time   `yaml:"first"`
	Last  Time   `yaml:"last"`
	Head  string `yaml:"head"` // commit of the last one
	// Longest is the longest time between two of them.
	Longest time.Duration `yaml:"longest"`
	// Documents are digests of the documents that were counted, the latest ones, at most 50.
	Documents []string `yaml:"documents"`
}

// maxDocuments of an entry are remembered.
const maxDocuments = 50

func (f *Failures) check(r *strictyaml.Reader, path string) {
	switch {
	case f.Count < 0 || f.Longest < 0 || len(f.Documents) > maxDocuments:
		r.FailAt(path, strictyaml.CodeOutOfRange, "want a count and a time from 0 on, and at most %d documents", maxDocuments)
	case f.Count > 0 && (f.First.IsZero() || f.Last.Before(f.First.Time)):
		r.FailAt(path, CodeBadDate, "want first and last, in this order")
	}
}

// Add counts a failure in a document at a commit, and says whether it is new: a document that was counted is not counted again. Of a long history,
// only what is later than the last failure is counted.
func (f *Failures) Add(digest, head string, at time.Time) bool {
	now := TimeOf(at)
	if slices.Contains(f.Documents, digest) || len(f.Documents) == maxDocuments && !now.After(f.Last.Time) {
		return false
	}
	f.Documents = append(f.Documents, digest)
	if len(f.Documents) > maxDocuments {
		f.Documents = f.Documents[1:]
	}
	again := f.Count > 0 && head != "" && head == f.Head
	switch {
	case f.Count == 0:
		f.First, f.Last, f.Head = now, now, head
	case now.After(f.Last.Time):
		if !again {
			f.Longest = max(f.Longest, now.Sub(f.Last.Time))
		}
		f.Last, f.Head = now, head
	case now.Before(f.First.Time):
		f.Longest = max(f.Longest, f.First.Sub(now.Time))
		f.First = now
	}
	if !again {
		f.Count++
	}
	return true
}

// The rule of Go's flake watcher (golang.org/x/build/cmd/watchflakes, close.go, 2026): the level below which silence is no chance, and the shortest
// span that tells a rate. Failures closer together are one burst.
const (
	closeLevel   = 0.01
	shortestSpan = 24 * time.Hour
)

// SilenceProbability is how probable it is that n failures within a span are followed by so much silence if nothing has changed. Of a Poisson
// process, the n-1 failures after the first are anywhere between the first and now, so that all of them lie in the span with the probability
// (span/(span+silence))^(n-1).
func SilenceProbability(n int, span, silence time.Duration) float64 {
	if n < 2 || span <= 0 || silence <= 0 {
		return 1
	}
	return math.Pow(float64(span)/(float64(span)+float64(silence)), float64(n-1))
}

// Stopped says whether a test has been silent for too long to be a chance, and how probable that silence is. It must also be longer than any before: flakes that come in
// seasons are no Poisson process.
func (f *Failures) Stopped(now time.Time) (p float64, stopped bool) {
	span, silence := f.Last.Sub(f.First.Time), now.Sub(f.Last.Time)
	p = SilenceProbability(f.Count, span, silence)
	return p, f.Count >= 2 && span >= shortestSpan && silence > f.Longest && p < closeLevel
}
