// Package publish is the command publish: it writes answers of alibi where people work.
package publish

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/answers"
)

// New is the command of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	return cli.Parent("publish", "Write answers of alibi to GitHub and other places where people work",
		newGitHub(s, version))
}

// oneDocument is the argument of every subcommand.
var oneDocument = cli.ExactArgs(1, "the document that `alibi --report FILE.json` writes, or - for the standard input")

// readAnswers reads a document of answers from a file, or from the standard input where the name is -. Whoever wrote it, its texts are hostile.
func readAnswers(s cli.Streams, name string) (*answers.Document, error) {
	in := s.In
	if name == "-" {
		name = "the standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, cli.InputError(err)
		}
		defer func() { _ = f.Close() }()
		in = io.Reader(f)
	}
	d, err := answers.Read(in)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("%s: %w", name, err))
	}
	return d, nil
}
