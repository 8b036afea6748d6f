// Package cli has what all commands share: the root command, exit codes, streams, help, progress, and how text is shown.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

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

func kindOf(f *pflag.Flag) string {
	return map[string]string{
		"bool": "true or false", "int": "a whole number", "int64Slice": "a whole number", "uint": "a whole number from 0 on",
		"float": "a number, such as 0.5", "duration": "a duration, such as 90s or 10m",
	}[strings.TrimSuffix(f.Value.Type(), "64")]
}

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

type removedFlag string

func (removedFlag) String() string { return "" }
func (removedFlag) Type() string   { return "" }

func (f removedFlag) Set(string) error { return fmt.Errorf("it was removed: %s", string(f)) }

// ExactArgs rejects another number of arguments, as a fault of the command line.
func ExactArgs(n int, what string) cobra.PositionalArgs { return ArgsWithin(n, n, what) }

// AnyNumber is the most arguments where their number has no bound.
const AnyNumber = math.MaxInt

// ArgsWithin rejects fewer and more arguments.
func ArgsWithin(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return InputError(fmt.Errorf("%s takes %s; see `%s --help`", cmd.Name(), what, cmd.CommandPath()))
		}
		return nil
	}
}

// Option is what may follow the value of a flag behind a comma: NAME, or NAME=VALUE.
type Option struct {
	name, usage string
	set         func(value string) error
	repeated    bool   // it may be given more than once
	value       string // what the help calls it; empty where NAME alone will do
}

// BoolOption is one without a value.
func BoolOption(to *bool, name, usage string) Option {
	return Option{name: name, usage: usage, set: func(value string) (err error) {
		if *to, err = strconv.ParseBool(value); err != nil {
			return errors.New("use true or false")
		}
		return nil
	}}
}

// TextOption is one with a text.
func TextOption(to *string, name, value, usage string) Option {
	return Option{name: name, usage: usage, value: value, set: func(value string) error {
		*to = value
		return nil
	}}
}

// ListOption is one that may be repeated.
func ListOption(to *[]string, name, value, usage string) Option {
	return Option{name: name, usage: usage, value: value, repeated: true, set: func(value string) error {
		*to = append(*to, value)
		return nil
	}}
}

// DurationOption is one with a time above 0.
func DurationOption(to *time.Duration, name, usage string) Option {
	return Option{name: name, usage: usage, value: "DURATION", set: func(value string) error {
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 {
			return errors.New("use a duration above 0, such as 90s or 10m")
		}
		*to = d
		return nil
	}}
}

// RemovedOption is one that a flag had: it is rejected, with what to do instead.
func RemovedOption(name, instead string) Option {
	return Option{name: name, set: func(string) error { return errors.New("it was removed: " + instead) }}
}

// optionValue is a flag of a text with options behind it. It may be repeated: what comes later is added.
type optionValue struct {
	text    *string
	options []Option
	given   []string // the options, as they were given
}

// OptionVar adds a flag with the default text that is there already. What stands behind its last comma is an option where it is the name of
// one, so that the text may have commas.
func OptionVar(f *pflag.FlagSet, text *string, name, usage string, options ...Option) {
	if *text != "" {
		usage += fmt.Sprintf(" (default %q)", *text)
	}
	for i := range options {
		if o := &options[i]; o.usage != "" { // else removed
			usage += "\n  ," + o.form() + "  " + o.usage
		}
	}
	f.VarPF(&optionValue{text: text, options: options}, name, "", usage).DefValue = "" // the usage has it before the options
}

// Alias adds a hidden flag, the earlier spelling of an option.
func Alias(f *pflag.FlagSet, old, flag, option string) {
	value := aliasValue{func(text string) error {
		err := f.Set(flag, option+"="+text)
		if cause := errors.Unwrap(err); cause != nil {
			return cause // pflag names the flag that was given itself
		}
		return err
	}}
	a := f.VarPF(value, old, "", "")
	a.Hidden = true
	for _, o := range f.Lookup(flag).Value.(*optionValue).options { //nolint:forcetypeassert // OptionVar made it
		if o.name == option && o.value == "" {
			a.NoOptDefVal = "true"
		}
	}
}

