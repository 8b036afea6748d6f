package main

import (
	"context"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

// coverage finds the lines of the product that the tests run: only there is a mutation of use.
func (c *checkout) coverage(ctx context.Context) (map[string][]mutate.LineRange, error) {
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
	return mutate.ReadProfile(profile)
}
