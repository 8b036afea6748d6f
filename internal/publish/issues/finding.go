// Package issues keeps one issue for each proven culprit, flake and older failure in a tracker. It is found again by a fingerprint, commented on
// once for each commit, and reopened when what it is about comes back, unless somebody decided not to fix it.
package issues

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
)

// Kind is what an issue is about.
type Kind string

// The kinds.
const (
	Culprit Kind = "culprit" // a commit, which was run again together with its parent
	Older   Kind = "older"   // a failure that the base has, too
	Flake   Kind = "flake"   // a test that passes and fails on the base
)

// Finding is what deserves an issue.
type Finding struct {
	Kind Kind
	// Fingerprint is the same for the same finding: 32 hexadecimal digits. That of a culprit is made of its commit, that of a flake of the test
	// alone, since its message varies, and that of an older failure is the failure's own.
	Fingerprint string
	// Failures are all that a culprit causes, else one.
	Failures []*answers.Failure
}

// Left is an answer that deserves none.
type Left struct{ ID, Why string }

// Select finds what deserves an issue, culprits first. The answers of a change belong to its author until it is merged: only where they are of a
// push to the main branch do its own failures count.
func Select(d *answers.Document, main bool) (found []*Finding, left []Left) {
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
			culprits[commit] = &Finding{Culprit, fingerprint(Culprit, commit), []*answers.Failure{f}}
			lists[0] = append(lists[0], culprits[commit])
		case f.Label == alibi.Flaky:
			lists[2] = append(lists[2], &Finding{Flake, fingerprint(Flake, f.ID), []*answers.Failure{f}})
		default:
			lists[1] = append(lists[1], &Finding{Older, f.Fingerprint, []*answers.Failure{f}})
		}
	}
	return append(append(lists[0], lists[1]...), lists[2]...), left
}

func fingerprint(kind Kind, of string) string {
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
