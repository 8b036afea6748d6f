package mutate

import (
	"bufio"
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"
)

// LineRange is a piece of a file that the tests run.
type LineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// ParseProfile reads a coverage profile: the lines of each file, by its name, that were run.
func ParseProfile(data []byte) map[string][]LineRange {
	covered := map[string][]LineRange{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		name, rest, ok := strings.Cut(lines.Text(), ".go:")
		var r LineRange
		var column, statements, count int
		if !ok {
			continue
		}
		n, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &r.From, &column, &r.To, &column, &statements, &count)
		if n == 6 && count > 0 {
			file := path.Base(name) + ".go"
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
