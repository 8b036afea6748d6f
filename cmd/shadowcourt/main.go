// Command shadowcourt puts uncertain classifications on trial.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/alibi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/plugin"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/records"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/serve"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/try"
)

func main() {
	collectRarely(startUp)
	os.Exit(mainCode())
}

// startUp is how long most commands take at most.
const startUp = time.Second

// collectRarely has the garbage collector wait for more garbage, for a while and unless the user set it up. It saves 6% of the processor time
// of `try examples/dockets/demo.jsonl` with a filled compile cache (0.21 s in place of 0.22 s, medians of 40 runs on two processors; compare
// with GOGC=100), and nothing that can be measured where modules are compiled.
func collectRarely(d time.Duration) {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(400)
	time.AfterFunc(d, func() { debug.SetGCPercent(usual) })
}

// mainCode is main for tests too: it returns the exit code.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	log.SetOutput(cli.StdLog{W: os.Stderr})
	signal.Ignore(syscall.SIGPIPE) // a write says it, so that nothing half written is left behind
	return cli.Main(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, commands)
}

// commands are all commands of the program.
func commands(s cli.Streams) []*cobra.Command {
	all := slices.Concat(
		cli.InGroup("Try cases", alibi.New(s, Version()), alibi.NewCulprit(s), try.New(s, Version()), measure.NewCompare(s)),
		cli.InGroup("Measure", measure.NewAudit(s), measure.NewCalibrate(s), measure.NewFit(s)),
		cli.InGroup("Write courts and modules", cli.Parent("pipeline", "Draw and check pipelines, and print the schemas of artifacts", plugin.Definitions(s)...), plugin.New(s)),
		cli.InGroup("Keep records", cli.Parent("record", "Make keys, and verify and replay records of trials", records.All(s)...)),
		cli.InGroup("Share", alibi.NewPublish(s, Version()), alibi.NewQuarantine(s), serve.New(s, Version()), serve.NewLogin(s, Version()), try.NewMCP(s, Version())),
	)
	// The help has the flag --version. Scripts may use the names that the other commands had before they were below others.
	return append(all, cli.Hidden(slices.Concat([]*cobra.Command{NewVersion(s), NewCache(s)}, plugin.Definitions(s), records.All(s))...)...)
}
