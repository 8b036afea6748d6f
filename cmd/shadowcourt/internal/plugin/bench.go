package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// benchOptions are the flags of `plugin bench`.
type benchOptions struct {
	request, call, cache string
	format               format
	time                 time.Duration
}

// benchCalls are the kinds of calls that --call may name.
var benchCalls = []abi.Call{abi.CallNode, abi.CallContest, abi.CallEdges, abi.CallJudge} //nolint:gochecknoglobals // a constant

func newPluginBench(s cli.Streams) *cobra.Command {
	o := &benchOptions{}
	cmd := &cobra.Command{
		Use:   "bench FILE|NAME",
		Short: "Measure the calls of a module",
		Long: `Measure what a call of a module takes: without resetting the instance (the lower bound);
with each way of resetting it that this machine has; and without fuel, or with wazero's own
interruption instead. Requests are small valid ones of each kind that the manifest
promises, or one of yours. Some calls have no limit: measure only modules that end.

All ways of resetting give the same bytes; trials use the first one.`,
		Example: "  shadowcourt plugin bench clerk --time 20ms",
		Args:    cli.ExactArgs(1, "one file or the name of an embedded module"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0])
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.request, "request", "", "file with the msgpack of a request to send (default: generated ones)")
	f.StringVar(&o.call, "call", string(abi.CallNode), "kind of call that --request is for: "+cli.OrList(cli.Words(benchCalls)))
	f.DurationVar(&o.time, "time", 200*time.Millisecond, "time for each figure")
	o.format.flag(f)
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	return cmd
}

// check reports all faults of the flags at once.
func (o *benchOptions) check() error {
	var faults []error
	if !slices.Contains(benchCalls, abi.Call(o.call)) {
		faults = append(faults, fmt.Errorf("--call %q: use %s", o.call, cli.OrList(cli.Words(benchCalls))))
	}
	if o.time <= 0 {
		faults = append(faults, fmt.Errorf("--time %s: use a positive duration", o.time))
	}
	return errors.Join(faults...)
}

func (o *benchOptions) run(ctx context.Context, s cli.Streams, name string) error {
	if err := o.check(); err != nil {
		return cli.InputError(err)
	}
	wasm, err := open.Module(name)
	if err != nil {
		return err
	}
	p := cli.NewProgress(s.Err)
	options := module.Options{
		Call: abi.Call(o.call), Time: o.time, Now: time.Now,
		Progress: func(what string, done, of int) { p.Say(fmt.Sprintf("%s, %d of %d", what, done+1, of)) },
	}
	if o.request != "" {
		if options.Request, err = open.File(o.request); err != nil {
			return cli.InputError(fmt.Errorf("--request: %w", err))
		}
	}
	if o.cache != "none" {
		options.CacheDir = o.cache
	}
	report, err := module.Run(ctx, wasm, options)
	p.Clear()
	if err != nil {
		return cli.OrInterrupted(ctx, cli.InputError(fmt.Errorf("%s: %w", name, err)))
	}
	if err := o.print(s, report); err != nil {
		return err
	}
	failed := 0
	for i := range report.Requests {
		if report.Requests[i].Error != "" {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s failed", cli.Count(failed, "request", "requests"))
	}
	return nil
}

func (o *benchOptions) print(s cli.Streams, report *module.Report) error {
	if o.format == "json" {
		return writeJSON(s, report)
	}
	for i := range report.Requests {
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		if err := printBench(s, &report.Requests[i]); err != nil {
			return err
		}
	}
	return nil
}

func printBench(s cli.Streams, r *module.Request) error {
	if r.Error != "" {
		_, err := fmt.Fprintf(s.Out, "%s: request %d bytes; failed: %s\n", r.Name, r.RequestBytes, sanitize.Line(r.Error))
		return err
	}
	fmt.Fprintf(s.Out, "%s: request %d bytes, response %d bytes, fuel %d\n", r.Name, r.RequestBytes, r.ResponseBytes, r.Fuel)
	if r.Answer != "ok" {
		fmt.Fprintf(s.Out, "note: the answer is %s\n", sanitize.Line(strings.ReplaceAll(r.Answer, "\n", "; ")))
	}
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.AppendHeader(table.Row{"call", "median", "p99", "ratio", "allocs"})
	var right []table.ColumnConfig
	for column := 2; column <= 5; column++ {
		right = append(right, table.ColumnConfig{Number: column, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, f := range r.Figures {
		t.AppendRow(table.Row{
			f.Name, micros(f.MedianNanos), micros(f.P99Nanos),
			fmt.Sprintf("%.2f", float64(f.MedianNanos)/float64(max(r.Figures[0].MedianNanos, 1))), fmt.Sprintf("%.1f", f.Allocs),
		})
	}
	_, err := fmt.Fprintln(s.Out, t.Render())
	return err
}

func micros(nanos int64) string { return fmt.Sprintf("%.1f µs", float64(nanos)/1e3) }
