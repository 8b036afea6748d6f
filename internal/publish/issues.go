package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
)

// findingKind is what an issue is about.
type findingKind string

// The kinds.
const (
	aboutCulprit findingKind = "culprit" // a commit, which was run again together with its parent
	aboutOlder   findingKind = "older"   // a failure that the base has, too
	aboutFlake   findingKind = "flake"   // a test that passes and fails on the base
)

// Finding is what deserves an issue.
type Finding struct {
	Kind findingKind
	// Fingerprint is the same for the same finding: 32 hexadecimal digits. That of a culprit is made of its commit, that of a flake of the test
	// alone, since its message varies, and that of an older failure is the failure's own.
	Fingerprint string
	// Failures are all that a culprit causes, else one.
	Failures []*answers.Failure
}

// Left is an answer that deserves none.
type Left struct{ ID, Why string }

// SelectFindings finds what deserves an issue, culprits first. The answers of a change belong to its author until it is merged: only where they are of a
// push to the main branch do its own failures count.
func SelectFindings(d *answers.Document, main bool) (found []*Finding, left []Left) {
	culprits := map[string]*Finding{}
	var lists [3][]*Finding
	for i := range d.Failures {
		f := &d.Failures[i]
		if why := whyNot(f, main); why != "" {
			left = append(left, Left{f.ID, why})
			continue
		}
		switch {
		case verified(f):
			commit := f.Culprit.Commit
			if of := culprits[commit]; of != nil {
				of.Failures = append(of.Failures, f)
				continue
			}
			culprits[commit] = &Finding{aboutCulprit, fingerprint(aboutCulprit, commit), []*answers.Failure{f}}
			lists[0] = append(lists[0], culprits[commit])
		case f.Label == alibi.Flaky:
			lists[2] = append(lists[2], &Finding{aboutFlake, fingerprint(aboutFlake, f.ID), []*answers.Failure{f}})
		default:
			lists[1] = append(lists[1], &Finding{aboutOlder, f.Fingerprint, []*answers.Failure{f}})
		}
	}
	return append(append(lists[0], lists[1]...), lists[2]...), left
}

func fingerprint(kind findingKind, of string) string {
	sum := sha256.Sum256([]byte(string(kind) + "\x00" + of))
	return hex.EncodeToString(sum[:16])
}

// verified says whether the commit that a failure began with is proven. A flake has none.
func verified(f *answers.Failure) bool {
	return f.Culprit != nil && f.Culprit.Verified && f.Culprit.Commit != "" && f.Label != alibi.Flaky
}

// whyNot says why an answer deserves no issue; empty where it does.
func whyNot(f *answers.Failure, main bool) string {
	switch {
	case f.Label == "":
		return "open: nothing is proven"
	case f.Label == alibi.Caused && !main:
		return "caused by the change, which is not merged: with --main an issue says so"
	case f.Label == alibi.Caused && !verified(f):
		return "caused, but no culprit is verified"
	case f.Label == alibi.Flaky && !mixedOnBase(f):
		return "flaky, but not proven so on the base"
	case f.Label == alibi.Conflict || f.Label == alibi.Environment:
		return f.Label + ": nothing on the main branch to fix"
	}
	return ""
}

// mixedOnBase says whether runs of the base passed and failed.
func mixedOnBase(f *answers.Failure) bool {
	passed, failed := 0, 0
	for i := range f.Runs {
		e := &f.Runs[i]
		if e.Product == abi.Base && e.Tests == abi.Base && e.Outcome != abi.OutcomeNotRun && e.Loaded != abi.Contradicted {
			passed, failed = passed+e.Passed, failed+e.Same+e.Other
		}
	}
	return passed > 0 && failed > 0
}

// issueLabel is what the issues of this program have in common. An issue without it is not found again.
const issueLabel = "shadowcourt"

// issueState of an issue.
type issueState int

// The states.
const (
	stateOpen    issueState = iota
	stateClosed             // as done: it may come back
	stateDecided            // somebody decided that nothing is done, or locked it: that stands
)

// trackerIssue is one of a tracker.
type trackerIssue struct {
	Ref   string // such as #12
	State issueState
	// Why says how it was decided.
	Why string

	number int // on GitHub
}

// issueDraft is an issue to open.
type issueDraft struct {
	Finding   *Finding
	Document  *answers.Document
	Assignees []string // accounts of the tracker
}

// errForgotten says that an issue was opened and will not be found again, so that the next run would open another.
var errForgotten = errors.New("it will not be found again")

// IssueAction is what is done about a finding.
type IssueAction string

// The actions.
const (
	IssueOpens    IssueAction = "open"
	IssueReopens  IssueAction = "reopen"
	IssueComments IssueAction = "comment"
	issueKeeps    IssueAction = "keep"  // the issue says it already
	issueLeaves   IssueAction = "leave" // Why says why
	IssueFails    IssueAction = "failed"
)

