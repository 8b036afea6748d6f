package issues

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
)

// Label is what the issues of this program have in common. An issue without it is not found again.
const Label = "shadowcourt"

// State of an issue.
type State int

// The states.
const (
	Open    State = iota
	Closed        // as done: it may come back
	Decided       // somebody decided that nothing is done, or locked it: that stands
)

// Issue is one of a tracker.
type Issue struct {
	Ref   string // such as #12
	State State
	// Why says how it was decided.
	Why string

	number int // on GitHub
}

// Draft is an issue to open.
type Draft struct {
	Finding   *Finding
	Document  *answers.Document
	Assignees []string // accounts of the tracker
}

// ErrForgotten says that an issue was opened and will not be found again, so that the next run would open another.
var ErrForgotten = errors.New("it will not be found again")

// Action is what is done about a finding.
type Action string

// The actions.
const (
	Opens    Action = "open"
	Reopens  Action = "reopen"
	Comments Action = "comment"
	Keeps    Action = "keep"  // the issue says it already
	Leaves   Action = "leave" // Why says why
	Fails    Action = "failed"
)

// Step is what is done about one finding, or would be.
type Step struct {
	Finding *Finding
	Action  Action
	Ref     string // of the issue; empty for one that is not open yet
	Why     string
	Err     error
	Written bool
}

// Keeper keeps the issues of a repository.
type Keeper struct {
	Tracker *GitHub
	// Max is how many issues are opened at most.
	Max int
	// Accounts are those of owners and authors in the tracker, by their names in CODEOWNERS or in commits.
	Accounts map[string]string
	// Author assigns the author of a culprit, too.
	Author bool
	// Main says that the answers are of the main branch. Elsewhere the base may be older than the fix, so nothing is reopened.
	Main bool
	// Write does it; otherwise nothing is sent that changes anything.
	Write bool
}

// Keep does for each finding what is to be done, in order, and goes on behind a failure. Only where it can't be told which issues there are
// already is there no step. Two runs at the same time may open the same issue twice: trackers don't compare and set.
func (k *Keeper) Keep(ctx context.Context, d *answers.Document, found []*Finding) ([]Step, error) {
	var fingerprints []string
	for _, f := range found {
		fingerprints = append(fingerprints, f.Fingerprint)
	}
	if len(found) == 0 {
		return nil, nil
	}
	known, err := k.Tracker.Known(ctx, fingerprints)
	if err != nil {
		return nil, fmt.Errorf("find the issues that are there: %w", err)
	}
	var steps []Step
	var failures publish.Failures
	opened, forgotten := 0, false
	for _, f := range found {
		s := Step{Finding: f}
		i, there := known[f.Fingerprint]
		switch stopped := failures.Stopped(ctx); {
		case stopped != nil:
			s.Action, s.Err = Fails, stopped
		case there:
			s.Ref, err = i.Ref, k.again(ctx, d, &s, i)
			failures.Count(err)
		case forgotten:
			s.Action, s.Why = Leaves, "the issue opened before has no label"
		case opened == k.Max:
			s.Action, s.Why = Leaves, fmt.Sprintf("more than %d new issues", k.Max)
		default:
			opened++
			err = k.open(ctx, d, &s)
			failures.Count(err)
			forgotten = errors.Is(err, ErrForgotten)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// again comments on an issue that is there, or reopens it.
func (k *Keeper) again(ctx context.Context, d *answers.Document, s *Step, i Issue) (err error) {
	defer func() {
		if s.Err = err; err != nil {
			s.Action = Fails
		}
	}()
	if i.State == Decided {
		s.Action, s.Why = Leaves, i.Why
		return nil
	}
	if i.State == Closed && !k.Main {
		s.Action, s.Why = Leaves, "closed as done: only answers of the main branch, with --main, reopen it"
		return nil
	}
	seen, err := k.Tracker.Seen(ctx, i, d.Head)
	if err != nil {
		return err
	}
	if seen {
		if s.Action, s.Why = Keeps, "says it already"; i.State == Closed {
			s.Why = "closed since it said so"
		}
		return nil
	}
	if i, err = k.Tracker.Read(ctx, i); err != nil { // somebody may have decided meanwhile
		return err
	}
	switch i.State {
	case Decided:
		s.Action, s.Why = Leaves, i.Why
		return nil
	case Closed:
		s.Action = Reopens
	default:
		s.Action = Comments
	}
	if !k.Write {
		return nil
	}
	reopened := i.State == Closed
	if reopened {
		if err = k.Tracker.Reopen(ctx, i); err != nil {
			return err
		}
		s.Written = true
	}
	if err = k.Tracker.Comment(ctx, i, s.Finding.again(d, reopened), d.Head); err != nil {
		return err
	}
	s.Written = true
	return nil
}

func (k *Keeper) open(ctx context.Context, d *answers.Document, s *Step) error {
	s.Action = Opens
	draft := &Draft{Finding: s.Finding, Document: d}
	var without []string
	draft.Assignees, without = k.assignees(s.Finding)
	var notes []string
	if len(draft.Assignees) > 0 {
		notes = append(notes, "assigned to "+strings.Join(draft.Assignees, ", "))
	}
	if len(without) > 0 {
		notes = append(notes, "not assigned: "+strings.Join(without, ", "))
	}
	if k.Write {
		i, note, err := k.Tracker.Open(ctx, draft)
		s.Ref, s.Written = i.Ref, i.Ref != ""
		if note != "" {
			notes = []string{note}
		}
		if err != nil {
			s.Action, s.Err = Fails, err
			return err
		}
	}
	s.Why = strings.Join(notes, "; ")
	return nil
}

// mostAssignees is how many GitHub takes.
const mostAssignees = 10

// assignees are the accounts of the owners, and the owners without one, such as teams and addresses.
func (k *Keeper) assignees(f *Finding) (accounts, without []string) {
	names := f.owners()
	if k.Author && f.Kind == Culprit {
		names = append(names, f.Failures[0].Culprit.Author)
	}
	for _, name := range names {
		account := k.Accounts[name]
		if account == "" {
			account = k.Tracker.Account(name)
		}
		switch {
		case account == "" || len(accounts) == mostAssignees:
			without = append(without, name)
		case !slices.Contains(accounts, account):
			accounts = append(accounts, account)
		}
	}
	return accounts, without
}

var user = regexp.MustCompile(`^@([0-9A-Za-z](?:[0-9A-Za-z-]{0,38}))$`)
