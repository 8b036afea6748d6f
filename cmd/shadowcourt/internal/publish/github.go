package publish

import (
	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

func newGitHub(s cli.Streams, _ string) *cobra.Command {
	return &cobra.Command{
		Use:     "github ANSWERS",
		Short:   "Print annotations for GitHub Actions",
		Example: "  shadowcourt publish github answers.json",
		Args:    oneDocument,
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := readAnswers(s, args[0])
			if err != nil {
				return err
			}
			return annotate(s, d)
		},
	}
}

// annotate prints the annotations of a document.
func annotate(s cli.Streams, d *answers.Document) error {
	return render.WriteAnswers(d, func(trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerForm(render.FormGitHub, s.Out, trees)
	})
}
