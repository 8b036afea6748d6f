package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Limits of what is listed: pages are small, since each of their texts may have 64 kB.
const (
	issuesPerPage = 50
	issuePages    = 40
	notePages     = 20
)

// Tracker has the issues of a repository.
type Tracker struct {
	api  *api
	path []string // of the issues
}

// hubIssue is an issue as GitHub has it.
type hubIssue struct {
	Number int    `json:"number"`
	State  string `json:"state"`
	Reason string `json:"state_reason"`
	Body   string `json:"body"`
	Locked bool   `json:"locked"`
	Labels []struct {
		Name string `json:"name"`
	} `json:"labels"`
	Pull *struct{} `json:"pull_request"`
}

// call makes a request to the issues, or below them.
func (g *Tracker) call(ctx context.Context, method string, path []string, query url.Values, send, got any) error {
	return g.api.call(ctx, apiRequest{Method: method, Path: append(slices.Clip(g.path), path...), Query: query, Send: send}, got)
}

func pageOf(page int) url.Values {
	return url.Values{"per_page": {strconv.Itoa(issuesPerPage)}, "page": {strconv.Itoa(page)}}
}

var ownerRepo = regexp.MustCompile(`^([0-9A-Za-z][0-9A-Za-z-]{0,38})/([0-9A-Za-z_.-]{1,100})$`)

// NewTracker is the tracker of a repository, OWNER/REPO. The server's base is that of the API, such as https://api.github.com.
func NewTracker(s *Server, name string) (*Tracker, error) {
	m := ownerRepo.FindStringSubmatch(name)
	if m == nil || m[2] == "." || m[2] == ".." {
		return nil, fmt.Errorf("%q is not OWNER/REPO", sanitize.Line(name))
	}
	return &Tracker{hubAPI(s), hubPath(name, "issues")}, nil
}

// The marks of an issue and of a comment.
func fingerprintMark(fingerprint string) string {
	return "<!-- shadowcourt:fingerprint=" + fingerprint + " -->"
}
func headMark(head string) string { return "<!-- shadowcourt:head=" + head + " -->" }

var fingerprintMarks = regexp.MustCompile(`<!-- shadowcourt:fingerprint=([0-9a-f]{32}) -->`)

// known finds the issues of these fingerprints: it lists those with the label. An open one of a fingerprint goes before one that was decided, and that before
// one that was closed.
func (g *Tracker) known(ctx context.Context, fingerprints []string) (map[string]trackerIssue, error) {
	known, asked := map[string]trackerIssue{}, map[string]bool{}
	for _, f := range fingerprints {
		asked[f] = true
	}
	for page := 1; page <= issuePages; page++ {
		query := pageOf(page)
		query.Set("state", "all")
		query.Set("labels", issueLabel)
		var list []hubIssue
		if err := g.call(ctx, http.MethodGet, nil, query, nil, &list); err != nil {
			return nil, err
		}
		for i := range list {
			m := fingerprintMarks.FindStringSubmatch(list[i].Body)
			if m == nil || list[i].Pull != nil || !asked[m[1]] || list[i].Number <= 0 {
				continue
			}
			if before, there := known[m[1]]; !there || rankOf(issueOf(&list[i]).State) > rankOf(before.State) {
				known[m[1]] = issueOf(&list[i])
			}
		}
		if len(list) < issuesPerPage {
			return known, nil
		}
	}
	return nil, fmt.Errorf("more than %d issues have the label %s: remove it from old ones", issuesPerPage*issuePages, issueLabel)
}

func rankOf(s issueState) int {
	return map[issueState]int{stateClosed: 0, stateDecided: 1, stateOpen: 2}[s]
}

func issueOf(i *hubIssue) trackerIssue {
	out := trackerIssue{Ref: "#" + strconv.Itoa(i.Number), number: i.Number}
	switch {
	case i.Locked:
		out.State, out.Why = stateDecided, "locked: a person's decision stands"
	case i.State == "open":
	case i.Reason == "" || i.Reason == "completed":
		out.State = stateClosed
	default:
		out.State, out.Why = stateDecided, "closed as "+sanitize.Cut(i.Reason, maxTitle)+": a person's decision stands"
	}
	return out
}

func (i *trackerIssue) path(rest ...string) []string {
	return append([]string{strconv.Itoa(i.number)}, rest...)
}

