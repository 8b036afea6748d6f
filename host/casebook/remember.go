package casebook

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxNameBytes = 1 << 10
	maxBodyBytes = 32 << 10
)

// Origin says how a verdict came about.
type Origin string

// The origins.
const (
	// Decided: by the machine, Light or the court, from the case itself.
	Decided Origin = "decided"
	// Confirmed: somebody knows what is right.
	Confirmed Origin = "confirmed"
)

// Verdict is what was finally decided of a case. Status is the final status of a result (accepted, affirmed, amended,
// rejected, acquitted, unreviewed), or any other word where it is confirmed; Classification is empty where there is none.
type Verdict struct {
	Origin         Origin // Decided if it is empty
	Status         string
	Classification string
	Confidence     float64 // of the trial, in [0, 1]
}

// Entry is a case to remember.
type Entry struct {
	CaseID  string
	Group   string // the suite that it belongs to; optional
	Failure Failure
	// Verdict is nil where nothing was decided: the failure was seen, and that is all that is kept.
	Verdict *Verdict
}

// Run is what was seen in one run of some suites.
type Run struct {
	// Suites that were run beside those of the entries: those in which nothing failed.
	Suites  []string
	Entries []Entry
}

// Remember adds a run, all of it or nothing, and says how many verdicts were new. Runs are numbered in the order in which
// they are remembered. A run with the same cases, in the same words, as the latest one of its suites is that one: only
// verdicts that it did not have are added.
//
// A verdict that was remembered of the same case with the same fingerprint, origin, status and classification stays as it
// is, and counts as a late one. One that a machine decided is kept with at most the confidence of the earlier ones on the
// same fingerprint with the same classification: it rests on the same text, and may rest on them.
//
// Names may have up to a kibibyte, and of the text 32 KiB are kept. Errors: ErrEntry, ErrBusy, ErrDisk, ErrCorrupt.
func (b *Book) Remember(ctx context.Context, run Run) (added int, err error) {
	rows := make([]row, 0, len(run.Entries))
	suites := make([]string, 0, len(run.Suites))
	for _, suite := range run.Suites {
		if !isName(suite) {
			return 0, fmt.Errorf("casebook %s: %w", b.path, errName)
		}
		suites = append(suites, suite)
	}
	for i := range run.Entries {
		r, err := rowOf(&run.Entries[i])
		if err != nil {
			return 0, fmt.Errorf("casebook %s: entry %d: %w", b.path, i, err)
		}
		rows = append(rows, r)
		suites = append(suites, r.group)
	}
	slices.Sort(suites)
	suites = slices.DeleteFunc(slices.Compact(suites), func(suite string) bool { return suite == "" })
	// Of two that say the same in one call the surer one stays, whatever their order is.
	slices.SortStableFunc(rows, func(x, y row) int { return cmp.Compare(y.confidence, x.confidence) })
	err = b.insertAll(ctx, keyOf(suites, run.Entries), suites, rows, &added)
	if err != nil {
		return 0, explain("remember", b.path, err)
	}
	return added, nil
}

var errName = fmt.Errorf("%w: a name is longer than %d bytes, or no text", ErrEntry, maxNameBytes)

func isName(name string) bool {
	return len(name) <= maxNameBytes && utf8.ValidString(name) && !strings.ContainsRune(name, 0)
}

// keyOf tells runs apart by what was seen, whatever was decided of it.
func keyOf(suites []string, entries []Entry) string {
	cases := make([]string, len(entries))
	for i := range entries {
		e := &entries[i]
		cases[i] = digestOf("case", []string{e.CaseID, e.Group, e.Failure.Subject, e.Failure.Test}, e.Failure.Texts)
	}
	slices.Sort(cases)
	return digestOf("run", suites, cases)
}

type row struct {
	caseID, group, subject, body string
	decided                      bool // there is a verdict
	origin                       Origin
	status, classification       string
	confidence                   float64
	looks                        Fingerprint
}

func rowOf(e *Entry) (row, error) {
	if e.CaseID == "" {
		return row{}, fmt.Errorf("%w: it has no case ID", ErrEntry)
	}
	if !isName(e.CaseID) || !isName(e.Group) {
		return row{}, errName
	}
	r := row{caseID: e.CaseID, group: e.Group, looks: Take(e.Failure)}
	if e.Verdict == nil {
		return r, nil
	}
	v := *e.Verdict
	if v.Origin == "" {
		v.Origin = Decided
	}
	switch {
	case !isName(v.Status) || !isName(v.Classification):
		return row{}, errName
	case v.Status == "":
		return row{}, fmt.Errorf("%w: it has no status", ErrEntry)
	case v.Origin != Decided && v.Origin != Confirmed:
		return row{}, fmt.Errorf("%w: origin %q", ErrEntry, v.Origin)
	case !(v.Confidence >= 0 && v.Confidence <= 1):
		return row{}, fmt.Errorf("%w: confidence %v is outside [0, 1]", ErrEntry, v.Confidence)
	}
	r.decided, r.origin, r.status, r.classification = true, v.Origin, v.Status, v.Classification
	r.confidence = v.Confidence + 0 // no -0
	r.subject, r.body = cut(normalName(e.Failure.Subject), maxNameBytes), bodyOf(e.Failure.Texts)
	return r, nil
}

// bodyOf is what of the texts can be searched: their distinct normal lines.
func bodyOf(texts []string) string {
	var b strings.Builder
	seen := map[string]bool{}
	for _, text := range texts {
		for _, line := range normalLines(text) {
			if seen[line] || b.Len()+len(line) > maxBodyBytes {
				continue
			}
			seen[line] = true
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	return strings.ReplaceAll(b.String(), "\x00", "")
}

func cut(s string, n int) string {
	if len(s) > n {
		s = strings.ToValidUTF8(s[:n], "")
	}
	return strings.ReplaceAll(s, "\x00", "")
}
