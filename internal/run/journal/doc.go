// Package journal keeps the trials of a run in a file until the run ends, so that a run that was killed, or whose disk was
// full, can be resumed: it gives the same bytes as one that was never interrupted.
//
// A journal is JSON lines: a header with the configuration of the run, then a line for each case of the docket in its
// order, with the result and what the other outputs of the run need of the trial. Each line carries a digest over the cases
// up to it, so that a changed docket is noticed. A line is one write, and is written before the trial is shown anywhere: a
// killed process loses no trial that somebody saw. The file is synced at most once in [SyncInterval], so that a loss of
// power costs the trials of that time, which are then tried again.
package journal