// read reads an issue again.
func (g *Tracker) read(ctx context.Context, i trackerIssue) (*hubIssue, error) {
	read := &hubIssue{}
	if err := g.call(ctx, http.MethodGet, i.path(), nil, nil, read); err != nil {
		return nil, err
	}
	if read.Number != i.number {
		return nil, fmt.Errorf("read %s: the server answered with another issue", i.Ref)
	}
	return read, nil
}

// seen says whether the issue, or a comment on it, names a head commit.
func (g *Tracker) seen(ctx context.Context, i trackerIssue, head string) (bool, error) {
	read, err := g.read(ctx, i)
	if err != nil || strings.Contains(read.Body, headMark(head)) {
		return err == nil, err
	}
	for page := 1; page <= notePages; page++ {
		var list []hostComment
		if err := g.call(ctx, http.MethodGet, i.path("comments"), pageOf(page), nil, &list); err != nil {
			return false, err
		}
		for k := range list {
			if strings.Contains(list[k].Body, headMark(head)) {
				return true, nil
			}
		}
		if len(list) < issuesPerPage {
			return false, nil
		}
	}
	return false, fmt.Errorf("%s has more than %d comments: close it, and let another be opened", i.Ref, issuesPerPage*notePages)
}

// open opens an issue; note says what of the draft could not be had. Where GitHub rejects the assignees, it is opened without them.
func (g *Tracker) open(ctx context.Context, d *issueDraft) (_ trackerIssue, note string, err error) {
	words, name := d.Finding.title()
	title := words + " " + strings.Join(codes([]string{sanitize.Cut(name, maxTitle)}), "")
	body := issueMarkdown(d.Finding.text(d.Document)) + fingerprintMark(d.Finding.Fingerprint) + "\n" + headMark(d.Document.Head)
	request := map[string]any{"title": title, "body": body, "labels": []string{issueLabel}}
	if len(d.Assignees) > 0 {
		request["assignees"] = d.Assignees
	}
	var made hubIssue
	err = g.call(ctx, http.MethodPost, nil, nil, request, &made)
	if len(d.Assignees) > 0 && statusOf(err) == http.StatusUnprocessableEntity {
		note = "not assigned, GitHub rejects it: " + strings.Join(d.Assignees, ", ")
		delete(request, "assignees")
		err = g.call(ctx, http.MethodPost, nil, nil, request, &made)
	}
	if err != nil {
		return trackerIssue{}, "", err
	}
	if made.Number <= 0 {
		return trackerIssue{}, "", errors.New("open an issue: the answer has no number")
	}
	i := issueOf(&made)
	for _, l := range made.Labels {
		if strings.EqualFold(l.Name, issueLabel) { // GitHub keeps the spelling of the first
			return i, note, nil
		}
	}
	return i, note, fmt.Errorf("%s has no label %s, since the token may not set it: add it by hand: %w", i.Ref, issueLabel, errForgotten)
}

// reopen opens an issue again.
func (g *Tracker) reopen(ctx context.Context, i trackerIssue) error {
	return g.call(ctx, http.MethodPatch, i.path(), nil, map[string]string{"state": "open", "state_reason": "reopened"}, nil)
}

// comment adds a comment about a head commit.
func (g *Tracker) comment(ctx context.Context, i trackerIssue, parts []issuePart, head string) error {
	return g.call(ctx, http.MethodPost, i.path("comments"), nil, map[string]string{"body": issueMarkdown(parts) + headMark(head)}, nil)
}

// account is the account of an owner as @user. A team has none.
func (g *Tracker) account(owner string) string {
	if m := userName.FindStringSubmatch(owner); m != nil {
		return m[1]
	}
	return ""
}

// issuePart is a paragraph of an issue or a comment. Every text but that of the label is untrusted.
type issuePart struct {
	label string // ours
	prose string
	code  []string // names, each shown as code
	block string   // several lines, shown as code
	link  string   // an address of which [address] holds
}

// Limits of an issue's text, before it is escaped.
const (
	maxTitle    = 150 // bytes of a name in a title
	maxSentence = 1000
	maxBlock    = 2000
	maxNames    = 20
	maxName     = 300
)

// maxLink is the length of the longest [address] in bytes. An expression that counts so far would take a megabyte, at each start of the program.
const maxLink = 1000

var address = regexp.MustCompile(`^https?://[0-9A-Za-z._~:/?#@!$&()*+,;=%-]+$`)

