package try

import (
	"errors"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

// interrupted says how far an interrupted run came, and how to resume it.
func (r *tryRun) interrupted() error {
	text := "interrupted; " + cli.Count(r.tried, "case was", "cases were") + " tried and written"
	if r.tried > 0 && (r.journal != nil || r.recorded()) {
		text += "; " + r.sameCommand() + " continues from there"
	}
	return errors.New(text)
}

// sameCommand tells how to resume a run.
func (r *tryRun) sameCommand() string {
	text := "the same command with --resume"
	if r.journal != nil {
		return text
	}
	o := r.options
	if o.format == "table" || o.output == "" && o.format != "jsonl" {
		text += " and --format jsonl"
	}
	if without := o.notResumed(); len(without) > 0 {
		text += ", and without " + strings.Join(without, " and ") + ","
	}
	return text
}

// recorded says whether a record of the run can be resumed.
func (r *tryRun) recorded() bool {
	return r.recording != nil && !r.options.record.digestsOnly && !r.stopped
}

// notResumed are the flags of this run that --resume does not go with where the results are those of a record.
func (o *tryOptions) notResumed() []string {
	var flags []string
	if len(o.reports) > 0 {
		flags = append(flags, "--report")
	}
	if o.cases != "" {
		flags = append(flags, "--cases")
	}
	if len(o.Candidate.Modules) > 0 {
		flags = append(flags, "--canary")
	}
	return flags
}
