package publish

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Run is what a CI platform says of the run that a program is part of. Fields are zero where it doesn't.
//
// The variables are those that the platforms document. They come from the platform, but some of their values from whoever opened the pull
// request: what does not have the form of its kind counts as not known.
type Run struct {
	Platform   string // GitHub Actions, GitLab CI, Jenkins, Buildkite, CircleCI or Azure Pipelines; empty for a plain shell
	Link       string // the page of the run, with http or https
	Repository string // OWNER/NAME; of GitLab the path of the project
	Number     int    // of the pull or merge request, from 1
	Head       string // the commit of the change; of GitHub Actions the merge with its target, where that is what is tested
}

// RunOf reads the run from environment variables. An unknown platform gives the zero run.
func RunOf(variable func(string) string) Run {
	for _, p := range platforms {
		if v := variable(p.sign); v != "" && v != "false" {
			r := p.read(variable)
			r.Platform = p.name
			return r
		}
	}
	return Run{}
}

var platforms = []struct {
	name, sign string
	read       func(variable func(string) string) Run
}{
	{"GitHub Actions", "GITHUB_ACTIONS", runOfGitHub},
	{"GitLab CI", "GITLAB_CI", func(v func(string) string) Run {
		return Run{Link: linkOf(v("CI_JOB_URL")), Repository: repositoryPath(v("CI_PROJECT_PATH")), Number: numberOf(v("CI_MERGE_REQUEST_IID")), Head: commitOf(v("CI_COMMIT_SHA"))}
	}},
	{"Jenkins", "JENKINS_URL", func(v func(string) string) Run {
		return Run{Link: linkOf(v("BUILD_URL")), Repository: repositoryOfRemote(v("GIT_URL")), Number: numberOf(v("CHANGE_ID")), Head: commitOf(v("GIT_COMMIT"))}
	}},
	{"Buildkite", "BUILDKITE", func(v func(string) string) Run {
		return Run{
			Link: linkOf(v("BUILDKITE_BUILD_URL")), Repository: repositoryOfRemote(v("BUILDKITE_REPO")), Number: numberOf(v("BUILDKITE_PULL_REQUEST")), Head: commitOf(v("BUILDKITE_COMMIT")),
		}
	}},
	{"CircleCI", "CIRCLECI", func(v func(string) string) Run {
		_, last, _ := strings.Cut(v("CIRCLE_PULL_REQUEST"), "/pull/")
		return Run{
			Link: linkOf(v("CIRCLE_BUILD_URL")), Repository: repositoryPath(v("CIRCLE_PROJECT_USERNAME") + "/" + v("CIRCLE_PROJECT_REPONAME")), Number: numberOf(last), Head: commitOf(v("CIRCLE_SHA1")),
		}
	}},
	{"Azure Pipelines", "TF_BUILD", func(v func(string) string) Run {
		r := Run{Repository: repositoryPath(v("BUILD_REPOSITORY_NAME")), Number: numberOf(v("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")), Head: commitOf(v("BUILD_SOURCEVERSION"))}
		r.Number = cmp.Or(r.Number, numberOf(v("SYSTEM_PULLREQUEST_PULLREQUESTID")))
		if id := numberOf(v("BUILD_BUILDID")); id > 0 {
			r.Link = linkOf(strings.TrimSuffix(v("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"), "/") + "/" + url.PathEscape(v("SYSTEM_TEAMPROJECT")) + "/_build/results?buildId=" + strconv.Itoa(id))
		}
		return r
	}},
}

func runOfGitHub(v func(string) string) Run {
	r := Run{Repository: repositoryPath(v("GITHUB_REPOSITORY")), Head: commitOf(v("GITHUB_SHA"))}
	if rest, ok := strings.CutPrefix(v("GITHUB_REF"), "refs/pull/"); ok {
		first, _, _ := strings.Cut(rest, "/")
		r.Number = numberOf(first)
	}
	if id := v("GITHUB_RUN_ID"); digits.MatchString(id) && r.Repository != "" {
		r.Link = linkOf(v("GITHUB_SERVER_URL") + "/" + r.Repository + "/actions/runs/" + id)
	}
	return r
}

