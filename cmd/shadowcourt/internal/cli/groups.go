package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

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
