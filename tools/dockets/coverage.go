package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// lineRange is a piece of a file that the tests run.
type lineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// coverage finds the lines of the product that the tests run: only there is a mutation of use.
func (c *checkout) coverage(ctx context.Context) (map[string][]lineRange, error) {
	problem, err := c.build(ctx, "cover", "-cover", "-covermode=atomic")
	if err != nil || problem != "" {
		return nil, err
	}
	profile := c.note("profile")
	_, _, err = c.launch(ctx, condition{Procs: usualProcs}, c.bin("cover"),
		"-test.count=1", "-test.timeout="+testTimeout.String(), "-test.coverprofile="+profile, "-test.skip="+c.module.skip)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	return parseProfile(data), nil
}

func parseProfile(data []byte) map[string][]lineRange {
	covered := map[string][]lineRange{}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		name, rest, ok := strings.Cut(lines.Text(), ".go:")
		var r lineRange
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

// within keeps the sites that lie in the lines that are run. Without a profile all stay.
func (s sites) within(covered map[string][]lineRange) sites {
	if covered == nil {
		return s
	}
	kept := sites{}
	for operator, list := range s {
		for _, one := range list {
			if slices.ContainsFunc(covered[one.File], func(r lineRange) bool { return r.From <= one.Line && one.Line <= r.To }) {
				kept[operator] = append(kept[operator], one)
			}
		}
	}
	return kept
}
