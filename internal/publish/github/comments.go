package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/go-github/v84/github"

	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Client speaks to the REST API of GitHub, or of a GitHub Enterprise server.
type Client struct{ api *github.Client }

// Open makes a client of a server, whose Base is such as https://api.github.com. wait is how it waits where the server asks for it.
func Open(s *publish.Server, wait func(context.Context, time.Duration) error) (*Client, error) {
	s.Header, s.Prefix = "Authorization", "Bearer "
	base, err := url.Parse(strings.TrimSuffix(s.Base.String(), "/") + "/")
	if err != nil {
		return nil, err
	}
	api := github.NewClient(publish.Patient(s.Client(), wait))
	api.BaseURL, api.UserAgent, api.DisableRateLimitCheck = base, s.Agent, true
	return &Client{api}, nil
}

// ActionsBot is who writes with the token that GitHub Actions gives to a job.
const ActionsBot = "github-actions[bot]"

// Self is the name of the token's user. Tokens of apps can't ask: then it is ActionsBot.
func (c *Client) Self(ctx context.Context) (string, error) {
	user, _, err := c.api.Users.Get(ctx, "")
	switch {
	case err == nil && user.GetLogin() != "":
		return user.GetLogin(), nil
	case err == nil:
		return "", errors.New("the server does not say whose token it is")
	case statusOf(err) == http.StatusForbidden:
		return ActionsBot, nil
	}
	return "", failed("whose token it is", err)
}

// FindPull finds the open pull request by OWNER:BRANCH, and its last commit; 0 where there is none.
func (c *Client) FindPull(ctx context.Context, repository, label, head string) (int, error) {
	owner, name, _ := strings.Cut(repository, "/")
	pulls, _, err := c.api.PullRequests.List(ctx, owner, name, &github.PullRequestListOptions{State: "open", Head: label})
	if err != nil {
		return 0, failed("the pull request of "+label, err)
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
		list, _, err := p.api.Issues.ListComments(ctx, p.owner, p.name, p.number, &github.IssueListCommentsOptions{ListOptions: github.ListOptions{Page: page, PerPage: perPage}})
		if err != nil {
			return nil, failed("the comments", err)
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
	c, _, err := p.api.Issues.CreateComment(ctx, p.owner, p.name, p.number, &github.IssueComment{Body: &body})
	if err != nil {
		return publish.Comment{}, forbidden("a comment", err)
	}
	return commentOf(c), nil
}

func (p *pull) Edit(ctx context.Context, id int64, body string) error {
	_, _, err := p.api.Issues.EditComment(ctx, p.owner, p.name, id, &github.IssueComment{Body: &body})
	if err != nil {
		return forbidden("the comment", err)
	}
	return nil
}

func (p *pull) Remove(ctx context.Context, id int64) error {
	_, err := p.api.Issues.DeleteComment(ctx, p.owner, p.name, id)
	if err != nil && statusOf(err) != http.StatusNotFound {
		return forbidden("the comment", err)
	}
	return nil
}

// statusOf is the status of the answer that an error tells; 0 for none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*github.ErrorResponse](err); ok && e.Response != nil {
		return e.Response.StatusCode
	}
	return 0
}

// failed says what failed, with the beginning of what the library or the server says.
func failed(what string, err error) error {
	if errors.Is(err, publish.ErrTooLarge) {
		return fmt.Errorf("%s: %w", what, publish.ErrTooLarge)
	}
	const most = 300
	text := sanitize.Line(strings.ToValidUTF8(err.Error(), "?"))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return errors.New(publish.Inert(what + ": " + text))
}

func forbidden(what string, err error) error {
	said := failed(what, err)
	if statusOf(err) == http.StatusForbidden {
		return fmt.Errorf("%w: %w", publish.ErrForbidden, said)
	}
	return said
}
