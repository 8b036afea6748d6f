package alibi_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// A report of `go test -json`, the repository, and the revision that the change began at are all that it takes.
func Example() { //nolint:testableexamples // it runs the tests of a repository
	ctx := context.Background()
	lab, err := experiment.Open(ctx, experiment.Config{Source: ".", Base: "origin/main", Mode: experiment.All, Budget: 10 * time.Minute})
	if err != nil {
		panic(err)
	}
	defer func() { _ = lab.Close() }()
	court, err := alibi.Open(ctx, host.Config{Experiments: lab}, 0)
	if err != nil {
		panic(err)
	}
	defer func() { _ = court.Close(ctx) }()
	failures := (&gotest.Reader{}).Read("report.json", os.Stdin)
	for asked := range court.Ask(ctx, failures, 0) {
		if asked.Err == nil {
			fmt.Println(asked.Answer.Test, asked.Answer.Verdict, asked.Answer.Why)
		}
	}
}
