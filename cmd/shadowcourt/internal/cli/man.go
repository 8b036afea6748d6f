package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Commands are all commands of the program that its help shows, each before its own.
func Commands(cmd *cobra.Command) (all []*cobra.Command) {
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(append(all, sub), Commands(sub)...)
		}
	}
	return all
}

// Description is what a command does.
func Description(cmd *cobra.Command) string {
	if cmd.Long == "" {
		return cmd.Short + "."
	}
	return strings.TrimSpace(cmd.Long)
}

// ManName is the name of a command's man page, of section 1.
func ManName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manColumns is the width of the options in a man page, which is indented on a terminal of 80 columns.
const manColumns = 72

// Man writes the man page of a command: what its help says, in the language of man.
func Man(w io.Writer, cmd *cobra.Command) {
	fmt.Fprintf(w, ".TH %s 1\n.SH NAME\n%s \\- %s\n", roff(strings.ToUpper(ManName(cmd))), roff(ManName(cmd)), roff(cmd.Short))
	section := func(heading, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			fmt.Fprintf(w, "%s\n.nf\n%s\n.fi\n", heading, roff(text))
		}
	}
	synopsis := []string{}
	if cmd.Runnable() {
		synopsis = append(synopsis, cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		synopsis = append(synopsis, cmd.CommandPath()+" COMMAND")
	}
	section(".SH SYNOPSIS", strings.Join(synopsis, "\n"))
	section(".SH DESCRIPTION", Description(cmd))
	fmt.Fprintln(w, ".SH OPTIONS")
	for _, g := range Groups(cmd) {
		section(".SS "+g.Title, FlagUsages(g.Flags, manColumns))
	}
	section(".SH EXAMPLES", cmd.Example)
	var others []string
	if cmd.HasParent() {
		others = append(others, ManName(cmd.Parent())+"(1)")
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			others = append(others, ManName(sub)+"(1)")
		}
	}
	section(".SH SEE ALSO", strings.Join(others, "\n"))
}

// roff escapes text: a line that begins with a dot or a quote would be a request.
func roff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
