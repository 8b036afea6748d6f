package quotes

import "strings"

// Line is the line, from 1, of the document of that name on which a quote
// begins, and 0 if no line has its first words as they stand.
func (d *Documents) Line(name, quote string) int {
	first := ""
	for line := range strings.Lines(quote) {
		if first = foldSpace(line); first != "" {
			break
		}
	}
	for i := range d.list {
		if d.list[i].Name != name || first == "" {
			continue
		}
		number := 0
		for line := range strings.Lines(d.list[i].Text) {
			number++
			if strings.Contains(line, first) || strings.Contains(foldSpace(line), first) {
				return number
			}
		}
	}
	return 0
}