// IsAlias says whether a flag is one of Alias.
func IsAlias(f *pflag.Flag) bool {
	_, ok := f.Value.(aliasValue)
	return ok
}

type aliasValue struct{ set func(string) error }

func (aliasValue) String() string          { return "" }
func (aliasValue) Type() string            { return "string" }
func (a aliasValue) Set(text string) error { return a.set(text) }

func (*optionValue) Type() string { return "string" }

func (v *optionValue) String() string {
	if v.text == nil {
		return ""
	}
	words := v.given
	if *v.text != "" {
		words = append([]string{*v.text}, words...)
	}
	return strings.Join(words, ",")
}

// Set takes a text with its options, or options alone.
func (v *optionValue) Set(text string) error {
	words := strings.Split(text, ",")
	last := len(words)
	for last > 0 {
		name, _, valued := strings.Cut(words[last-1], "=")
		if o := v.option(name); o == nil || !valued && o.value != "" {
			break
		}
		last--
	}
	if last > 1 && optionLike.MatchString(words[last-1]) && !strings.HasPrefix(text, "exec:") {
		return fmt.Errorf("unknown option %q: behind a comma there may be %s", words[last-1], strings.Join(v.known(), ", "))
	}
	for _, word := range words[last:] {
		name, value, valued := strings.Cut(word, "=")
		if !valued {
			value = "true"
		}
		o := v.option(name)
		switch {
		case value == "":
			return fmt.Errorf("%s= is empty: leave it out, or give it a value", name)
		case !o.repeated && slices.ContainsFunc(v.given, func(before string) bool { return before == name || strings.HasPrefix(before, name+"=") }):
			return fmt.Errorf("%s is given twice", name)
		}
		if err := o.set(value); err != nil {
			return fmt.Errorf("%s=%s: %w", name, value, err)
		}
		v.given = append(v.given, word)
	}
	if last > 0 {
		*v.text = strings.Join(words[:last], ",")
	}
	return nil
}

// optionLike is what is more likely a slip in an option than the end of a file's name with a comma.
var optionLike = regexp.MustCompile(`^[a-z][a-z-]*(=.*)?$`)

func (v *optionValue) known() []string {
	var forms []string
	for i := range v.options {
		if o := &v.options[i]; o.usage != "" {
			forms = append(forms, o.form())
		}
	}
	return forms
}

// form is how the help writes it.
func (o *Option) form() string {
	if o.value == "" {
		return o.name
	}
	return o.name + "=" + o.value
}

func (v *optionValue) option(name string) *Option {
	for i := range v.options {
		if v.options[i].name == name {
			return &v.options[i]
		}
	}
	return nil
}

// Given are the options of a flag, as they were given.
func Given(f *pflag.Flag) []string {
	if v, ok := f.Value.(*optionValue); ok {
		return v.given
	}
	return nil
}

// filled is the value of a flag that may be repeated. An empty word in it is a mistake, as of a variable that is not set: pflag
// would drop some of them without a word.
type filled struct{ pflag.Value }

func (f filled) Set(word string) error {
	if word == "" {
		return errors.New("it is empty; leave the flag out, or give it a value")
	}
	return f.Value.Set(word)
}

// rejectEmpty has every flag of a command and its subcommands that may be repeated reject empty words.
func rejectEmpty(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if t := f.Value.Type(); t == "stringArray" || t == "stringSlice" {
			f.Value = filled{f.Value}
			f.DefValue = ""
		}
	})
	for _, sub := range cmd.Commands() {
		rejectEmpty(sub)
	}
}

// manyFlags is how many flags a command may have before its help shows them in groups.
const manyFlags = 12

