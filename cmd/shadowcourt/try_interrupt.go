package main

import (
	"fmt"
	"strings"
)

// interrupted says how far an interrupted run came, and how it can be gone on with.
func (r *tryRun) interrupted() error {
	text := "interrupted; " + count(r.tried, "case was", "cases were") + " tried and written"
	if r.tried > 0 && (r.recorded() || r.resumable()) {
		text += "; the same command with --resume"
		if !r.resumable() {
			text += " and --format jsonl"
		}
		if without := r.options.notResumed(); len(without) > 0 {
			text += ", and without " + strings.Join(without, " and ") + ","
		}
		text += " goes on from there"
	}
	return fmt.Errorf("%s", text)
}

// resumable says whether what was written can be gone on with.
func (r *tryRun) resumable() bool {
	o := r.options
	byRecord := r.recorded() && (o.output != "" || o.format == "jsonl")
	return byRecord || r.resumed.path != "" && !r.resumed.tally.stopped
}

// recorded says whether a record of the run can be gone on with.
func (r *tryRun) recorded() bool {
	return r.options.record.file != "" && !r.options.record.digestsOnly && !r.resumed.tally.stopped
}

// notResumed are the flags of this run that --resume does not go with.
func (o *tryOptions) notResumed() []string {
	var flags []string
	if len(o.reports) > 0 {
		flags = append(flags, "--report")
	}
	if o.cases != "" {
		flags = append(flags, "--cases")
	}
	if len(o.canary.modules) > 0 {
		flags = append(flags, "--canary")
	}
	return flags
}
