package main

// The causes, in ReportPortal's terms.
const (
	productBug    = "pb001"
	automationBug = "ab001"
	systemIssue   = "si001"
	noDefect      = "nd001"
)

func causes() []string { return []string{systemIssue, productBug, automationBug, noDefect} }

// probeArg has the generator, started by the launcher, look at its environment.
const probeArg = "-probe"
