package reading

import "strings"

// maxClocks times of day of the evidence are compared.
const maxClocks = 48

// passed says whether a figure is the time between two times of day that stand in
// the evidence, as far as its last digit tells.
func (t *tracing) passed(f *figure) bool {
	if !f.numeric || f.unit != "s" {
		return false
	}
	if t.clocks == nil {
		t.clocks = []float64{}
		for i := range t.file.Items {
			if item := &t.file.Items[i]; item.Standing != Absent && len(t.clocks) < maxClocks {
				t.clocks = appendClocks(t.clocks, item.Content)
			}
		}
	}
	slack := f.step
	if f.near {
		slack = max(slack, f.value/10)
	}
	for i, a := range t.clocks {
		for _, b := range t.clocks[i+1:] {
			if off := max(a, b) - min(a, b) - f.value; off > -slack && off < slack {
				return true
			}
		}
	}
	return false
}

// appendClocks reads the times of day of a text, in seconds: 02:31:44, 14:05.
func appendClocks(list []float64, text string) []float64 {
	for i := range len(text) {
		if digits(text[i:]) == "" || i > 0 && (digits(text[i-1:i]) != "" || text[i-1] == ':') {
			continue
		}
		seconds, unit, rest := 0.0, 3600.0, text[i:]
		parts := 0
		for parts < 3 && len(digits(rest)) == 2 {
			seconds += unit * (10*float64(rest[0]-'0') + float64(rest[1]-'0'))
			unit /= 60
			parts++
			rest = rest[2:]
			if !strings.HasPrefix(rest, ":") {
				break
			}
			rest = rest[1:]
		}
		if parts >= 2 {
			list = append(list, seconds)
		}
	}
	return list
}
