package open

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// laboratory notes of which cases nothing can be run, and why.
type laboratory struct {
	*experiment.Lab

	mu    sync.Mutex
	cases map[string]map[string]bool // ids by reason
}

// maxReasons is how many reasons are kept, and of how many cases each.
const maxReasons = 1000

// Offers are those of the Lab.
func (l *laboratory) Offers(ctx context.Context, c *abi.Case) ([]abi.ExperimentOffer, error) {
	offers, err := l.Lab.Offers(ctx, c)
	if len(offers) == 0 && err == nil {
		l.note(c.ID, l.Why(c))
	}
	return offers, err
}

func (l *laboratory) note(id, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cases == nil {
		l.cases = map[string]map[string]bool{}
	}
	ids := l.cases[why]
	if ids == nil && len(l.cases) < maxReasons {
		ids = map[string]bool{}
		l.cases[why] = ids
	}
	if ids != nil && len(ids) < maxReasons {
		ids[id] = true
	}
}

// maxReasonLines is how many reasons are told.
const maxReasonLines = 10

// NotRun says in a line why nothing could be run for some cases, or for all; empty where experiments were not wanted, or could be run.
func (o *Flags) NotRun() string {
	l := o.experiments.laboratory
	switch {
	case l == nil:
		return ""
	case !l.Able():
		return "nothing could be run, and all cases were decided by reading alone: " + l.Why(nil)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var parts []string
	reasons := slices.Sorted(maps.Keys(l.cases))
	for _, why := range reasons[:min(len(reasons), 3)] {
		parts = append(parts, cli.Count(len(l.cases[why]), "case was", "cases were")+" decided by reading alone: "+why)
	}
	return strings.Join(parts, "; ")
}

// SayNotRun tells of which cases nothing can be run, and why, unless a warning said so at the start. They were decided by reading
// alone. It says whether there are any.
func (o *Flags) SayNotRun(w io.Writer) bool {
	l := o.experiments.laboratory
	if l == nil || !l.Able() {
		return l != nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	reasons := slices.Sorted(maps.Keys(l.cases))
	for _, why := range reasons[:min(len(reasons), maxReasonLines)] {
		ids := slices.Sorted(maps.Keys(l.cases[why]))
		more := ""
		if len(ids) > 1 {
			more = " and " + cli.Count(len(ids)-1, "other case", "other cases")
		}
		fmt.Fprintf(w, "note: no experiments for %s%s: %s\n", sanitize.Line(ids[0]), more, sanitize.Line(why))
	}
	if more := len(reasons) - maxReasonLines; more > 0 {
		fmt.Fprintf(w, "note: no experiments for cases of %s\n", cli.Count(more, "further reason", "further reasons"))
	}
	return len(reasons) > 0
}

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
