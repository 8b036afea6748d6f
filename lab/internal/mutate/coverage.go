package mutate

import (
	"path"
	"slices"

	"golang.org/x/tools/cover"
)

// LineRange is a piece of a file that the tests run.
type LineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// ReadProfile reads the coverage profile of a package: the lines of each file that were run.
func ReadProfile(name string) (map[string][]LineRange, error) {
	profiles, err := cover.ParseProfiles(name)
	covered := map[string][]LineRange{}
	for _, p := range profiles {
		for _, b := range p.Blocks {
			if file := path.Base(p.FileName); b.Count > 0 {
				covered[file] = append(covered[file], LineRange{b.StartLine, b.EndLine})
			}
		}
	}
	return covered, err
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
