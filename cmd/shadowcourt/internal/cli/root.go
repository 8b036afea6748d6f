// Package cli has what all commands share: the root command, exit codes, streams, help, progress, and how text is shown.
package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// The exit codes of the command's contract.
const (
	ExitDone    = 0
	ExitFailed  = 1
	ExitInput   = 2
	ExitMatched = 3
)

// ExitError ends the command with a code. A nil err says nothing more: what there was to say is on stderr already.
type ExitError struct {
	Code int
	Err  error
}

func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *ExitError) Unwrap() error { return e.Err }

// InputError says that the command line or an input is wrong.
func InputError(err error) error {
	if err == nil {
		return nil
	}
	return &ExitError{ExitInput, err}
}

// FileError says that a file can't be written: a fault of the command line, but where the disk is full.
func FileError(err error) error {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG, casebook.ErrDisk} {
		if errors.Is(err, full) {
			return err
		}
	}
	return InputError(err)
}

// Main carries out a command line and gives its exit code.
func Main(ctx context.Context, args []string, s Streams, commands func(Streams) []*cobra.Command) int {
	data := &dataWriter{w: s.Out}
	s.Out = data
	root := Root(commands(s))
	root.SetArgs(args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	switch {
	case data.err != nil && !errors.Is(err, data.err):
		err = &ExitError{ExitFailed, errors.Join(err, data.err)}
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = ErrInterrupted
	case err == nil:
		return ExitDone
	}
	code := ExitFailed
	if exit, ok := errors.AsType[*ExitError](err); ok {
		code = exit.Code
	}
	if readerGone(data.err) && code == ExitFailed {
		return code
	}
	if text := err.Error(); text != "" {
		for line := range strings.SplitSeq(sanitize.Block(text), "\n") {
			if line != "" {
				fmt.Fprintln(s.Err, "shadowcourt:", line)
			}
		}
	}
	return code
}

// OrInterrupted gives the error, unless a signal ended the work.
func OrInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ErrInterrupted
	}
	return err
}

// ErrInterrupted: a signal ended the work before there was anything to keep.
var ErrInterrupted = errors.New("interrupted")

// Root is the program with its commands.
func Root(commands []*cobra.Command) *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "shadowcourt",
		Short: "Put uncertain classifications on trial",
		Long: `Put uncertain classifications on trial. Confident answers pass, hopeless ones are
rejected, and everything in between goes before an adversarial court, in which each
role is a sandboxed WebAssembly module.`,
		Example:       "  shadowcourt try examples/dockets/go-failures.jsonl",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				sub, _, err := cmd.Find([]string{"version"})
				if err != nil {
					return err
				}
				return sub.RunE(sub, nil)
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "print the version, as the command version does")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
			f, value := invalid.GetFlag(), invalid.GetValue()
			if _, removed := f.Value.(removedFlag); removed {
				return InputError(fmt.Errorf("--%s: %w", f.Name, invalid.Unwrap()))
			}
			if kind := kindOf(f); kind != "" {
				return InputError(fmt.Errorf("--%s %q: use %s", f.Name, value, kind))
			}
			return InputError(fmt.Errorf("--%s %q: %w", f.Name, value, invalid.Unwrap()))
		}
		hint := "see `" + cmd.CommandPath() + " --help`"
		if near := nearFlags(cmd, err); len(near) > 0 {
			hint = "did you mean " + OrList(near) + "?"
		}
		return InputError(fmt.Errorf("%w; %s", err, hint))
	})
	for _, cmd := range commands {
		if cmd.GroupID != "" && !root.ContainsGroup(cmd.GroupID) {
			root.AddGroup(&cobra.Group{ID: cmd.GroupID, Title: cmd.GroupID})
		}
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(commands...)
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		Usage(cmd.OutOrStderr(), cmd)
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
			cmd.Args = func(_ *cobra.Command, args []string) error {
				about, rest, err := root.Find(args)
				if err != nil {
					about, rest = root, args
				}
				return NoSuchCommand(about, rest)
			}
		case "completion":
			cmd.Short, cmd.Long = "Print the completion script for a shell", "Print the completion script for a shell. `completion SHELL --help` says how to load it."
			cmd.Example = "  shadowcourt completion bash > shadowcourt.bash"
			cmd.Args, cmd.RunE = NoSuchCommand, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Example = "  shadowcourt completion " + shell.Name()
			}
		}
	}
}

// kindOf says what values a flag takes; empty where the error of its own says it.
func kindOf(f *pflag.Flag) string {
	switch kind := strings.TrimSuffix(f.Value.Type(), "64"); kind {
	case "bool":
		return "true or false"
	case "int", "int64Slice":
		return "a whole number"
	case "uint":
		return "a whole number from 0 on"
	case "float":
		return "a number, such as 0.5"
	case "duration":
		return "a duration, such as 90s or 10m"
	}
	return ""
}

// nearFlags are the flags of a command that are spelled much like the one that it doesn't have.
func nearFlags(cmd *cobra.Command, err error) []string {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || len(unknown.GetSpecifiedName()) < 2 {
		return nil
	}
	if f := cmd.Flag("format"); f != nil && unknown.GetSpecifiedName() == "json" {
		return []string{"--format json"}
	}
	// Cobra compares names of commands alone.
	names := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	near := names.SuggestionsFor(unknown.GetSpecifiedName())
	for i := range near {
		near[i] = "--" + near[i]
	}
	return near
}

// NoSuchCommand rejects what follows a command that only has subcommands.
func NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	cmd.SuggestionsMinimumDistance = 2
	hint := "see `" + cmd.CommandPath() + " --help`"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return InputError(fmt.Errorf("%s has no command %q; %s", cmd.CommandPath(), args[0], hint))
}

// Removed is a command that the program had: it is rejected, with what to do instead.
func Removed(name, instead string) *cobra.Command {
	return &cobra.Command{
		Use: name, Hidden: true, DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return InputError(fmt.Errorf("`%s` was removed: %s", cmd.CommandPath(), instead))
		},
	}
}

// RemovedFlags are flags that a command had: they are rejected, with what to do instead.
func RemovedFlags(f *pflag.FlagSet, instead string, names ...string) {
	for _, name := range names {
		f.Var(removedFlag(instead), name, "")
		removed := f.Lookup(name)
		removed.Hidden, removed.NoOptDefVal = true, "true"
	}
}

// removedFlag is the value of a flag that was removed: what to do instead.
type removedFlag string

func (removedFlag) String() string { return "" }
func (removedFlag) Type() string   { return "" }

func (f removedFlag) Set(string) error { return fmt.Errorf("it was removed: %s", string(f)) }

// ExactArgs rejects another number of arguments, as a fault of the command line.
func ExactArgs(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return InputError(fmt.Errorf("%s takes %s; see `%s --help`", cmd.Name(), what, cmd.CommandPath()))
		}
		return nil
	}
}
