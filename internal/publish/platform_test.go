package publish

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

var sha = strings.Repeat("0a", 20)

func TestAccept_IG1_PlatformsByTheirVariables(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  string
		want Run
	}{
		"plain": {"HOME=/root", Run{}},
		"GitHub Actions": {
			"GITHUB_ACTIONS=true GITHUB_SERVER_URL=https://github.com GITHUB_REPOSITORY=acme/shop GITHUB_RUN_ID=99 GITHUB_REF=refs/pull/12/merge GITHUB_SHA=" + sha,
			Run{"", "https://github.com/acme/shop/actions/runs/99", "acme/shop", 12, sha},
		},
		"GitHub Actions of a branch": {"GITHUB_ACTIONS=true GITHUB_REF=refs/heads/pull/12/merge GITHUB_REPOSITORY=acme/.. GITHUB_RUN_ID=9/../x GITHUB_SHA=main", Run{}},
		"GitLab CI": {
			"GITLAB_CI=true CI_JOB_URL=https://gitlab.example/acme/shop/-/jobs/5 CI_PROJECT_PATH=acme/team/shop CI_MERGE_REQUEST_IID=3 CI_COMMIT_SHA=" + sha,
			Run{"", "https://gitlab.example/acme/shop/-/jobs/5", "acme/team/shop", 3, sha},
		},
		"Jenkins": {
			"JENKINS_URL=x BUILD_URL=https://ci.example/job/shop/7/ GIT_URL=git@github.com:acme/shop.git CHANGE_ID=4 GIT_COMMIT=" + sha,
			Run{"", "https://ci.example/job/shop/7/", "acme/shop", 4, sha},
		},
		"Buildkite": {
			"BUILDKITE=true BUILDKITE_BUILD_URL=https://buildkite.com/a/b/builds/1 BUILDKITE_REPO=https://github.com/acme/shop.git BUILDKITE_PULL_REQUEST=false BUILDKITE_COMMIT=" + sha,
			Run{"", "https://buildkite.com/a/b/builds/1", "acme/shop", 0, sha},
		},
		"CircleCI": {
			"CIRCLECI=true CIRCLE_BUILD_URL=https://circleci.com/gh/acme/shop/8 CIRCLE_PROJECT_USERNAME=acme CIRCLE_PROJECT_REPONAME=shop " +
				"CIRCLE_PULL_REQUEST=https://github.com/acme/shop/pull/21 CIRCLE_SHA1=" + sha,
			Run{"", "https://circleci.com/gh/acme/shop/8", "acme/shop", 21, sha},
		},
		"Azure Pipelines": {
			"TF_BUILD=True SYSTEM_TEAMFOUNDATIONCOLLECTIONURI=https://dev.azure.com/acme/ SYSTEM_TEAMPROJECT=web?shop BUILD_BUILDID=30 BUILD_REPOSITORY_NAME=acme/shop " +
				"SYSTEM_PULLREQUEST_PULLREQUESTID=9 BUILD_SOURCEVERSION=" + sha,
			Run{"", "https://dev.azure.com/acme/web%3Fshop/_build/results?buildId=30", "acme/shop", 9, sha},
		},
		"hostile values": {
			"GITLAB_CI=true CI_JOB_URL=javascript:alert(1) CI_PROJECT_PATH=../../etc CI_MERGE_REQUEST_IID=-3 CI_COMMIT_SHA=$(id)",
			Run{},
		},
		"a password in the link": {"JENKINS_URL=x BUILD_URL=https://u:p@ci.example/ CHANGE_ID=99999999999999999999", Run{}},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(tc.env) {
			k, v, _ := strings.Cut(pair, "=")
			env[k] = v
		}
		got := RunOf(func(name string) string { return env[name] })
		if name != "plain" && got.Platform == "" {
			t.Errorf("%s: no platform", name)
		}
		if got.Platform = ""; got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAccept_IG1_EventsOfGitHub(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       Event
		fails      bool
	}{
		{"push", `{"ref": "refs/heads/main"}`, Event{}, false},
		{"pull request", `{"pull_request": {"number": 12, "head": {"sha": "` + sha + `"}}}`, Event{Number: 12, Head: sha}, false},
		{
			"workflow run", `{"workflow_run": {"head_sha": "` + sha + `", "head_branch": "fix", "html_url": "https://github.com/acme/shop/actions/runs/5",
			"head_repository": {"owner": {"login": "ann"}}, "pull_requests": [{"number": 3, "head": {"sha": "` + strings.Repeat("b", 40) + `"}}, {"number": 4, "head": {"sha": "` + sha + `"}}]}}`,
			Event{Number: 4, Head: sha, Label: "ann:fix", Link: "https://github.com/acme/shop/actions/runs/5"},
			false,
		},
		{
			"workflow run of a fork", `{"workflow_run": {"head_sha": "` + sha + `", "head_branch": "fix/1", "head_repository": {"owner": {"login": "bob"}}, "pull_requests": []}}`,
			Event{Head: sha, Label: "bob:fix/1"},
			false,
		},
		{
			"hostile values", `{"workflow_run": {"head_sha": "x", "head_branch": "a\nb", "html_url": "javascript:x", "head_repository": {"owner": {"login": "b b"}},
			"pull_requests": [null, {"number": -1}]}, "pull_request": null}`,
			Event{},
			false,
		},
		{"a number too large", `{"pull_request": {"number": 99999999999}}`, Event{}, false},
		{"another type", `{"pull_request": {"number": "12"}}`, Event{}, true},
		{"nonsense", `x`, Event{}, true},
		{"deep", strings.Repeat("[", 1<<20), Event{}, true},
	} {
		file := filepath.Join(t.TempDir(), "event.json")
		must.Do(t, os.WriteFile(file, []byte(tc.text), 0o600))
		if got, err := ReadEvent(file); got != tc.want || (err != nil) != tc.fails {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
	}
	large := filepath.Join(t.TempDir(), "large.json")
	must.Do(t, os.WriteFile(large, nil, 0o600))
	must.Do(t, os.Truncate(large, maxEvent+1))
	if _, err := ReadEvent(large); err == nil {
		t.Error("a large event is read")
	}
	if _, err := ReadEvent(large + ".no"); err == nil {
		t.Error("no file, no error")
	}
}

func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(`{"pull_request": {"number": 12, "head": {"sha": "` + sha + `"}}}`))
	f.Add([]byte(`{"workflow_run": {"head_sha": "` + sha + `", "pull_requests": [{"number": 1}], "head_branch": "x", "head_repository": {"owner": {"login": "a"}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := parseEvent(data)
		if err != nil {
			return
		}
		if e.Number < 0 || commitOf(e.Head) != e.Head || e.Label != "" && !branchLabel.MatchString(e.Label) || linkOf(e.Link) != e.Link {
			t.Errorf("%+v", e)
		}
	})
}
