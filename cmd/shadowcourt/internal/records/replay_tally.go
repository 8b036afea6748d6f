package records

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// replayTally counts how the trials of a record came out again.
type replayTally struct {
	docket      bool // --docket was given
	same, other int
	audits      int      // of those that are the same
	reasons     []reason // why trials could not be replayed, in the order in which they came
}

// reason is why some trials could not be replayed.
type reason struct {
	why   string
	ids   []string // of the first ones
	count int
}

// maxReasonIDs is how many trials are named with a reason.
const maxReasonIDs = 3

// add counts a trial. It is true where the same bytes came.
func (t *replayTally) add(r *replay.Replayed) bool {
	switch {
	case r.Err == nil && r.Difference == nil:
		t.same++
		if r.Was.Audit != nil {
			t.audits++
		}
		return true
	case r.Err == nil, errors.Is(r.Err, replay.ErrOtherCase):
		t.other++
	default:
		t.reason(t.why(r.Err), sanitize.Line(r.Was.ID))
	}
	return false
}

func (t *replayTally) reason(why, id string) {
	for i := range t.reasons {
		if t.reasons[i].why == why {
			t.reasons[i].count++
			if len(t.reasons[i].ids) < maxReasonIDs {
				t.reasons[i].ids = append(t.reasons[i].ids, id)
			}
			return
		}
	}
	t.reasons = append(t.reasons, reason{why, []string{id}, 1})
}

// why says why a trial could not be replayed, and what would help.
func (t *replayTally) why(err error) string {
	why := err.Error()
	_, missing := errors.AsType[*replay.MissingModulesError](err)
	switch {
	case errors.Is(err, replay.ErrNoCase) && t.docket:
		why += ", and neither does --docket"
	case errors.Is(err, replay.ErrNoCase):
		why += "; --docket gives it"
	case missing:
		why += "; --store names the folder that has them"
	}
	return sanitize.Line(why)
}

// tellReasons tells each reason once.
func (t *replayTally) tellReasons(w io.Writer) error {
	var b strings.Builder
	for _, r := range t.reasons {
		b.WriteString(strings.Join(r.ids, ", "))
		if more := r.count - len(r.ids); more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		fmt.Fprintf(&b, "  can't be replayed: %s\n", r.why)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// err says how many trials came out otherwise, and how many not at all; nil
// where all are the same.
func (t *replayTally) err() error {
	not := 0
	for _, r := range t.reasons {
		not += r.count
	}
	if t.other == 0 && not == 0 {
		return nil
	}
	var list []string
	if t.other > 0 {
		list = append(list, cli.Count(t.other, "trial is", "trials are")+" not the same")
	}
	if not > 0 {
		list = append(list, cli.Count(not, "trial", "trials")+" could not be replayed")
	}
	return fmt.Errorf("%s, %d the same", strings.Join(list, ", "), t.same)
}

// tellDifference says of a trial how it is not the same. It says nothing of one
// that could not be replayed: of these the reasons are told in the end.
func (t *replayTally) tellDifference(w io.Writer, r *replay.Replayed) error {
	id := sanitize.Line(r.Was.ID)
	d := r.Difference
	switch {
	case errors.Is(r.Err, replay.ErrOtherCase):
		_, err := fmt.Fprintf(w, "%s  is not the same: %s\n", id, sanitize.Line(r.Err.Error()))
		return err
	case d == nil:
		return nil
	}
	place := d.Where
	if d.Call >= 0 {
		place = fmt.Sprintf("call %d, %s", d.Call, d.Where)
	}
	if d.Audit && d.Event >= 0 {
		place = "the audit, " + place
	}
	fmt.Fprintf(w, "%s  takes another path at %s: %s\n", id, sanitize.Line(place), sanitize.Line(d.What))
	if len(d.Fields) == 0 {
		_, err := fmt.Fprintf(w, "  was  %s\n  is   %s\n", sanitize.Line(d.Was), sanitize.Line(d.Is))
		return err
	}
	for _, f := range d.Fields {
		fmt.Fprintf(w, "  %s\n    was  %s\n    is   %s\n", sanitize.Line(f.Path), sanitize.Line(orAbsent(f.Was)), sanitize.Line(orAbsent(f.Is)))
	}
	return nil
}

func orAbsent(s string) string {
	if s == "" {
		return "(absent)"
	}
	return s
}