var (
	digits      = regexp.MustCompile(`^[0-9]{1,18}$`)
	commitHash  = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	projectPath = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$`)
	remotePath  = regexp.MustCompile(`^(?:[a-z+]+://[^/]+/|[^/:]+:)(.+?)(?:\.git)?/?$`)
)

const maxValue = 2000 // bytes

func numberOf(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

func commitOf(s string) string {
	if !commitHash.MatchString(s) {
		return ""
	}
	return s
}

// repositoryPath is that of a repository: names parted by slashes, none of them a dot or two.
func repositoryPath(s string) string {
	if len(s) > maxValue || !projectPath.MatchString(s) {
		return ""
	}
	for name := range strings.SplitSeq(s, "/") {
		if name == "." || name == ".." {
			return ""
		}
	}
	return s
}

// IsGitHubRepository says whether a text is OWNER/NAME.
func IsGitHubRepository(s string) bool { return repositoryPath(s) != "" && strings.Count(s, "/") == 1 }

// repositoryOfRemote is the path within the address of a remote.
func repositoryOfRemote(s string) string {
	if m := remotePath.FindStringSubmatch(s); len(s) <= maxValue && m != nil {
		return repositoryPath(m[1])
	}
	return ""
}

// linkOf is an address for people, without a user and a password.
func linkOf(s string) string {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxValue || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}

// Event is what the event file of GitHub Actions tells of a pull request. Fields are zero where it doesn't.
type Event struct {
	Number int    // of the pull request
	Head   string // its last commit
	// Label is OWNER:BRANCH of the pull request that a workflow_run tested: of one from a fork GitHub doesn't tell the number.
	Label string
	Link  string // the page of the run that a workflow_run follows
}

const maxEvent = 32 << 20 // bytes; GitHub's payloads have at most 25 MB

// ReadEvent reads the file that GITHUB_EVENT_PATH names.
func ReadEvent(name string) (Event, error) {
	f, err := os.Open(name)
	if err != nil {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxEvent+1))
	if err != nil {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH: %w", err)
	}
	if len(data) > maxEvent {
		return Event{}, errors.New("GITHUB_EVENT_PATH: the file has more than 32 MiB")
	}
	e, err := parseEvent(data)
	if err != nil {
		return Event{}, fmt.Errorf("GITHUB_EVENT_PATH: not an event of GitHub: %w", err)
	}
	return e, nil
}

// branchLabel has an owner, and a branch without what git forbids in names.
var branchLabel = regexp.MustCompile(`^[A-Za-z0-9-]{1,100}:[^\x00-\x20\x7f:?*\[\\^~]{1,300}$`)

func parseEvent(data []byte) (Event, error) {
	type pull struct {
		Number int64 `json:"number"`
		Head   struct {
			SHA string `json:"sha"`
		} `json:"head"`
	}
	var e struct {
		Pull *pull `json:"pull_request"`
		Run  *struct {
			SHA    string `json:"head_sha"`
			Branch string `json:"head_branch"`
			Link   string `json:"html_url"`
			Pulls  []pull `json:"pull_requests"`
			From   struct {
				Owner struct {
					Login string `json:"login"`
				} `json:"owner"`
			} `json:"head_repository"`
		} `json:"workflow_run"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, err
	}
	switch {
	case e.Pull != nil:
		return Event{Number: smallNumber(e.Pull.Number), Head: commitOf(e.Pull.Head.SHA)}, nil
	case e.Run != nil:
		out := Event{Head: commitOf(e.Run.SHA), Link: linkOf(e.Run.Link)}
		for i := range e.Run.Pulls {
			if p := &e.Run.Pulls[i]; out.Head != "" && p.Head.SHA == out.Head && out.Number == 0 {
				out.Number = smallNumber(p.Number)
			}
		}
		if said := e.Run.From.Owner.Login + ":" + e.Run.Branch; branchLabel.MatchString(said) {
			out.Label = said
		}
		return out, nil
	}
	return Event{}, nil
}

// smallNumber is the number of a pull request, or 0.
func smallNumber(n int64) int {
	const most = 1<<31 - 1
	if n < 0 || n > most {
		return 0
	}
	return int(n)
}
