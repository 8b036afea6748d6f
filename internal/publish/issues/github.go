package issues

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/go-github/v84/github"

	"github.com/shadowcourt/shadowcourt/internal/publish"
	hub "github.com/shadowcourt/shadowcourt/internal/publish/github"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of what is listed: pages are small, since each of their texts may have 64 kB.
const (
	perPage    = 50
	issuePages = 40
	notePages  = 20
)

// GitHub has the issues of a repository.
type GitHub struct {
	client      *github.Client
	owner, repo string
}

var repository = regexp.MustCompile(`^([0-9A-Za-z][0-9A-Za-z-]{0,38})/([0-9A-Za-z_.-]{1,100})$`)

// NewGitHub is the tracker of a repository, OWNER/REPO. The server's base is that of the API, such as https://api.github.com.
func NewGitHub(s *publish.Server, name string) (*GitHub, error) {
	m := repository.FindStringSubmatch(name)
	if m == nil || m[2] == "." || m[2] == ".." {
		return nil, fmt.Errorf("%q is not OWNER/REPO", sanitize.Line(name))
	}
	return &GitHub{hub.Connect(s, publish.Wait), m[1], m[2]}, nil
}

// The marks of an issue and of a comment.
func fingerprintMark(fingerprint string) string {
	return "<!-- shadowcourt:fingerprint=" + fingerprint + " -->"
}
func headMark(head string) string { return "<!-- shadowcourt:head=" + head + " -->" }

var fingerprintMarks = regexp.MustCompile(`<!-- shadowcourt:fingerprint=([0-9a-f]{32}) -->`)

// Known finds the issues of these fingerprints: it lists those with the label. An open one of a fingerprint goes before one that was decided, and that before
// one that was closed.
func (g *GitHub) Known(ctx context.Context, fingerprints []string) (map[string]Issue, error) {
	known, asked := map[string]Issue{}, map[string]bool{}
	for _, f := range fingerprints {
		asked[f] = true
	}
	options := &github.IssueListByRepoOptions{State: "all", Labels: []string{Label}, ListOptions: github.ListOptions{PerPage: perPage, Page: 1}}
	for range issuePages {
		page, answer, err := g.client.Issues.ListByRepo(ctx, g.owner, g.repo, options)
		if err != nil {
			return nil, hub.Failure(answer, err)
		}
		for _, i := range page {
			m := fingerprintMarks.FindStringSubmatch(i.GetBody())
			if m == nil || i.IsPullRequest() || !asked[m[1]] || i.GetNumber() <= 0 {
				continue
			}
			if before, there := known[m[1]]; !there || rank(issueOf(i).State) > rank(before.State) {
				known[m[1]] = issueOf(i)
			}
		}
		if answer.NextPage == 0 {
			return known, nil
		}
		options.ListOptions.Page = answer.NextPage
	}
	return nil, fmt.Errorf("more than %d issues have the label %s: remove it from old ones", perPage*issuePages, Label)
}

func rank(s State) int { return map[State]int{Closed: 0, Decided: 1, Open: 2}[s] }

func issueOf(i *github.Issue) Issue {
	out := Issue{Ref: "#" + strconv.Itoa(i.GetNumber()), number: i.GetNumber()}
	switch reason := i.GetStateReason(); {
	case i.GetLocked():
		out.State, out.Why = Decided, "locked: a person's decision stands"
	case i.GetState() == "open":
	case reason == "" || reason == "completed":
		out.State = Closed
	default:
		out.State, out.Why = Decided, "closed as "+sanitize.Cut(reason, maxTitle)+": a person's decision stands"
	}
	return out
}

// Read reads an issue again.
func (g *GitHub) Read(ctx context.Context, i Issue) (Issue, error) {
	read, answer, err := g.client.Issues.Get(ctx, g.owner, g.repo, i.number)
	if err != nil {
		return i, hub.Failure(answer, err)
	}
	if read.GetNumber() != i.number {
		return i, fmt.Errorf("read %s: the server answered with another issue", i.Ref)
	}
	return issueOf(read), nil
}

// Seen says whether the issue, or a comment on it, names a head commit.
func (g *GitHub) Seen(ctx context.Context, i Issue, head string) (bool, error) {
	read, answer, err := g.client.Issues.Get(ctx, g.owner, g.repo, i.number)
	if err != nil {
		return false, hub.Failure(answer, err)
	}
	if strings.Contains(read.GetBody(), headMark(head)) {
		return true, nil
	}
	options := &github.IssueListCommentsOptions{ListOptions: github.ListOptions{PerPage: perPage, Page: 1}}
	for range notePages {
		page, answer, err := g.client.Issues.ListComments(ctx, g.owner, g.repo, i.number, options)
		if err != nil {
			return false, hub.Failure(answer, err)
		}
		for _, c := range page {
			if strings.Contains(c.GetBody(), headMark(head)) {
				return true, nil
			}
		}
		if answer.NextPage == 0 {
			return false, nil
		}
		options.Page = answer.NextPage
	}
	return false, fmt.Errorf("%s has more than %d comments: close it, and let another be opened", i.Ref, perPage*notePages)
}

// Open opens an issue; note says what of the draft could not be had. Where GitHub rejects the assignees, it is opened without them.
func (g *GitHub) Open(ctx context.Context, d *Draft) (_ Issue, note string, err error) {
	words, name := d.Finding.title()
	title := words + " " + strings.Join(codes([]string{sanitize.Cut(name, maxTitle)}), "")
	body := markdown(d.Finding.text(d.Document)) + fingerprintMark(d.Finding.Fingerprint) + "\n" + headMark(d.Document.Head)
	request := &github.IssueRequest{Title: &title, Body: &body, Labels: &[]string{Label}}
	if len(d.Assignees) > 0 {
		request.Assignees = &d.Assignees
	}
	made, answer, err := g.client.Issues.Create(ctx, g.owner, g.repo, request)
	if err != nil && request.Assignees != nil && answer != nil && answer.StatusCode == http.StatusUnprocessableEntity {
		note, request.Assignees = "not assigned, GitHub rejects it: "+strings.Join(d.Assignees, ", "), nil
		made, answer, err = g.client.Issues.Create(ctx, g.owner, g.repo, request)
	}
	if err != nil {
		return Issue{}, "", hub.Failure(answer, err)
	}
	if made.GetNumber() <= 0 {
		return Issue{}, "", errors.New("open an issue: the answer has no number")
	}
	i := issueOf(made)
	for _, l := range made.Labels {
		if strings.EqualFold(l.GetName(), Label) { // GitHub keeps the spelling of the first
			return i, note, nil
		}
	}
	return i, note, fmt.Errorf("%s has no label %s, since the token may not set it: add it by hand: %w", i.Ref, Label, ErrForgotten)
}

// Reopen opens an issue again.
func (g *GitHub) Reopen(ctx context.Context, i Issue) error {
	state, reason := "open", "reopened"
	_, answer, err := g.client.Issues.Edit(ctx, g.owner, g.repo, i.number, &github.IssueRequest{State: &state, StateReason: &reason})
	return hub.Failure(answer, err)
}

// Comment adds a comment about a head commit.
func (g *GitHub) Comment(ctx context.Context, i Issue, parts []part, head string) error {
	body := markdown(parts) + headMark(head)
	_, answer, err := g.client.Issues.CreateComment(ctx, g.owner, g.repo, i.number, &github.IssueComment{Body: &body})
	return hub.Failure(answer, err)
}

// Account is the account of an owner as @user. A team has none.
func (g *GitHub) Account(owner string) string {
	if m := user.FindStringSubmatch(owner); m != nil {
		return m[1]
	}
	return ""
}
