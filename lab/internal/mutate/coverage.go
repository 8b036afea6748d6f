package mutate

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// LineRange is a piece of a file that the tests run.
type LineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// ParseProfile reads a coverage profile: the lines of each file that were run, by what name makes of the import path of its package with its
// own name behind it.
func ParseProfile(data []byte, name func(string) string) map[string][]LineRange {
	covered := map[string][]LineRange{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		path, rest, ok := strings.Cut(lines.Text(), ".go:")
		var r LineRange
		var column, statements, count int
		if !ok {
			continue
		}
		n, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &r.From, &column, &r.To, &column, &statements, &count)
		if n == 6 && count > 0 {
			file := name(path + ".go")
			covered[file] = append(covered[file], r)
		}
	}
	return covered
}

// Within keeps the sites that lie in the lines that are run. Without a profile all stay.
func (s Sites) Within(covered map[string][]LineRange) Sites {
	if covered == nil {
		return s
	}
	kept := Sites{}
	for operator, list := range s {
		for _, one := range list {
			if slices.ContainsFunc(covered[one.File], func(r LineRange) bool { return r.From <= one.Line && one.Line <= r.To }) {
				kept[operator] = append(kept[operator], one)
			}
		}
	}
	return kept
}
