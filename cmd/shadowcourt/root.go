package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// The exit codes of the command's contract.
const (
	exitDone    = 0
	exitFailed  = 1
	exitInput   = 2
	exitMatched = 3
)

// exitError ends the command with a code. A nil err says nothing more: what
// there was to say is on stderr already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// inputError says that the command line or an input is wrong.
func inputError(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitInput, err}
}

// run carries out a command line and gives its exit code.
func run(ctx context.Context, args []string, s stdio) int {
	root := newRoot(s)
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitDone
	}
	code := exitFailed
	var exit *exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(s.err, "shadowcourt:", text)
	}
	return code
}

func newRoot(s stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "shadowcourt",
		Short: "Put uncertain classifications on trial",
		Long: `Shadowcourt reviews what a classifier was not sure of. Sure answers pass, hopeless
ones are rejected, and the uncertain ones go before an adversarial court whose every
role is a sandboxed WebAssembly module.`,
		Example:       "  shadowcourt try examples/dockets/go-failures.jsonl",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return inputError(fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath()))
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newTry(s), newGraph(s), newLint(s), newSchema(s), newPlugin(s), newVersion(s))
	return root
}

// exactArgs refuses another number of arguments, as a fault of the command line.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return inputError(fmt.Errorf("%s takes %s; see `%s --help`", cmd.Name(), what, cmd.CommandPath()))
		}
		return nil
	}
}
