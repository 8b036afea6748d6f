package alibi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

type issuesOptions struct {
	writeFlags

	tracker, api string
	accounts     []string
	main, author bool
	most         int
}

func newIssues(s cli.Streams, version string) *cobra.Command {
	o := &issuesOptions{}
	cmd := &cobra.Command{
		Use:   "issues ANSWERS",
		Short: "Keep one issue for each proven culprit and flake in GitHub",
		Long: `Keep one issue for each proven finding in ANSWERS, the document that "alibi --report
FILE.json" writes: a commit that is verified as the culprit, a test that passes and fails
on the base, and a failure that the base has, too. What a change itself causes gets an
issue only with --main and a verified culprit. Open answers get none.

An issue is found again by its fingerprint, and gets a comment for each further head. One
that was closed as done is reopened when it comes back, with --main. One that was closed as
not planned, or locked, stays: somebody decided. Owners by CODEOWNERS are assigned where
they are users; teams and addresses are named without notifying them. Without --write
the tracker is only read. A second run writes nothing.

The token is that of the variable GITHUB_TOKEN or GH_TOKEN, or of --token.

Exit codes: 0 done; 1 an issue failed, the others were done; 2 the command line or an input is wrong.`,
		Example: "  shadowcourt publish issues answers.json --tracker github:acme/cart",
		Args:    oneDocument,
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, version, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.tracker, "tracker", "", "github:OWNER/REPO")
	f.BoolVar(&o.main, "main", false, "the answers are of a push to the main branch, not of a pull request")
	f.IntVar(&o.most, "max", 10, "the most new issues of one run; the rest is counted")
	f.StringArrayVar(&o.accounts, "account", nil, "OWNER=ACCOUNT: assign this account of the tracker for an owner or an author; may be repeated")
	f.BoolVar(&o.author, "assign-author", false, "assign the author of a culprit, too, by --account \"NAME=ACCOUNT\"")
	f.StringVar(&o.api, "api", "", "address of the API (default: the variable GITHUB_API_URL, or https://api.github.com)")
	cli.RemovedFlags(f, withoutJira, "user", "type")
	o.add(f, "GITHUB_TOKEN", "GH_TOKEN")
	return cmd
}

func (o *issuesOptions) run(ctx context.Context, s cli.Streams, version, name string) error {
	keeper := &publish.IssueKeeper{Max: o.most, Accounts: map[string]string{}, Author: o.author, Main: o.main, Write: o.write}
	faults := []error{o.check()}
	if o.most < 1 {
		faults = append(faults, fmt.Errorf("--max %d: use a number from 1 on", o.most))
	}
	for _, pair := range o.accounts {
		owner, account, _ := strings.Cut(pair, "=")
		if owner == "" || account == "" {
			faults = append(faults, fmt.Errorf("--account %q: use OWNER=ACCOUNT", sanitize.Line(pair)))
		}
		keeper.Accounts[owner] = account
	}
	var err error
	keeper.Tracker, err = o.open(version)
	if err := errors.Join(append(faults, err)...); err != nil {
		return cli.InputError(err)
	}
	d, err := readAnswers(s, name)
	if err != nil {
		return err
	}
	found, left := publish.SelectFindings(d, o.main)
	steps, err := keeper.Keep(ctx, d, found)
	if err != nil {
		return cli.OrInterrupted(ctx, errors.New(sanitize.Log(err.Error())))
	}
	return o.print(s, steps, left)
}

// withoutJira is what to do instead.
const withoutJira = "issues are not kept in Jira; write the answers (alibi --report FILE.json) to it in CI, or keep them in GitHub"

func (o *issuesOptions) open(version string) (*publish.Tracker, error) {
	kind, place, _ := strings.Cut(o.tracker, ":")
	if kind == "jira" {
		return nil, errors.New("--tracker jira was removed: " + withoutJira)
	}
	if kind != "github" {
		return nil, errors.New("--tracker: use github:OWNER/REPO")
	}
	server, err := o.server(cmp.Or(orVariable(o.api, "GITHUB_API_URL"), "https://api.github.com"), version, "GITHUB_TOKEN", "GH_TOKEN")
	if err != nil {
		return nil, err
	}
	tracker, err := publish.NewTracker(server, place)
	if err != nil {
		return nil, fmt.Errorf("--tracker: %w", err)
	}
	return tracker, nil
}

func (o *issuesOptions) print(s cli.Streams, steps []publish.IssueStep, left []publish.Left) error {
	g := render.NewGrid(render.Column{Name: "ISSUE"}, render.Column{Name: "ABOUT"}, render.Column{Name: "ACTION"}, render.Column{Name: "WHY"})
	written, planned, failed := 0, 0, 0
	for i := range steps {
		step := &steps[i]
		why := step.Why
		if step.Written {
			written++
		}
		switch {
		case step.Action == publish.IssueFails:
			failed++
			why = step.Err.Error()
		case !step.Written && (step.Action == publish.IssueOpens || step.Action == publish.IssueReopens || step.Action == publish.IssueComments):
			planned++
		}
		ref := step.Ref
		if ref == "" {
			ref = "-"
		}
		g.Add(ref, step.Finding.Title(), actionWords(string(step.Action), step.Written, o.write), why)
	}
	const most = 50
	for i, l := range left {
		if i == most {
			g.Add("-", cli.Count(len(left)-i, "further answer", "further answers"), "leave", "")
			break
		}
		g.Add("-", l.ID, "leave", l.Why)
	}
	if len(steps)+len(left) > 0 {
		if _, err := fmt.Fprint(s.Out, sanitize.Log(g.Text(cli.Terminal(s.Out)))); err != nil {
			return err
		}
	}
	return o.conclude(s, written, planned, failed)
}
