package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/casebook"
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

// fileError says that a file can't be written: a fault of the command line, but where the disk is full.
func fileError(err error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, casebook.ErrDisk} {
		if errors.Is(err, full) {
			return err
		}
	}
	return inputError(err)
}

// run carries out a command line and gives its exit code.
func run(ctx context.Context, args []string, s stdio) int {
	data := &dataWriter{w: s.out}
	s.out = data
	root := newRoot(s) //nolint:contextcheck // cobra hands the context to each command
	root.SetArgs(args)
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	err := root.ExecuteContext(ctx)
	switch {
	case data.err != nil && !errors.Is(err, data.err):
		err = &exitError{exitFailed, errors.Join(err, data.err)}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = errInterrupted
	case err == nil:
		return exitDone
	}
	code := exitFailed
	if exit, ok := errors.AsType[*exitError](err); ok {
		code = exit.code
	}
	if readerGone(data.err) && code == exitFailed {
		return code
	}
	if text := err.Error(); text != "" {
		for line := range strings.SplitSeq(inertBlock(text), "\n") {
			if line != "" {
				fmt.Fprintln(s.err, "shadowcourt:", line)
			}
		}
	}
	return code
}

// errInterrupted: a signal ended the work before there was anything to keep.
var errInterrupted = errors.New("interrupted")

func newRoot(s stdio) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "shadowcourt",
		Short: "Put uncertain classifications on trial",
		Long: `Shadowcourt reviews what a classifier was not sure of. Sure answers pass, hopeless
ones are rejected, and the uncertain ones go before an adversarial court whose every
role is a sandboxed WebAssembly module.`,
		Example:       "  shadowcourt try examples/dockets/go-failures.jsonl",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return printVersion(s)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version, as the command version does")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return inputError(fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath()))
	})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newTry(s), newAudit(s), newCalibrate(s), newFit(s), newCompare(s), newGraph(s), newLint(s), newSchema(s), newPlugin(s), newKey(s), newVerify(s), newReplay(s), newExplain(s), newCache(s), newVersion(s))
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		usage(cmd.OutOrStderr(), cmd)
		return nil
	})
	exampleOfCobra(root)
	rejectEmpty(root)
	return root
}

// exampleOfCobra gives the commands that cobra brings an example too.
func exampleOfCobra(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Example = "  shadowcourt help try"
		case "completion":
			cmd.Example = "  shadowcourt completion bash > shadowcourt.bash"
			for _, shell := range cmd.Commands() {
				shell.Example = "  shadowcourt completion " + shell.Name()
			}
		}
	}
}

// noSuchCommand rejects what follows a command that only has subcommands.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := "see `" + cmd.CommandPath() + " --help`"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return inputError(fmt.Errorf("%s has no command %q; %s", cmd.CommandPath(), args[0], hint))
}

// exactArgs rejects another number of arguments, as a fault of the command line.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return inputError(fmt.Errorf("%s takes %s; see `%s --help`", cmd.Name(), what, cmd.CommandPath()))
		}
		return nil
	}
}