// IssueStep is what is done about one finding, or would be.
type IssueStep struct {
	Finding *Finding
	Action  IssueAction
	Ref     string // of the issue; empty for one that is not open yet
	Why     string
	Err     error
	Written bool
}

// IssueKeeper keeps one issue for each proven culprit, flake and older failure. It is found again by a fingerprint, commented on once for each
// commit, and reopened when what it is about comes back, unless somebody decided not to fix it.
type IssueKeeper struct {
	Tracker *Tracker
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

// Keep does for each finding what is to be done, in order, and goes on behind a failure. Where the
// issues that are there can't be listed, there is no step. Two runs at the same time may open the same issue twice: trackers don't compare and set.
func (k *IssueKeeper) Keep(ctx context.Context, d *answers.Document, found []*Finding) ([]IssueStep, error) {
	var fingerprints []string
	for _, f := range found {
		fingerprints = append(fingerprints, f.Fingerprint)
	}
	if len(found) == 0 {
		return nil, nil
	}
	known, err := k.Tracker.known(ctx, fingerprints)
	if err != nil {
		return nil, fmt.Errorf("find the issues that are there: %w", err)
	}
	var steps []IssueStep
	var failures failureCount
	opened, forgotten := 0, false
	for _, f := range found {
		s := IssueStep{Finding: f}
		i, there := known[f.Fingerprint]
		switch stopped := failures.stopped(ctx); {
		case stopped != nil:
			s.Action, s.Err = IssueFails, stopped
		case there:
			s.Ref, err = i.Ref, k.again(ctx, d, &s, i)
			failures.count(err)
		case forgotten:
			s.Action, s.Why = issueLeaves, "the issue opened before has no label"
		case opened == k.Max:
			s.Action, s.Why = issueLeaves, fmt.Sprintf("more than %d new issues", k.Max)
		default:
			opened++
			err = k.open(ctx, d, &s)
			failures.count(err)
			forgotten = errors.Is(err, errForgotten)
		}
		steps = append(steps, s)
	}
	return steps, nil
}

// again comments on an issue that is there, or reopens it.
func (k *IssueKeeper) again(ctx context.Context, d *answers.Document, s *IssueStep, i trackerIssue) (err error) {
	defer func() {
		if s.Err = err; err != nil {
			s.Action = IssueFails
		}
	}()
	if i.State == stateDecided {
		s.Action, s.Why = issueLeaves, i.Why
		return nil
	}
	if i.State == stateClosed && !k.Main {
		s.Action, s.Why = issueLeaves, "closed as done: only answers of the main branch, with --main, reopen it"
		return nil
	}
	seen, err := k.Tracker.seen(ctx, i, d.Head)
	if err != nil {
		return err
	}
	if seen {
		if s.Action, s.Why = issueKeeps, "says it already"; i.State == stateClosed {
			s.Why = "closed since it said so"
		}
		return nil
	}
	read, err := k.Tracker.read(ctx, i) // somebody may have decided meanwhile
	if err != nil {
		return err
	}
	i = issueOf(read)
	switch i.State {
	case stateDecided:
		s.Action, s.Why = issueLeaves, i.Why
		return nil
	case stateClosed:
		s.Action = IssueReopens
	default:
		s.Action = IssueComments
	}
	if !k.Write {
		return nil
	}
	reopened := i.State == stateClosed
	if reopened {
		if err = k.Tracker.reopen(ctx, i); err != nil {
			return err
		}
		s.Written = true
	}
	if err = k.Tracker.comment(ctx, i, s.Finding.again(d, reopened), d.Head); err != nil {
		return err
	}
	s.Written = true
	return nil
}

func (k *IssueKeeper) open(ctx context.Context, d *answers.Document, s *IssueStep) error {
	s.Action = IssueOpens
	draft := &issueDraft{Finding: s.Finding, Document: d}
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
		i, note, err := k.Tracker.open(ctx, draft)
		s.Ref, s.Written = i.Ref, i.Ref != ""
		if note != "" {
			notes = []string{note}
		}
		if err != nil {
			s.Action, s.Err = IssueFails, err
			return err
		}
	}
	s.Why = strings.Join(notes, "; ")
	return nil
}

// mostAssignees is how many GitHub takes.
const mostAssignees = 10

// assignees are the accounts of the owners, and the owners without one, such as teams and addresses.
func (k *IssueKeeper) assignees(f *Finding) (accounts, without []string) {
	names := f.owners()
	if k.Author && f.Kind == aboutCulprit {
		names = append(names, f.Failures[0].Culprit.Author)
	}
	for _, name := range names {
		account := k.Accounts[name]
		if account == "" {
			account = k.Tracker.account(name)
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

var userName = regexp.MustCompile(`^@([0-9A-Za-z](?:[0-9A-Za-z-]{0,38}))$`)
