package testlog

import "strconv"

// The labels that a case may get, in ReportPortal's terms.
const (
	ProductBug    = "pb001"
	AutomationBug = "ab001"
	SystemIssue   = "si001"
	NoDefect      = "nd001"
)

// Labels are all labels, in the order in which every case has them.
func Labels() []string { return []string{ProductBug, AutomationBug, SystemIssue, NoDefect} }

// IDs gives every case an id of its own. The zero value is ready. Not safe for concurrent use.
type IDs struct {
	given map[string]int // how often
}

// Unique gives id, or where it was given before id#2 and so on, as several failures of one test have it. An empty id is
// "unknown".
func (i *IDs) Unique(id string) string {
	if id == "" {
		id = "unknown"
	}
	if i.given == nil {
		i.given = map[string]int{}
	}
	i.given[id]++
	if n := i.given[id]; n > 1 {
		return i.Unique(id + "#" + strconv.Itoa(n))
	}
	return id
}
