package alibi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// forkHint helps where a run may not write.
const forkHint = "the job needs the permission pull-requests: write; runs for pull requests from forks don't get it: " +
	"publish in a workflow_run, from the document as an artifact"

type gitHub struct {
	comment
	onPull             bool
	repository, author string
}

func newGitHub(s cli.Streams, version string) *cobra.Command {
	g := &gitHub{comment: comment{agent: "shadowcourt/" + version}}
	cmd := &cobra.Command{
		Use:   "github ANSWERS",
		Short: "Show answers on GitHub: summary, annotations, outputs and a comment on the pull request",
		Long: `Show answers on GitHub. In a job of GitHub Actions this appends Markdown to its summary, prints an
annotation for each failure (GitHub shows ten of each level), and sets the outputs conclusion,
yours, open, not-yours and verdict (yours, open or none).

With --comment, one comment on the pull request says the same. The next run updates it; a run
without failures updates it and posts none. It is found by its author and a hidden marker. The author
is the user of the token, or github-actions[bot]; name that of another app with --author.

GITHUB_API_URL names the server of GitHub Enterprise. Without GitHub Actions, give --repository
and --number.`,
		Example: `  shadowcourt publish github answers.json --comment
  shadowcourt publish github answers.json --comment --dry-run
  shadowcourt publish github answers.json --comment --repository acme/shop --number 12 --token env:BOT_TOKEN`,
		Args: oneDocument,
		RunE: func(cmd *cobra.Command, args []string) error { return g.run(cmd.Context(), s, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&g.onPull, "comment", false, "write a comment on the pull request, or update it")
	g.flags(f, "pull request", "GITHUB_TOKEN or GH_TOKEN")
	f.StringVar(&g.repository, "repository", "", "OWNER/NAME of the repository (default: that of this run)")
	f.StringVar(&g.author, "author", "", "who the token writes as, such as our-app[bot]")
	return cmd
}

func (g *gitHub) run(ctx context.Context, s cli.Streams, name string) error {
	run := publish.RunOf(os.Getenv)
	var event publish.Event
	if file := os.Getenv("GITHUB_EVENT_PATH"); file != "" {
		var err error
		if event, err = publish.ReadEvent(file); err != nil {
			return err
		}
	}
	run.Head, run.Link = cmp.Or(event.Head, run.Head), cmp.Or(event.Link, run.Link)
	d, err := readAnswers(s, name)
	if err != nil {
		return err
	}
	d.Link = run.Link
	text, err := publish.Markdown(d, run, g.job())
	if err != nil {
		return err
	}
	err = g.inJob(s, d, text)
	if !g.onPull {
		return err
	}
	return errors.Join(err, g.onPullRequest(ctx, s, d, text, run, &event))
}

// inJob writes what a job of GitHub Actions shows.
func (g *gitHub) inJob(s cli.Streams, d *answers.Document, text string) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	var outputs, annotations bytes.Buffer
	err := errors.Join(publish.GitHubOutputs(&outputs, d), publish.Annotate(&annotations, d))
	if err != nil {
		return err
	}
	if g.dryRun {
		fmt.Fprint(s.Out, "would print annotations:\n"+sanitize.Log(annotations.String()))
	} else if _, err := s.Out.Write(annotations.Bytes()); err != nil {
		return err
	}
	return errors.Join(
		g.appendTo(s, "GITHUB_STEP_SUMMARY", "summary", text, publish.MaxSummary),
		g.appendTo(s, "GITHUB_OUTPUT", "outputs", outputs.String(), math.MaxInt64))
}

func (g *gitHub) onPullRequest(ctx context.Context, s cli.Streams, d *answers.Document, text string, run publish.Run, event *publish.Event) error {
	repository := cmp.Or(g.repository, run.Repository)
	if !publish.IsGitHubRepository(repository) {
		return cli.InputError(fmt.Errorf("--repository %q: use OWNER/NAME, since no run of GitHub Actions names it", sanitize.Line(repository)))
	}
	if g.number < 0 {
		return cli.InputError(errNumber)
	}
	token, err := publish.ReadToken(g.token, "GITHUB_TOKEN", "GH_TOKEN")
	if err != nil && !g.dryRun {
		return cli.InputError(fmt.Errorf("--token: %w", err))
	}
	open := func() (*publish.Server, error) {
		server, err := publish.ParseServer(cmp.Or(os.Getenv("GITHUB_API_URL"), "https://api.github.com"), false)
		if err != nil {
			return nil, fmt.Errorf("GITHUB_API_URL: %w", err)
		}
		server.Token, server.Agent = token, g.agent
		return server, nil
	}
	number := cmp.Or(g.number, event.Number, run.Number)
	if number <= 0 && event.Label != "" && !g.dryRun && !token.Empty() {
		server, err := open()
		if err != nil {
			return cli.InputError(err)
		}
		if number, err = publish.FindPull(ctx, server, repository, event.Label, event.Head); err != nil {
			return cli.OrInterrupted(ctx, err)
		}
	}
	if number <= 0 {
		fmt.Fprintln(s.Err, "comment: none, since this run is not of a pull request")
		return nil
	}
	return g.keep(ctx, s, d, text, &place{
		what: fmt.Sprintf("%s#%d", repository, number), hint: forkHint, token: token, author: g.author,
		open: func() (*publish.Notes, error) {
			server, err := open()
			if err != nil {
				return nil, err
			}
			return publish.GitHubPull(server, repository, number), nil
		},
	})
}
