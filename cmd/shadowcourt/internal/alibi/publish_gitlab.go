package alibi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/publish"
)

// noteHint helps where a run may not write.
const noteHint = "set GITLAB_TOKEN to a project access token with the scope api; pipelines of forks don't get it"

type gitLab struct {
	comment
	project, dotenv string
}

func newGitLab(s cli.Streams, version string) *cobra.Command {
	g := &gitLab{comment: comment{agent: "shadowcourt/" + version}}
	cmd := &cobra.Command{
		Use:   "gitlab ANSWERS",
		Short: "Show answers on GitLab: a note on the merge request, and variables for later jobs",
		Long: `Show answers on GitLab. One note on the merge request says whose the failures are. The next run
updates it; a run without failures updates it and posts none. It is found by its author, the user of
the token, and a hidden marker.

With --dotenv, variables for later jobs are written: SHADOWCOURT_CONCLUSION, _YOURS, _OPEN, _NOT_YOURS
and _VERDICT (yours, open or none). For the report of code quality, use alibi --report gitlab=FILE.

The project, the merge request and the server are those of CI_PROJECT_ID, CI_MERGE_REQUEST_IID and
CI_API_V4_URL.`,
		Example: `  shadowcourt publish gitlab answers.json --dotenv shadowcourt.env
  shadowcourt publish gitlab answers.json --dry-run
  shadowcourt publish gitlab answers.json --project acme/shop --number 12 --token env:BOT_TOKEN`,
		Args: oneDocument,
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), s, args[0]) },
	}
	f := cmd.Flags()
	g.flags(f, "merge request", "GITLAB_TOKEN")
	f.StringVar(&g.project, "project", "", "number or path of the project (default: that of this run)")
	f.StringVar(&g.dotenv, "dotenv", "", "write variables to this file, for artifacts:reports:dotenv")
	return cmd
}

func (g *gitLab) run(ctx context.Context, s cli.Streams, name string) error {
	run := publish.RunOf(os.Getenv)
	d, err := readAnswers(s, name)
	if err != nil {
		return err
	}
	text, err := publish.Markdown(d, run, g.job())
	if err != nil {
		return err
	}
	if err := g.variables(s, name, d); err != nil {
		return err
	}
	if g.number < 0 {
		return cli.InputError(errNumber)
	}
	number, project := cmp.Or(g.number, run.Number), cmp.Or(g.project, os.Getenv("CI_PROJECT_ID"), run.Repository)
	if number <= 0 {
		fmt.Fprintln(s.Err, "note: none, since this run is not of a merge request")
		return nil
	}
	if project == "" {
		return cli.InputError(errors.New("--project: name it, since CI_PROJECT_ID is not set"))
	}
	token, err := publish.ReadToken(g.token, "GITLAB_TOKEN")
	if err != nil && !g.dryRun {
		return cli.InputError(fmt.Errorf("--token: %w", err))
	}
	return g.keep(ctx, s, d, publish.NoteBody(text), &place{
		what: fmt.Sprintf("%s!%d", project, number), hint: noteHint, token: token,
		open: func() (*publish.Notes, error) {
			server, err := publish.ParseServer(cmp.Or(os.Getenv("CI_API_V4_URL"), "https://gitlab.com/api/v4"), false)
			if err != nil {
				return nil, fmt.Errorf("CI_API_V4_URL: %w", err)
			}
			server.Token, server.Agent = token, g.agent
			return publish.MergeRequest(server, project, number), nil
		},
	})
}

// variables writes the file of --dotenv.
func (g *gitLab) variables(s cli.Streams, input string, d *answers.Document) error {
	if g.dotenv == "" {
		return nil
	}
	if err := cli.CheckOverwrites([]cli.NamedFile{cli.File("the document", input)}, []cli.NamedFile{cli.File("--dotenv", g.dotenv)}); err != nil {
		return cli.InputError(err)
	}
	if g.dryRun {
		fmt.Fprintf(s.Out, "would write %s:\n", g.dotenv)
		return publish.GitLabOutputs(s.Out, d)
	}
	f, err := disk.Create(g.dotenv)
	if err != nil {
		return cli.FileError(err)
	}
	defer f.Discard()
	if err := publish.GitLabOutputs(f, d); err != nil {
		return err
	}
	return cli.FileError(f.Commit())
}
