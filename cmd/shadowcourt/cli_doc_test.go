package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var update = flag.Bool("update", false, "write out/share/cli.md, and the output that README.md shows where it is another one")

// TestAccept_WR1_TheManualIsGenerated makes the page of all commands and checks its links. With -update it writes the page, as
// `make share` does for a release; the repository doesn't store it.
func TestAccept_WR1_TheManualIsGenerated(t *testing.T) {
	t.Parallel()
	manual := manualOf(cli.Root(commands(cli.Streams{})))
	if *update {
		dir := filepath.Join(repositoryRoot(t), "out", "share")
		must.Do(t, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "cli.md"), []byte(manual), 0o644)))
	}
	linked := link.FindAllStringSubmatch(manual, -1)
	if len(linked) < 20 {
		t.Errorf("the page lists %d commands", len(linked))
	}
	for _, match := range linked {
		if !slices.Contains(anchors(manual), strings.TrimPrefix(match[1], "#")) {
			t.Errorf("the link %s leads to no heading", match[1])
		}
	}
}

// manualOf is a page with the help of all commands that the help of the program shows.
func manualOf(root *cobra.Command) string {
	var contents, sections strings.Builder
	contents.WriteString(`# Commands

Each command also prints its part of this page with ` + "`--help`" + `.

Results go to the standard output, messages and progress to the standard error. Exit codes of every command: 0 done, 1 something
failed while running, 2 the command line or an input is wrong, 3 done and a condition such as ` + "`--fail-on`" + ` matched.

` + "`shadowcourt completion SHELL`" + ` prints completions for bash, zsh, fish or powershell.

`)
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			if !sub.IsAvailableCommand() {
				continue
			}
			path, about := sub.CommandPath(), strings.TrimSpace(sub.Long)
			if about == "" {
				about = sub.Short + "."
			}
			fmt.Fprintf(&contents, "- [`%s`](#%s): %s\n", path, strings.ReplaceAll(path, " ", "-"), sub.Short)
			fmt.Fprintf(&sections, "\n## %s\n\n%s\n\n```text\n", path, about)
			cli.Usage(&sections, sub)
			sections.WriteString("```\n")
			add(sub)
		}
	}
	add(root)
	return contents.String() + sections.String()
}

// shownLine is a command line on a page: an indented line, or code in a sentence.
var shownLine = regexp.MustCompile("(?m)^    (?:\\S+ )*?shadowcourt( [^\n]*)|`shadowcourt( [^`]*)`")

// TestAccept_WR1_PagesNameRealFlags: every command and flag on the command lines of pages exists.
func TestAccept_WR1_PagesNameRealFlags(t *testing.T) {
	t.Parallel()
	found := 0
	for _, name := range slices.Concat(pages(t, "*.md"), pages(t, "docs/*.md"), pages(t, "lab/*.md"), pages(t, "examples/*/README.md"), pages(t, "sdk/README.md")) {
		if name == "CHANGELOG.md" {
			continue // these name what was there before
		}
		text := strings.ReplaceAll(page(t, name), "\\\n", " ")
		for _, match := range shownLine.FindAllStringSubmatch(text, -1) {
			cmd := cli.Root(commands(cli.Streams{}))
			words := strings.Fields(match[1] + match[2])
			if i := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w, "|;&>") || w == "--" }); i >= 0 {
				words = words[:i]
			}
			for cmd.HasSubCommands() && len(words) > 0 && !strings.HasPrefix(words[0], "-") {
				sub := childOf(cmd, words[0])
				if sub == nil {
					t.Errorf("%s: `%s` has no command %s", name, cmd.CommandPath(), words[0])
					break
				}
				cmd, words = sub, words[1:]
			}
			for _, word := range words {
				if flagName, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "="); strings.HasPrefix(word, "--") && flagName != "help" && flagName != "version" {
					if found++; cmd.Flag(flagName) == nil {
						t.Errorf("%s: `%s` has no flag --%s", name, cmd.CommandPath(), flagName)
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("only %d flags were found", found)
	}
}

func childOf(cmd *cobra.Command, name string) *cobra.Command {
	for _, sub := range cmd.Commands() {
		if sub.Name() == name {
			return sub
		}
	}
	return nil
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
	must.Do(t, err)
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

func TestAccept_HS6_CommandsInGroups(t *testing.T) {
	t.Parallel()
	shown, byName := 0, map[string]*cobra.Command{}
	for _, cmd := range commands(cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard}) {
		byName[cmd.Name()] = cmd
		if !cmd.IsAvailableCommand() {
			continue
		}
		shown++
		if cmd.GroupID == "" {
			t.Errorf("%s is in no group", cmd.Name())
		}
	}
	if shown == 0 || shown > 15 {
		t.Errorf("the help shows %d commands", shown)
	}
	for parent, names := range map[string]string{"record": "key replay verify", "pipeline": "graph lint schema"} {
		for name := range strings.FieldsSeq(names) {
			sub, _, err := byName[parent].Find([]string{name})
			if err != nil || sub.Name() != name {
				t.Errorf("%s %s: %v, %v", parent, name, sub, err)
			}
			if old := byName[name]; old == nil || !old.Hidden || old.Short != sub.Short {
				t.Errorf("%s is no hidden name of %s %s", name, parent, name)
			}
		}
	}
}
