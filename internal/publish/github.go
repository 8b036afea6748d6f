package publish

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v84/github"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of GitHub Actions.
const (
	MaxSummary     = 1 << 20 // bytes of the summary of one step
	maxAnnotations = 10      // of each level in one step
)

// Annotate prints annotations: errors for failures that are yours, warnings for open ones and notices for others. GitHub shows ten of each; what
// does not fit is counted in a line.
func Annotate(w io.Writer, d *answers.Document) error {
	shown := *d
	shown.Failures = nil
	counts := map[alibi.Verdict]int{}
	for i := range d.Failures {
		v := d.Failures[i].Verdict
		if counts[v]++; counts[v] <= maxAnnotations {
			shown.Failures = append(shown.Failures, d.Failures[i])
		}
	}
	err := render.WriteAnswers(&shown, func(trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerForm(render.FormGitHub, w, trees)
	})
	if err != nil || len(shown.Failures) == len(d.Failures) {
		return err
	}
	more := func(v alibi.Verdict) int { return max(counts[v]-maxAnnotations, 0) }
	_, err = fmt.Fprintf(w, "GitHub shows %d annotations of a level. Without one: %d yours, %d open, %d not yours.\n",
		maxAnnotations, more(alibi.IsYours), more(alibi.IsOpen), more(alibi.NotYours))
	return err
}

// GitHubOutputs writes the outputs of a step in the form of the file that GITHUB_OUTPUT names. No value has a line break.
func GitHubOutputs(w io.Writer, d *answers.Document) error {
	return writeOutputs(w, d, func(name string) string { return name })
}

// connect makes a client of go-github for a server, whose Base is such as https://api.github.com. wait is how it waits where the server asks for it.
func connect(s *Server, wait func(context.Context, time.Duration) error) *github.Client {
	s.Header, s.Prefix = "Authorization", "Bearer "
	api := github.NewClient(patientClient(s.Client(), wait))
	api.BaseURL, api.UserAgent, api.DisableRateLimitCheck = s.Base.JoinPath("/"), s.Agent, true
	return api
}

// hubFailure says what failed, in our words: errors of the library quote all that a server says.
func hubFailure(answer *github.Response, err error) error {
	switch {
	case err == nil:
		return nil
	case answer != nil && answer.Response != nil && answer.Request != nil && (answer.StatusCode < 200 || answer.StatusCode > 299):
		return failedAnswer(answer.Response)
	case errors.Is(err, errTooLarge) || answer == nil || answer.Response == nil:
		return err
	}
	const most = 1000
	return fmt.Errorf("%s: the answer has another form than GitHub's API describes: %s", answer.Request.Method, sanitize.Log(sanitize.Cut(sanitize.Line(err.Error()), most)))
}

// GitHub speaks to the REST API of GitHub, or of a GitHub Enterprise server.
type GitHub struct{ api *github.Client }

// OpenGitHub makes a client of a server as [connect] does.
func OpenGitHub(s *Server, wait func(context.Context, time.Duration) error) *GitHub {
	return &GitHub{connect(s, wait)}
}

// actionsBot is who writes with the token that GitHub Actions gives to a job.
const actionsBot = "github-actions[bot]"

// Self is the name of the token's user. Tokens of apps can't ask: then it is actionsBot.
func (c *GitHub) Self(ctx context.Context) (string, error) {
	user, answer, err := c.api.Users.Get(ctx, "")
	switch {
	case err == nil && user.GetLogin() != "":
		return user.GetLogin(), nil
	case err == nil:
		return "", errors.New("the server does not say whose token it is")
	case hubStatus(err) == http.StatusForbidden:
		return actionsBot, nil
	}
	return "", hubFailure(answer, err)
}

// FindPull finds the open pull request by OWNER:BRANCH, and its last commit; 0 where there is none.
func (c *GitHub) FindPull(ctx context.Context, repository, label, head string) (int, error) {
	owner, name, _ := strings.Cut(repository, "/")
	pulls, answer, err := c.api.PullRequests.List(ctx, owner, name, &github.PullRequestListOptions{State: "open", Head: label})
	if err != nil {
		return 0, hubFailure(answer, err)
	}
	for _, p := range pulls {
		if p.GetHead().GetSHA() == head && head != "" {
			return p.GetNumber(), nil
		}
	}
	return 0, nil
}

// Pull is a pull request as a board.
func (c *GitHub) Pull(repository string, number int) Board {
	owner, name, _ := strings.Cut(repository, "/")
	return &hubPull{c.api, owner, name, number}
}

type hubPull struct {
	api         *github.Client
	owner, name string
	number      int
}

const perPage = 100

func (p *hubPull) Comments(ctx context.Context) ([]Comment, error) {
	var all []Comment
	for page := 1; ; page++ {
		list, answer, err := p.api.Issues.ListComments(ctx, p.owner, p.name, p.number, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		if err != nil {
			return nil, hubFailure(answer, err)
		}
		for _, c := range list {
			all = append(all, hubComment(c))
		}
		switch {
		case len(list) < perPage:
			return all, nil
		case len(all) >= maxComments:
			return nil, errTooMany
		}
	}
}

func hubComment(c *github.IssueComment) Comment {
	return Comment{ID: c.GetID(), Author: c.GetUser().GetLogin(), Body: c.GetBody()}
}

func (p *hubPull) Post(ctx context.Context, body string) (Comment, error) {
	c, answer, err := p.api.Issues.CreateComment(ctx, p.owner, p.name, p.number, &github.IssueComment{Body: &body})
	return hubComment(c), hubForbidden(answer, err)
}

func (p *hubPull) Edit(ctx context.Context, id int64, body string) error {
	_, answer, err := p.api.Issues.EditComment(ctx, p.owner, p.name, id, &github.IssueComment{Body: &body})
	return hubForbidden(answer, err)
}

func (p *hubPull) Remove(ctx context.Context, id int64) error {
	answer, err := p.api.Issues.DeleteComment(ctx, p.owner, p.name, id)
	if hubStatus(err) == http.StatusNotFound {
		return nil
	}
	return hubForbidden(answer, err)
}

// hubStatus is the status of an error that the server describes; 0 for another, such as that of a limit.
func hubStatus(err error) int {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

func hubForbidden(answer *github.Response, err error) error {
	if hubStatus(err) == http.StatusForbidden {
		return fmt.Errorf("%w: %w", ErrForbidden, hubFailure(answer, err))
	}
	return hubFailure(answer, err)
}
