package records

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// verified is what verify says of a record, as JSON or text.
type verified struct {
	Record string `json:"record"`
	// Verified: all checks passed.
	Verified bool `json:"verified"`
	// State is complete, "not closed" or cut.
	State   string        `json:"state"`
	Entries int           `json:"entries"`
	Trials  int           `json:"trials"`
	Audits  int           `json:"audits"`
	Key     string        `json:"key"`
	Head    record.Digest `json:"head"`
	// Since counts the entries behind the head that was asked for.
	Since *int           `json:"entries_since_head,omitempty"`
	Fault *verifiedFault `json:"fault"`
	// Why it does not hold.
	Why  *string       `json:"why"`
	List []listedTrial `json:"trial_list,omitempty"`

	wanted record.Digest // head; empty for any
	found  int           // entries up to it
	list   bool
	report *record.Report
}

type verifiedFault struct {
	Entry  int    `json:"entry"`
	Line   int    `json:"line"`
	Offset int64  `json:"offset"`
	Why    string `json:"why"`
}

// listedTrial is a trial of the list. Without its result the record holds only digests.
type listedTrial struct {
	Entry  int           `json:"entry"`
	ID     string        `json:"id"`
	Case   record.Digest `json:"case"`
	Result record.Digest `json:"result_digest"`
	Final  *listedFinal  `json:"final"`
}

type listedFinal struct {
	Status         string  `json:"status"`
	Classification *string `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Cause          *string `json:"cause"`
}

// add takes an entry that holds.
func (v *verified) add(e *record.Entry, head record.Digest) {
	if v.wanted == head {
		v.found = e.Sequence + 1
	}
	if !v.list || e.Trial == nil {
		return
	}
	t := listedTrial{Entry: e.Sequence, ID: e.Trial.ID, Case: e.Trial.Case, Result: e.Trial.ResultDigest}
	var result struct {
		Final *listedFinal `json:"final"`
	}
	if json.Unmarshal(e.Trial.Result, &result) == nil {
		t.Final = result.Final
	}
	v.List = append(v.List, t)
}

// judge says what the record lacks; nil where it lacks nothing.
func (v *verified) judge(r *record.Report, open bool) error {
	v.report, v.Entries, v.Trials, v.Audits, v.Head = r, r.Entries, r.Trials, r.Audits, r.Head
	torn := r.Fault != nil && r.Fault.Torn
	switch {
	case torn && r.Entries > 0:
		v.State = fmt.Sprintf("not closed, and cut in entry %d", r.Fault.Entry)
	case r.Fault != nil:
		v.State = "broken"
	case !r.Closed:
		v.State = "not closed"
	default:
		v.State = "complete"
	}
	if f := r.Fault; f != nil {
		v.Fault = &verifiedFault{f.Entry, f.Line, f.Offset, f.Err.Error()}
	}
	if v.found > 0 {
		since := r.Entries - v.found
		v.Since = &since
	}
	switch {
	case r.Fault != nil && r.Entries == 0: // without a whole header nothing holds, whatever is accepted
		return fmt.Errorf("%s: %w", v.Record, r.Fault)
	case r.Fault != nil && (!open || !torn):
		return fmt.Errorf("%s: %w; %s before it: they hold", v.Record, r.Fault, entries(r))
	case r.Entries == 0:
		return fmt.Errorf("%s is empty", v.Record)
	case !r.Closed && !open:
		return fmt.Errorf("%s is not closed: %s, and nobody can say whether that is all of them; --open accepts it", v.Record, entries(r))
	case v.wanted != "" && v.found == 0:
		return fmt.Errorf("%s has no entry with the head %s: it is another record, or entries were taken from its end", v.Record, v.wanted)
	}
	return nil
}

func (v *verified) json(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// print writes the text for people.
func (v *verified) print(w io.Writer) error {
	if v.Verified {
		since := ""
		if v.Since != nil {
			since = "\nsince " + string(v.wanted) + ": " + cli.Count(*v.Since, "entry", "entries") + " added"
		}
		_, err := fmt.Fprintf(w, "%s holds and is %s: %s\nkey   %s\nhead  %s%s\n",
			sanitize.Line(v.Record), v.State, entries(v.report), v.Key, v.Head, since)
		if err != nil {
			return err
		}
	}
	if !v.list {
		return nil
	}
	t := table.NewWriter()
	t.SetStyle(cli.ListStyle())
	t.SuppressTrailingSpaces()
	t.AppendHeader(table.Row{"ENTRY", "CASE", "STATUS", "FINAL", "RESULT"})
	for i := range v.List {
		t.AppendRow(v.List[i].row())
	}
	_, err := fmt.Fprintln(w, t.Render())
	return err
}

func (t *listedTrial) row() table.Row {
	status, final := "not kept", ""
	if f := t.Final; f != nil {
		status = f.Status
		switch {
		case f.Classification != nil:
			final = *f.Classification + " " + trial.Number(f.Confidence)
		case f.Cause != nil:
			final = *f.Cause
		}
	}
	digest := string(t.Result)
	return table.Row{t.Entry, sanitize.Line(t.ID), sanitize.Line(status), sanitize.Line(final), digest[:min(len(digest), len("sha256:")+12)]}
}