// title is what an issue is called: words of ours, and a name.
func (f *Finding) title() (words, name string) {
	first := f.Failures[0]
	switch n := len(f.Failures); {
	case f.Kind == aboutCulprit && n > 1:
		return "Commit " + short(first.Culprit.Commit) + " breaks " + strconv.Itoa(n) + " tests, among them", first.ID
	case f.Kind == aboutCulprit:
		return "Commit " + short(first.Culprit.Commit) + " breaks", first.ID
	case f.Kind == aboutFlake:
		return "Flaky test:", first.ID
	}
	return "Test fails on the main branch:", first.ID
}

// Title is for people at a terminal.
func (f *Finding) Title() string {
	words, name := f.title()
	return words + " " + sanitize.Cut(name, maxTitle)
}

// text is what an issue says.
func (f *Finding) text(d *answers.Document) []issuePart {
	first := f.Failures[0]
	parts := []issuePart{{prose: first.Conclusion}}
	if f.Kind == aboutCulprit {
		c := first.Culprit
		parts = []issuePart{{label: "Commit", code: []string{c.Commit}}, {label: "Title", prose: c.Title}, {label: "Author", prose: c.Author}}
		if c.Pair != nil {
			parts = append(parts, issuePart{label: "Proof", prose: c.Pair.Words(short(c.Pair.Parent))})
		}
	}
	parts = append(parts, issuePart{label: "Tests", code: namesOf(f)}, issuePart{label: "Runs", prose: first.Why})
	if first.File != "" {
		at := first.File
		if first.Line > 0 {
			at += ":" + strconv.Itoa(first.Line)
		}
		parts = append(parts, issuePart{label: "Place", code: []string{at}})
	}
	parts = append(parts, issuePart{block: first.Message}, issuePart{label: "Owners", code: f.owners()})
	return append(parts, seenAt(d)...)
}

// again is what a comment says where it came back, or was seen at another commit.
func (f *Finding) again(d *answers.Document, reopened bool) []issuePart {
	words := "Seen again."
	if reopened {
		words = "It came back."
	}
	return append([]issuePart{{prose: words}, {label: "Tests", code: namesOf(f)}, {label: "Runs", prose: f.Failures[0].Why}}, seenAt(d)...)
}

func seenAt(d *answers.Document) []issuePart {
	parts := []issuePart{{label: "Head", code: []string{d.Head}}, {label: "Base", code: []string{d.Base.Commit}}}
	if len(d.Link) <= maxLink && address.MatchString(d.Link) {
		parts = append(parts, issuePart{label: "CI run", link: d.Link})
	}
	return parts
}

func namesOf(f *Finding) (names []string) {
	for i, failure := range f.Failures {
		if i == maxNames {
			return append(names, fmt.Sprintf("and %d more", len(f.Failures)-i))
		}
		names = append(names, failure.ID)
	}
	return names
}

// owners are those of all failures, each once.
func (f *Finding) owners() (owners []string) {
	seen := map[string]bool{}
	for _, failure := range f.Failures {
		for _, owner := range failure.Owners {
			if !seen[owner] && len(owners) < maxNames {
				owners = append(owners, owner)
			}
			seen[owner] = true
		}
	}
	return owners
}

// Further references that GitHub makes links of: GH-12, and hashes of commits.
var (
	numbered = regexp.MustCompile(`(?i)\bGH-(\d)`)
	hashes   = regexp.MustCompile(`\b[0-9a-f]{7,40}\b`)
)

// issueMarkdown is for GitHub. No text of others becomes markup, a link, a mention or a mark of this program: those are comments of HTML, and the
// beginning of one is taken out.
func issueMarkdown(parts []issuePart) string {
	var b strings.Builder
	for _, p := range parts {
		var said string
		switch {
		case p.prose != "":
			said = hashes.ReplaceAllString(numbered.ReplaceAllString(sanitize.Markdown(sanitize.Cut(p.prose, maxSentence)), "GH`-`$1"), "`$0`")
		case len(p.code) > 0:
			said = strings.Join(codes(p.code), ", ")
		case p.block != "":
			said = sanitize.MarkdownBlock(unmarked(sanitize.Cut(p.block, maxBlock)))
		case p.link != "":
			said = "<" + p.link + ">"
		default:
			continue
		}
		if p.label != "" {
			said = "**" + p.label + ":** " + said
		}
		b.WriteString(said + "\n\n")
	}
	return b.String()
}

func codes(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = sanitize.MarkdownCode(unmarked(sanitize.Cut(name, maxName)))
	}
	return out
}

func unmarked(s string) string { return strings.ReplaceAll(s, "<!--", "<!- -") }
