package run

import (
	"fmt"
	"strconv"
	"strings"
)

// Notes say what was in the inputs and is no case, a line each: files of archives, and results of analyses. They are complete when
// all entries are read.
func (i *Dockets) Notes() []string {
	var notes []string
	for _, a := range i.Archives {
		if a.Others == 0 {
			continue
		}
		note := fmt.Sprintf("%s: %s read, and %s left out", a.Name, countOf(a.Reports, "report was", "reports were"), countOf(a.Others, "file that is no report was", "files that are no reports were"))
		if len(a.Archives) > 0 {
			note += "; archives in an archive are not opened: " + strings.Join(a.Archives, ", ")
		}
		notes = append(notes, note)
	}
	for _, name := range i.Texts {
		notes = append(notes, name+" is what `go test` prints for people: tests that passed, and which test printed what, are not in it; `go test -json ./...` tells them")
	}
	for _, l := range i.Left {
		var why []string
		for _, kind := range []struct {
			count int
			what  string
		}{
			{l.Results.Suppressed, "suppressed"},
			{l.Results.Unchanged, "unchanged since the baseline"},
			{l.Results.Absent, "absent since the baseline"},
			{l.Results.Passed, "of a check that found nothing"},
		} {
			if kind.count > 0 {
				why = append(why, strconv.Itoa(kind.count)+" "+kind.what)
			}
		}
		notes = append(notes, fmt.Sprintf("%s: %s no case: %s", l.Log, countOf(l.Results.Count(), "result is", "results are"), strings.Join(why, ", ")))
	}
	return notes
}

func countOf(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
