package main

import (
	"fmt"
	"strings"
)

// interrupted says how far an interrupted run came, and how it can be gone on with.
func (r *tryRun) interrupted() error {
	text := "interrupted; " + count(r.tried, "case was", "cases were") + " tried and written"
	recorded := r.options.record.file != "" && !r.options.record.digestsOnly
	if r.tried > 0 && (recorded || r.resumable()) {
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
	byRecord := o.record.file != "" && !o.record.digestsOnly && (o.output != "" || o.format == "jsonl")
	return byRecord || r.resumed.path != "" && !r.resumed.tally.stopped
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
