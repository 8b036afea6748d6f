package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

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

// usageOfCommands lists the commands below one, by their groups where it has some.
func usageOfCommands(w io.Writer, cmd *cobra.Command) {
	list := func(title, group string) {
		fmt.Fprint(w, "\n", title, ":\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() && sub.GroupID == group {
				fmt.Fprintf(w, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	if len(cmd.Groups()) == 0 {
		list("Commands", "")
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
}

// FlagUsages are the lines of flags in a help, wrapped after columns, or not with 0. That a flag without a value is true, which pflag adds to
// the name of each, is left out.
func FlagUsages(flags *pflag.FlagSet, columns int) string {
	const mark = "[=true|false]"
	return strings.ReplaceAll(flags.FlagUsagesWrapped(columns), mark, strings.Repeat(" ", len(mark)))
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
	if cmd.HasAvailableSubCommands() {
		usageOfCommands(w, cmd)
	}
	for _, g := range Groups(cmd) {
		title := g.Title
		if title != "Flags" {
			title += " flags"
		}
		fmt.Fprint(w, "\n", title, ":\n", FlagUsages(g.Flags, 0))
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
	parent.Example = firstLine(commands[len(commands)-1])
	parent.AddCommand(commands...)
	return parent
}

func renameExamples(cmd *cobra.Command, from, to string) {
	cmd.Example = strings.ReplaceAll(cmd.Example, from, to)
	for _, sub := range cmd.Commands() {
		renameExamples(sub, from, to)
	}
}

func firstLine(cmd *cobra.Command) string {
	line, _, _ := strings.Cut(strings.Trim(cmd.Example, "\n"), "\n")
	return line
}
