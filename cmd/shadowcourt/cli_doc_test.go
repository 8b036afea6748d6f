package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
)

var update = flag.Bool("update", false, "write docs/cli.md, and the output that README.md shows where it is another one")

// TestAccept_WR1_TheManualIsGenerated compares docs/cli.md with the commands.
func TestAccept_WR1_TheManualIsGenerated(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`# Commands

This page is generated from the commands: ` + "`make golden`" + ` writes it. Each command also prints its part with ` + "`--help`" + `.

Results go to the standard output, messages and progress to the standard error. Exit codes of every command: 0 done, 1 something
failed while running, 2 the command line or an input is wrong, 3 done and a condition such as ` + "`--fail-on`" + ` matched.

` + "`shadowcourt completion SHELL`" + ` prints completions for bash, zsh, fish or powershell.

`)
	root := cli.Root(commands(cli.Streams{}))
	contents(&b, root)
	manual(&b, root)
	name := filepath.Join(repositoryRoot(t), "docs", "cli.md")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), b.String()); diff != "" {
		t.Errorf("`make golden` writes docs/cli.md again (-docs/cli.md +commands):\n%s", diff)
	}
}

// contents lists all commands with links.
func contents(b *strings.Builder, root *cobra.Command) {
	for _, cmd := range cli.Commands(root) {
		fmt.Fprintf(b, "- [`%s`](#%s): %s\n", cmd.CommandPath(), cli.ManName(cmd), cmd.Short)
	}
}

// manual writes a section for each command.
func manual(b *strings.Builder, root *cobra.Command) {
	for _, cmd := range cli.Commands(root) {
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n```text\n", cmd.CommandPath(), cli.Description(cmd))
		cli.Usage(b, cmd)
		b.WriteString("```\n")
	}
}

// TestEveryFlagHasItsHeading: a command with many flags has a group for each of them.
func TestEveryFlagHasItsHeading(t *testing.T) {
	t.Parallel()
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		seen := map[string]int{}
		for _, g := range cli.Groups(cmd) {
			g.Flags.VisitAll(func(f *pflag.Flag) {
				seen[f.Name]++
				if g.Title == cli.OtherFlags && f.Name != "help" && cmd.Name() == "try" {
					t.Errorf("%s: --%s has no group in flagGroups", cmd.CommandPath(), f.Name)
				}
			})
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if seen[f.Name] != 1 && !f.Hidden {
				t.Errorf("%s: --%s stands %d times in the help", cmd.CommandPath(), f.Name, seen[f.Name])
			}
		})
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(cli.Root(commands(cli.Streams{})))
}

// TestAccept_HS6_TryHasFewFlags counts those that the help of try shows, and asks for what scripts rely on.
func TestAccept_HS6_TryHasFewFlags(t *testing.T) {
	t.Parallel()
	const most = 26
	cmd, _, err := cli.Root(commands(cli.Streams{})).Find([]string{"try"})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown = append(shown, f.Name)
		}
	})
	if len(shown) > most {
		t.Errorf("try shows %d flags, and may show %d: %s", len(shown), most, strings.Join(shown, " "))
	}
	for name := range strings.FieldsSeq("from pipeline profile modules light format output report redact workers resume remember timings fail-on explain record key audit watch") {
		if !slices.Contains(shown, name) {
			t.Errorf("scripts rely on --%s", name)
		}
	}
}
