package testlog

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// raceReport begins a report of Go's race detector, and raceEnd ends it.
const (
	raceReport = "WARNING: DATA RACE"
	raceEnd    = "====="
)

// How sure a race is one of the product where both accesses are in it: surer if it started one of the goroutines, since
// otherwise the test may share what nobody promised to be shared. That a test races itself makes it flaky.
const (
	ownRace    = 0.8
	calledRace = 0.6
	flakyRace  = 0.85
)

// Races cuts the reports of Go's race detector. One of which both accesses lie in the product is the product's, whoever's
// goroutines they are; any other makes the test flaky. group is the package of the test. It gives the label that all reports
// speak for, or nd001, and how sure the least sure is.
func (c *Cutter) Races(group string) (supports string, least float64) {
	supports, least = NoDefect, flakyRace
	found, mixed := 0, false
	for i := 0; i < len(c.Lines); i++ {
		if strings.TrimSpace(c.Lines[i]) != raceReport {
			continue
		}
		end := i + 1
		for end < len(c.Lines) && !strings.HasPrefix(strings.TrimSpace(c.Lines[end]), raceEnd) {
			end++
		}
		label, confidence := whoRaces(c.Lines[i+1:end], group)
		switch {
		case label == NoDefect:
			supports, least, mixed = NoDefect, flakyRace, true
		case !mixed:
			supports, least = label, min(least, confidence)
		}
		if found < MaxPerRule && c.Add(i, min(end, i+MaxExcerptLines), Rule{Supports: label, Confidence: confidence, Element: abi.Water}) {
			found++
		}
		i = end - 1
	}
	return supports, least
}

// whoRaces reads a report: its parts are two accesses, and where the goroutines were started.
func whoRaces(lines []string, group string) (label string, confidence float64) {
	product, started := 0, false
	for i := range lines {
		heading := strings.TrimSpace(lines[i])
		access := strings.Contains(heading, " at 0x") && strings.HasSuffix(heading, ":")
		if !access && !strings.HasSuffix(heading, "created at:") {
			continue
		}
		file := firstOwnFile(lines[i+1:], group)
		own := file != "" && !isTest(file)
		switch {
		case own && access:
			product++
		case own:
			started = true
		}
	}
	switch {
	case product < 2:
		return NoDefect, flakyRace
	case started:
		return ProductBug, ownRace
	default:
		return ProductBug, calledRace
	}
}

// firstOwnFile is the file of the first frame in the code under test, of those up to an empty line.
func firstOwnFile(lines []string, group string) string {
	for i := 0; i+1 < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
		file, _, found := strings.Cut(strings.TrimSpace(lines[i+1]), ".go:")
		if found && OwnGoFrame(lines[i], file, group) {
			return file + ".go"
		}
	}
	return ""
}
