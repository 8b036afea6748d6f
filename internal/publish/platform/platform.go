// Package platform tells what a CI platform says of the run that a program is part of.
//
// The variables are those that the platforms document. They come from the platform, but some of their values from whoever opened the pull
// request: what does not have the form of its kind counts as not known.
package platform

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// Run is a run of CI. Fields are zero where the platform doesn't tell.
type Run struct {
	Platform   string // GitHub Actions, GitLab CI, Jenkins, Buildkite, CircleCI or Azure Pipelines; empty for a plain shell
	Link       string // the page of the run, with http or https
	Repository string // OWNER/NAME; of GitLab the path of the project
	Number     int    // of the pull or merge request, from 1
	Head       string // the commit of the change; of GitHub Actions the merge with its target, where that is what is tested
}

// Of reads the run from environment variables. An unknown platform gives the zero run.
func Of(variable func(string) string) Run {
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
	{"GitHub Actions", "GITHUB_ACTIONS", ofGitHub},
	{"GitLab CI", "GITLAB_CI", func(v func(string) string) Run {
		return Run{Link: link(v("CI_JOB_URL")), Repository: path(v("CI_PROJECT_PATH")), Number: number(v("CI_MERGE_REQUEST_IID")), Head: commit(v("CI_COMMIT_SHA"))}
	}},
	{"Jenkins", "JENKINS_URL", func(v func(string) string) Run {
		return Run{Link: link(v("BUILD_URL")), Repository: ofRemote(v("GIT_URL")), Number: number(v("CHANGE_ID")), Head: commit(v("GIT_COMMIT"))}
	}},
	{"Buildkite", "BUILDKITE", func(v func(string) string) Run {
		return Run{
			Link: link(v("BUILDKITE_BUILD_URL")), Repository: ofRemote(v("BUILDKITE_REPO")), Number: number(v("BUILDKITE_PULL_REQUEST")), Head: commit(v("BUILDKITE_COMMIT")),
		}
	}},
	{"CircleCI", "CIRCLECI", func(v func(string) string) Run {
		_, last, _ := strings.Cut(v("CIRCLE_PULL_REQUEST"), "/pull/")
		return Run{
			Link: link(v("CIRCLE_BUILD_URL")), Repository: path(v("CIRCLE_PROJECT_USERNAME") + "/" + v("CIRCLE_PROJECT_REPONAME")), Number: number(last), Head: commit(v("CIRCLE_SHA1")),
		}
	}},
	{"Azure Pipelines", "TF_BUILD", func(v func(string) string) Run {
		r := Run{Repository: path(v("BUILD_REPOSITORY_NAME")), Number: number(v("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")), Head: commit(v("BUILD_SOURCEVERSION"))}
		if r.Number == 0 {
			r.Number = number(v("SYSTEM_PULLREQUEST_PULLREQUESTID"))
		}
		if id := number(v("BUILD_BUILDID")); id > 0 {
			r.Link = link(strings.TrimSuffix(v("SYSTEM_TEAMFOUNDATIONCOLLECTIONURI"), "/") + "/" + url.PathEscape(v("SYSTEM_TEAMPROJECT")) + "/_build/results?buildId=" + strconv.Itoa(id))
		}
		return r
	}},
}

func ofGitHub(v func(string) string) Run {
	r := Run{Repository: path(v("GITHUB_REPOSITORY")), Head: commit(v("GITHUB_SHA"))}
	if rest, ok := strings.CutPrefix(v("GITHUB_REF"), "refs/pull/"); ok {
		first, _, _ := strings.Cut(rest, "/")
		r.Number = number(first)
	}
	if id := v("GITHUB_RUN_ID"); digits.MatchString(id) && r.Repository != "" {
		r.Link = link(v("GITHUB_SERVER_URL") + "/" + r.Repository + "/actions/runs/" + id)
	}
	return r
}

var (
	digits  = regexp.MustCompile(`^[0-9]{1,18}$`)
	hash    = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	project = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$`)
	remote  = regexp.MustCompile(`^(?:[a-z+]+://[^/]+/|[^/:]+:)(.+?)(?:\.git)?/?$`)
)

const maxValue = 2000 // bytes

func number(s string) int {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0
	}
	return int(n)
}

func commit(s string) string {
	if !hash.MatchString(s) {
		return ""
	}
	return s
}

// path is that of a repository: names parted by slashes, none of them a dot or two.
func path(s string) string {
	if len(s) > maxValue || !project.MatchString(s) {
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
func IsGitHubRepository(s string) bool { return path(s) != "" && strings.Count(s, "/") == 1 }

// ofRemote is the path within the address of a remote.
func ofRemote(s string) string {
	if m := remote.FindStringSubmatch(s); len(s) <= maxValue && m != nil {
		return path(m[1])
	}
	return ""
}

// link is an address for people, without a user and a password.
func link(s string) string {
	u, err := url.Parse(s)
	if err != nil || len(s) > maxValue || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}
