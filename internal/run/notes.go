package run

import (
	"fmt"
	"strconv"
	"strings"
)

// Notes say what was in the inputs and is no case, a line each: files of archives, and what text for people lacks. They are complete when
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
	return notes
}

func countOf(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + more
}
