package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/go-github/v84/github"

	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Connect makes a client of go-github for a server, whose Base is such as https://api.github.com. wait is how it waits where the server asks for it.
func Connect(s *publish.Server, wait func(context.Context, time.Duration) error) *github.Client {
	s.Header, s.Prefix = "Authorization", "Bearer "
	api := github.NewClient(publish.Patient(s.Client(), wait))
	api.BaseURL, api.UserAgent, api.DisableRateLimitCheck = s.Base.JoinPath("/"), s.Agent, true
	return api
}

// Failure says what failed, in our words: errors of the library quote all that a server says.
func Failure(answer *github.Response, err error) error {
	switch {
	case err == nil:
		return nil
	case answer != nil && answer.Response != nil && answer.Request != nil && (answer.StatusCode < 200 || answer.StatusCode > 299):
		return publish.Failed(answer.Response)
	case errors.Is(err, publish.ErrTooLarge) || answer == nil || answer.Response == nil:
		return err
	}
	const most = 1000
	return fmt.Errorf("%s: the answer has another form than GitHub's API describes: %s", answer.Request.Method, sanitize.Log(sanitize.Cut(sanitize.Line(err.Error()), most)))
}

// Client speaks to the REST API of GitHub, or of a GitHub Enterprise server.
type Client struct{ api *github.Client }

// Open makes a client of a server as [Connect] does.
func Open(s *publish.Server, wait func(context.Context, time.Duration) error) *Client {
	return &Client{Connect(s, wait)}
}

// ActionsBot is who writes with the token that GitHub Actions gives to a job.
const ActionsBot = "github-actions[bot]"

// Self is the name of the token's user. Tokens of apps can't ask: then it is ActionsBot.
func (c *Client) Self(ctx context.Context) (string, error) {
	user, answer, err := c.api.Users.Get(ctx, "")
	switch {
	case err == nil && user.GetLogin() != "":
		return user.GetLogin(), nil
	case err == nil:
		return "", errors.New("the server does not say whose token it is")
	case statusOf(err) == http.StatusForbidden:
		return ActionsBot, nil
	}
	return "", Failure(answer, err)
}

// FindPull finds the open pull request by OWNER:BRANCH, and its last commit; 0 where there is none.
func (c *Client) FindPull(ctx context.Context, repository, label, head string) (int, error) {
	owner, name, _ := strings.Cut(repository, "/")
	pulls, answer, err := c.api.PullRequests.List(ctx, owner, name, &github.PullRequestListOptions{State: "open", Head: label})
	if err != nil {
		return 0, Failure(answer, err)
	}
	for _, p := range pulls {
		if p.GetHead().GetSHA() == head && head != "" {
			return p.GetNumber(), nil
		}
	}
	return 0, nil
}

// Pull is a pull request as a board.
func (c *Client) Pull(repository string, number int) publish.Board {
	owner, name, _ := strings.Cut(repository, "/")
	return &pull{c.api, owner, name, number}
}

type pull struct {
	api         *github.Client
	owner, name string
	number      int
}

const perPage = 100

func (p *pull) Comments(ctx context.Context) ([]publish.Comment, error) {
	var all []publish.Comment
	for page := 1; ; page++ {
		list, answer, err := p.api.Issues.ListComments(ctx, p.owner, p.name, p.number, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		if err != nil {
			return nil, Failure(answer, err)
		}
		for _, c := range list {
			all = append(all, commentOf(c))
		}
		switch {
		case len(list) < perPage:
			return all, nil
		case len(all) >= publish.MaxComments:
			return nil, publish.ErrTooMany
		}
	}
}

func commentOf(c *github.IssueComment) publish.Comment {
	return publish.Comment{ID: c.GetID(), Author: c.GetUser().GetLogin(), Body: c.GetBody()}
}

func (p *pull) Post(ctx context.Context, body string) (publish.Comment, error) {
	c, answer, err := p.api.Issues.CreateComment(ctx, p.owner, p.name, p.number, &github.IssueComment{Body: &body})
	return commentOf(c), forbidden(answer, err)
}

func (p *pull) Edit(ctx context.Context, id int64, body string) error {
	_, answer, err := p.api.Issues.EditComment(ctx, p.owner, p.name, id, &github.IssueComment{Body: &body})
	return forbidden(answer, err)
}

func (p *pull) Remove(ctx context.Context, id int64) error {
	answer, err := p.api.Issues.DeleteComment(ctx, p.owner, p.name, id)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return forbidden(answer, err)
}

// statusOf is the status of an error that the server describes; 0 for another, such as that of a limit.
func statusOf(err error) int {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

func forbidden(answer *github.Response, err error) error {
	if statusOf(err) == http.StatusForbidden {
		return fmt.Errorf("%w: %w", publish.ErrForbidden, Failure(answer, err))
	}
	return Failure(answer, err)
}
