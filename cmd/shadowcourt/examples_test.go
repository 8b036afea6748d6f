package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/measure"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_CLI4_ExamplesWorkAsPasted runs every example of every command in
// a shell, from a copy of the repository's root.
func TestAccept_CLI4_ExamplesWorkAsPasted(t *testing.T) {
	t.Parallel()
	tier.Long(t, "cmd/shadowcourt/internal")
	dir := scratchCopy(t)
	// The examples about records have one of the tour.
	shell(t, dir, "shadowcourt key new court.key")
	shell(t, dir, "shadowcourt try examples/dockets/tour.jsonl --light docket --record trials.record --key court.key")
	// One is about the records of a service's docket, which are such records.
	shell(t, dir, "mkdir docket-17 && cp trials.record docket-17/1.record && cp trials.record docket-17/2.record && ls docket-17")
	// Those about answers have the sample, and a quarantine of it.
	shell(t, dir, "cp "+filepath.Join(repositoryRoot(t), "internal", "render", "testdata", "answers.json")+" . && cp examples/dockets/inputs/gotestsum.xml report.xml && ls report.xml")
	shell(t, dir, "shadowcourt quarantine propose answers.json --write --owner @acme/shop")
	// Those about registries have a layout with a signed module, a court to lock, and a module to publish.
	shell(t, dir, "shadowcourt plugin push clerk oci-layout:layout:clerk --key court.key && cp pipelines/defect-court.yaml court.yaml && shadowcourt plugin new lines --lang go --role persona")
	// Those about tokens have a database.
	shell(t, dir, "shadowcourt serve migrate --data court")
	for _, cmd := range allCommands(cli.Root(commands(cli.Streams{}))) {
		t.Run(strings.ReplaceAll(cmd.CommandPath(), " ", "_"), func(t *testing.T) {
			t.Parallel()
			help := shell(t, dir, cmd.CommandPath()+" --help")
			if !strings.Contains(help, "Examples:\n"+cmd.Example) || cmd.Example == "" {
				t.Fatalf("the help shows no example:\n%s", help)
			}
			for line := range strings.SplitSeq(strings.ReplaceAll(cmd.Example, "\\\n", ""), "\n") {
				if !strings.HasPrefix(line, "  "+cmd.CommandPath()) && cmd.HasParent() {
					t.Errorf("an example of another command: %s", line)
				}
				// The first two run tests of a repository: TestAccept_AL10 pastes the first in that of the demo. The others need a server: TestAccept_IG1 and IG6.
				if !slices.Contains([]string{"alibi", "culprit", "publish", "github", "gitlab", "issues", "reportportal"}, cmd.Name()) {
					shell(t, dir, line)
				}
			}
		})
	}
}

// allCommands are the command and all below it that its help shows.
func allCommands(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, allCommands(sub)...)
		}
	}
	return all
}

// exampleCases is how many cases of a docket the examples run on: an example shows that it works, and others measure. One of sentiment-fit repeats another.
const exampleCases = measure.LeastCases + 1

func firstLines(data []byte, n int) [][]byte {
	lines := slices.Collect(bytes.Lines(data))
	return lines[:min(n, len(lines))]
}

// scratchCopy has what the examples name; nothing in the repository is written to. Long dockets are cut.
func scratchCopy(t *testing.T) string {
	t.Helper()
	dir, root := t.TempDir(), repositoryRoot(t)
	for _, pattern := range []string{"examples/dockets/*.json*", "examples/dockets/*.yaml", "examples/dockets/inputs/*", "examples/audit/*", "pipelines/*.yaml", "plugins/*/manifest.yaml", "bin/modules/*.wasm"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(file)
			if filepath.Ext(file) == ".jsonl" {
				data = bytes.Join(firstLines(data, exampleCases), nil)
			}
			if err == nil {
				err = os.MkdirAll(filepath.Join(dir, filepath.Dir(rel)), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, rel), data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}