// flagGroups says under which heading the help shows a flag, in the order of the headings. Commands share flags and headings.
var flagGroups = []struct {
	title string
	flags string
}{
	{"Input", "from source since casebook"},
	{"Classifier", "light rules"},
	{"Court", "pipeline profile modules grant watch"},
	{"Experiments", "experiments"},
	{"Language model", "models"},
	{"Output", "format output report explain redact timings fail-on"},
	{"Service", "server repository data database listen role max-upload keep public-url tls-cert tls-key log-format"},
	{"Sign in", "oidc-issuer oidc-client-id oidc-client-secret-file oidc-public-client oidc-allow oidc-operate"},
	{"Run", "workers resume remember cache help"},
	{"Record", "record key store"},
	{"Audit", "audit"},
}

// OtherFlags is the heading of flags that are in no group.
const OtherFlags = "Other"

// FlagGroup is a heading with its flags.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// Groups are the flags of a command as its help shows them. A command with few flags has one group.
func Groups(cmd *cobra.Command) []FlagGroup {
	all, count := cmd.LocalFlags(), 0
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			count++
		}
	})
	if count == 0 {
		return nil
	}
	if count <= manyFlags {
		return []FlagGroup{{"Flags", all}}
	}
	var groups []FlagGroup
	grouped := map[string]bool{}
	for _, g := range flagGroups {
		set := pflag.NewFlagSet(g.title, pflag.ContinueOnError)
		set.SortFlags = false
		for name := range strings.FieldsSeq(g.flags) {
			if f := all.Lookup(name); f != nil {
				set.AddFlag(f)
				grouped[name] = true
			}
		}
		if set.HasFlags() {
			groups = append(groups, FlagGroup{g.title, set})
		}
	}
	other := pflag.NewFlagSet(OtherFlags, pflag.ContinueOnError)
	all.VisitAll(func(f *pflag.Flag) {
		if !grouped[f.Name] && !f.Hidden {
			other.AddFlag(f)
		}
	})
	if other.HasFlags() {
		groups = append(groups, FlagGroup{OtherFlags, other})
	}
	return groups
}

// Usage prints how a command is used, its flags in groups.
func Usage(w io.Writer, cmd *cobra.Command) {
	fmt.Fprint(w, "Usage:")
	if cmd.Runnable() {
		fmt.Fprint(w, "\n  ", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\n  ", cmd.CommandPath(), " COMMAND")
	}
	fmt.Fprintln(w)
	if cmd.HasExample() {
		fmt.Fprint(w, "\nExamples:\n", cmd.Example, "\n")
	}
	titles := cmd.Groups()
	if len(titles) == 0 && cmd.HasAvailableSubCommands() {
		titles = []*cobra.Group{{Title: "Commands"}}
	}
	for _, g := range titles {
		fmt.Fprint(w, "\n", g.Title, ":\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == g.ID {
				fmt.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	const mark = "[=true|false]" // pflag adds it to flags without a value
	for _, g := range Groups(cmd) {
		title := g.Title
		if title != "Flags" {
			title += " flags"
		}
		fmt.Fprint(w, "\n", title, ":\n", strings.ReplaceAll(g.Flags.FlagUsages(), mark, strings.Repeat(" ", len(mark))))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "\nUse `%s COMMAND --help` for more about a command.\n", cmd.CommandPath())
	}
}

// InGroup puts commands below a heading of the program's help.
func InGroup(title string, commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	return commands
}

// Hidden leaves commands out of the program's help.
func Hidden(commands ...*cobra.Command) []*cobra.Command {
	for _, cmd := range commands {
		cmd.Hidden = true
	}
	return commands
}

// Parent is a command that only has others below it. Their examples name the parent, too.
func Parent(name, short string, commands ...*cobra.Command) *cobra.Command {
	parent := &cobra.Command{
		Use: name, Short: short, Args: NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, cmd := range commands {
		renameExamples(cmd, "shadowcourt "+cmd.Name(), "shadowcourt "+name+" "+cmd.Name())
	}
	parent.Example, _, _ = strings.Cut(strings.Trim(commands[len(commands)-1].Example, "\n"), "\n")
	parent.AddCommand(commands...)
	return parent
}

func renameExamples(cmd *cobra.Command, from, to string) {
	cmd.Example = strings.ReplaceAll(cmd.Example, from, to)
	for _, sub := range cmd.Commands() {
		renameExamples(sub, from, to)
	}
}
