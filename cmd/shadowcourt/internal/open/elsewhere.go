package open

import (
	"context"
	"regexp"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// lookedAt is the source, with how many questions named files, and how many of those found one of them.
type lookedAt struct {
	of host.Source

	mu           sync.Mutex
	named, found int
}

// place is a line of a file, as compilers, runtimes and test frameworks name it.
var place = regexp.MustCompile(`\.[A-Za-z]{1,4}:\d+|\.py", line \d+`)

// Digest is that of the source.
func (l *lookedAt) Digest() string { return l.of.Digest() }

// Source gives the answer of the source.
func (l *lookedAt) Source(ctx context.Context, query abi.SourceQuery) (abi.SourceAnswer, error) {
	answer, err := l.of.Source(ctx, query)
	if err == nil && place.MatchString(query.Text) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.named++
		if len(answer.Frames) > 0 || len(answer.Tests) > 0 {
			l.found++
		}
	}
	return answer, err
}

// Elsewhere says so where no file that the failures name is in the source: then it is hardly theirs. It is empty where one is.
func (o *Flags) Elsewhere() string {
	l := o.looked
	if l == nil {
		return ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.named == 0 || l.found > 0 {
		return ""
	}
	return "no file that the failures name is in --source " + o.source + "; is the report of another repository?"
}
