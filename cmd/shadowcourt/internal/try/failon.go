package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// failOn says for which results the command ends with its own exit code.
type failOn struct {
	statuses []trial.Status
	labels   []string
	audits   []string // of auditFailures
	// unknown are labels that no case had so far, of those that were read.
	unknown []string
	cases   bool // there was one
}

// parseFailOn reads the words of --fail-on. Labels that are known before the cases are read need no "label:", and may be given by
// their names, as the table shows them; a status of the same name comes first.
func parseFailOn(list []string, audited bool, names map[string]string) (*failOn, error) {
	labels := slices.Sorted(maps.Keys(names))
	called, both := make([]string, len(labels)), make([]string, len(labels))
	for i, label := range labels {
		called[i], both[i] = trial.LabelName(names, label), label
		if called[i] != label {
			both[i] = strconv.Quote(called[i]) + " or " + label
		}
	}
	f := &failOn{}
	var faults []error
	for _, word := range list {
		word = strings.TrimSpace(word)
		label, isLabel := strings.CutPrefix(word, "label:")
		audit, isAudit := strings.CutPrefix(word, "audit:")
		switch {
		case isLabel && label != "":
			f.labels = append(f.labels, label)
		case isAudit && !audited:
			faults = append(faults, fmt.Errorf("--fail-on %q needs --audit", word))
		case isAudit && slices.Contains(open.AuditFailures, audit):
			f.audits = append(f.audits, audit)
		case slices.Contains(trial.Statuses(), trial.Status(word)):
			f.statuses = append(f.statuses, trial.Status(word))
		case slices.Contains(labels, word):
			f.labels = append(f.labels, word)
		case slices.Contains(called, word):
			f.labels = append(f.labels, labels[slices.Index(called, word)])
		default:
			faults = append(faults, fmt.Errorf("--fail-on %q: use a status (%s), a label (%s; label:ID for others), or with --audit audit:%s",
				word, cli.Join(trial.Statuses()), strings.Join(both, ", "), strings.Join(open.AuditFailures, " or audit:")))
		}
	}
	return f, errors.Join(faults...)
}

func (f *failOn) matches(r *trial.Result) bool {
	return slices.Contains(f.statuses, r.Final.Status) ||
		r.Final.Classification != "" && slices.Contains(f.labels, r.Final.Classification) ||
		r.Audit != nil && slices.ContainsFunc(f.audits, func(word string) bool { return open.AuditFails(r.Audit, word) })
}

// watch notes which of the labels of --fail-on the cases have that pass by.
func (f *failOn) watch(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	f.begin()
	if len(f.labels) == 0 {
		return entries
	}
	return func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if err == nil {
				f.see(entry.Case.Labels)
			}
			if !yield(entry, err) {
				return
			}
		}
	}
}

// begin begins with no case seen.
func (f *failOn) begin() { f.unknown = slices.Clone(f.labels) }

// see notes the labels of a case.
func (f *failOn) see(labels []string) {
	f.cases = true
	f.unknown = slices.DeleteFunc(f.unknown, func(label string) bool { return slices.Contains(labels, label) })
}

// warn tells of labels that no case has: whoever mistypes one has a gate that never closes.
func (f *failOn) warn(ctx context.Context, w io.Writer) {
	if !f.cases || ctx.Err() != nil {
		return // not all cases were read
	}
	for _, label := range f.unknown {
		fmt.Fprintf(w, "warning: --fail-on label:%s: no case has this label\n", sanitize.Line(label))
	}
}
