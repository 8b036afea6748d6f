package publish

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/render"
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

// GitHubPull is a pull request of OWNER/NAME on a server, whose Base is such as https://api.github.com.
func GitHubPull(s *Server, repository string, number int) *Notes {
	top := hubPath(repository, "issues")
	return &Notes{api: hubAPI(s), host: "GitHub", path: append(slices.Clip(top), strconv.Itoa(number), "comments"), single: append(slices.Clip(top), "comments"), query: url.Values{}}
}

func hubAPI(s *Server) *api {
	s.Header, s.Prefix = "Authorization", "Bearer "
	return newAPI(s)
}

func hubPath(repository string, rest ...string) []string {
	owner, name, _ := strings.Cut(repository, "/")
	return append([]string{"repos", owner, name}, rest...)
}

// FindPull finds the open pull request by OWNER:BRANCH, and its last commit; 0 where there is none.
func FindPull(ctx context.Context, s *Server, repository, label, head string) (int, error) {
	var pulls []struct {
		Number int `json:"number"`
		Head   struct {
			SHA string `json:"sha"`
		} `json:"head"`
	}
	if err := hubAPI(s).call(ctx, apiRequest{Method: http.MethodGet, Path: hubPath(repository, "pulls"), Query: url.Values{"state": {"open"}, "head": {label}}}, &pulls); err != nil {
		return 0, err
	}
	for _, p := range pulls {
		if p.Head.SHA == head && head != "" {
			return p.Number, nil
		}
	}
	return 0, nil
}

// MergeRequest is a merge request of a GitLab server, whose Base is such as https://gitlab.example/api/v4. The project is its number or its path.
func MergeRequest(s *Server, project string, number int) *Notes {
	s.Header, s.Prefix = "PRIVATE-TOKEN", ""
	path := []string{"projects", project, "merge_requests", strconv.Itoa(number), "notes"}
	return &Notes{api: newAPI(s), host: "GitLab", path: path, single: path, query: url.Values{"sort": {"asc"}, "order_by": {"created_at"}}}
}

// NoteBody makes Markdown fit for a note. A line that begins with a slash is a command to GitLab, such as /close. GitLab passes over code blocks
// only where they look as its own rules have it, and a message can hold what ends one there. So no line begins with a slash: a dot goes before it.
func NoteBody(markdown string) string {
	lines := strings.Split(markdown, "\n")
	for i, line := range lines {
		if rest := strings.TrimLeft(line, " \t\u00a0\r\v\f"); strings.HasPrefix(rest, "/") {
			lines[i] = line[:len(line)-len(rest)] + "·" + rest
		}
	}
	return strings.Join(lines, "\n")
}

// GitLabOutputs writes variables in the form of GitLab's dotenv reports, such as SHADOWCOURT_VERDICT.
func GitLabOutputs(w io.Writer, d *answers.Document) error {
	return writeOutputs(w, d, func(name string) string {
		return "SHADOWCOURT_" + strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	})
}
