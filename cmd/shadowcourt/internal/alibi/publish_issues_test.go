package alibi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const (
	head1   = "1111111111111111111111111111111111111111"
	head2   = "2222222222222222222222222222222222222222"
	culprit = "9ab12cd0e1f2a3b4c5d6e7f8091a2b3c4d5e6f70"
)

func runsOf(tree abi.TreeRevision, passed, failed int) trial.Experiment {
	e := trial.Experiment{
		Factors: trial.Factors{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: passed + failed}, Outcome: abi.OutcomeMixed, Passed: passed, Same: failed,
	}
	if failed == 0 {
		e.Outcome = abi.OutcomePassed
	}
	return e
}

// failureOf is an answer with an attribution; empty for an open one.
func failureOf(id, label string, owners ...string) answers.Failure {
	verdict := map[string]alibi.Verdict{alibi.Caused: alibi.IsYours, alibi.Conflict: alibi.IsYours, "": alibi.IsOpen}[label]
	if verdict == "" {
		verdict = alibi.NotYours
	}
	f := answers.Failure{
		Answer: alibi.Answer{
			ID: id, Test: id, Verdict: verdict, Label: label, Confidence: .99, Why: "3 of 5 failed here, 2 of 5 failed on the base", Message: "got 1, want 2 in " + id,
			Runs: []trial.Experiment{runsOf(abi.Base, 3, 2)},
		},
		Conclusion: "It fails now and then.", Fingerprint: answers.FingerprintOf(id, "got 1"),
	}
	f.File, f.Line, f.Owners = "cart/a_test.go", 12, owners
	if label == alibi.Caused {
		f.Culprit = &alibi.Culprit{Commit: culprit, Title: "Round half up", Author: "Ana Example", Verified: true, Probability: .99, Pair: &alibi.Pair{
			Parent: head1, OfParent: alibi.Tally{Passed: 3}, Culprit: alibi.Tally{Failed: 3},
		}}
	}
	return f
}

// documentOf writes a document, and gives the name of its file.
func documentOf(t *testing.T, head string, failures ...answers.Failure) string {
	t.Helper()
	d := answers.Document{
		Schema: answers.Version, Conclusion: "c", Base: answers.Base{Commit: culprit}, Head: head, Link: "https://ci.example/run/7", Failures: failures,
	}
	for i := range failures {
		switch failures[i].Verdict {
		case alibi.IsYours:
			d.Yours++
		case alibi.NotYours:
			d.NotYours++
		case alibi.IsOpen:
			d.Open++
		}
	}
	data := must.Get(json.Marshal(&d))(t)
	return file(t, "answers.json", string(data))
}

// all are answers of every kind.
func all() []answers.Failure {
	unproven := failureOf("flaky.Elsewhere", alibi.Flaky)
	unproven.Runs = []trial.Experiment{runsOf(abi.Base, 5, 0), runsOf(abi.Head, 3, 2)}
	suspected := failureOf("caused.Suspected", alibi.Caused)
	suspected.Culprit.Verified = false
	return []answers.Failure{
		failureOf("flaky.Proven", alibi.Flaky, "@ana", "@acme/cart", "kim@example.com"), failureOf("older.Broken", alibi.Preexisting, "@acme/cart"),
		failureOf("caused.One", alibi.Caused, "@ben"), failureOf("caused.Two", alibi.Caused, "@ana", "@ben"),
		failureOf("open.One", ""), failureOf("env.One", alibi.Environment), failureOf("conflict.One", alibi.Conflict), unproven, suspected,
	}
}

func TestAccept_IG6_GitHubHasOneIssueForEachProvenFinding(t *testing.T) {
	t.Parallel()
	g := testkit.NewIssues(t, secret)
	args := func(head string, more ...string) []string {
		return append([]string{"issues", documentOf(t, head, all()...), "--tracker", "github:acme/cart", "--api", g.URL, "--main"}, more...)
	}
	dry := runPublish(t, args(head1)...)
	dry.expect(t, 0, "would write: 3; nothing was written", "Commit 9ab12cd0e1f2 breaks 2 tests, among them caused.One would open assigned to ben, ana",
		"Flaky test: flaky.Proven would open assigned to ana; not assigned: @acme/cart, kim@example.com", "open.One leave open: nothing is proven",
		"env.One leave environment", "conflict.One leave conflict", "flaky.Elsewhere leave flaky, but not proven so on the base",
		"caused.Suspected leave caused, but no culprit is verified")
	if writes := g.Writes(); len(writes) > 0 {
		t.Errorf("a dry run wrote %v", writes)
	}
	runPublish(t, args(head1, "--write", "--assign-author", "--account", "Ana Example=ana-e", "--account", "@acme/cart=carl")...).expect(t, 0, "#1", "#3", "written: 3")
	check.Len(t, g.Writes(), 3, "it wrote")
	list := g.Issues()
	for i, want := range []struct {
		title, body string
		assignees   string
	}{
		{"Commit 9ab12cd0e1f2 breaks 2 tests, among them `caused.One`", "**Tests:** `caused.One`, `caused.Two`", "[ben ana ana-e]"},
		{"Test fails on the main branch: `older.Broken`", "**Owners:** `@acme/cart`", "[carl]"},
		{"Flaky test: `flaky.Proven`", "**Owners:** `@ana`, `@acme/cart`, `kim@example.com`", "[ana carl]"},
	} {
		got := list[i]
		if got.Title != want.title || !strings.Contains(got.Body, want.body) || fmt.Sprint(got.Assignees) != want.assignees || fmt.Sprint(got.Labels) != "[shadowcourt]" {
			t.Errorf("%+v\nlacks %+v", got, want)
		}
	}
	if !strings.Contains(list[0].Body, "3 of 3 failed there, none of 3 failed at the parent `111111111111`") || !strings.Contains(list[0].Body, "<https://ci.example/run/7>") {
		t.Errorf("no proof in %s", list[0].Body)
	}
	g.Writes()
	runPublish(t, args(head1, "--write")...).expect(t, 0, "written: 0", "keep says it already")
	runPublish(t, args(head2)...).expect(t, 0, "would comment", "would write: 3; nothing was written")
	if writes := g.Writes(); len(writes) > 0 {
		t.Errorf("runs of a known head, and dry ones, wrote %v", writes)
	}
	runPublish(t, args(head2, "--write")...).expect(t, 0, "#1", "comment", "written: 3")
	g.Writes()
	runPublish(t, args(head2, "--write")...).expect(t, 0, "written: 0")
	runPublish(t, args(head1, "--write")...).expect(t, 0, "written: 0")
	if writes := g.Writes(); len(writes) > 0 {
		t.Errorf("runs of heads that are known wrote %v", writes)
	}
	for _, i := range g.Issues() {
		if len(i.Comments) != 1 || !strings.Contains(i.Comments[0], head2) {
			t.Errorf("%s has the comments %q", i.Title, i.Comments)
		}
	}
}

func TestAccept_IG6_AnIssueIsReopenedUnlessSomebodyDecided(t *testing.T) {
	t.Parallel()
	flake := []answers.Failure{failureOf("flaky.Proven", alibi.Flaky)}
	for name, tc := range map[string]struct {
		change func(*testkit.Issue)
		want   string
		writes int
	}{
		"closed as done":             {func(i *testkit.Issue) { i.State, i.Reason = "closed", "completed" }, "#1 Flaky test: flaky.Proven reopen", 2},
		"closed without a reason":    {func(i *testkit.Issue) { i.State = "closed" }, "reopen", 2},
		"closed as not planned":      {func(i *testkit.Issue) { i.State, i.Reason = "closed", "not_planned" }, "leave closed as not_planned: a person's decision stands", 0},
		"closed as a duplicate":      {func(i *testkit.Issue) { i.State, i.Reason = "closed", "duplicate" }, "leave closed as duplicate", 0},
		"closed for a future reason": {func(i *testkit.Issue) { i.State, i.Reason = "closed", "not_planned" }, "leave", 0},
		"locked":                     {func(i *testkit.Issue) { i.Locked = true }, "leave locked", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testkit.NewIssues(t, secret)
			args := func(head string) []string {
				return []string{"issues", documentOf(t, head, flake...), "--tracker", "github:acme/cart", "--api", g.URL, "--write", "--main"}
			}
			runPublish(t, args(head1)...).expect(t, 0, "written: 1")
			g.Change(1, tc.change)
			g.Writes()
			runPublish(t, args(head1)...).expect(t, 0, "written: 0") // the head that it was opened for: nothing came back
			if tc.writes > 0 {
				ofBranch := slices.DeleteFunc(args(head2), func(arg string) bool { return arg == "--main" })
				runPublish(t, ofBranch...).expect(t, 0, "written: 0", "leave closed as done: only answers of the main branch")
			}
			runPublish(t, args(head2)...).expect(t, 0, tc.want)
			if writes := g.Writes(); len(writes) != tc.writes {
				t.Errorf("it wrote %v", writes)
			}
			runPublish(t, args(head2)...).expect(t, 0, "written: 0")
			i := g.Issues()[0]
			if reopened := i.State == "open" && len(i.Comments) == 1 && strings.HasPrefix(i.Comments[0], "It came back"); reopened != (tc.writes > 0) || len(g.Issues()) != 1 {
				t.Errorf("%+v", i)
			}
		})
	}
	t.Run("decided between reading and writing", func(t *testing.T) {
		t.Parallel()
		g := testkit.NewIssues(t, secret)
		args := func(head string) []string {
			return []string{"issues", documentOf(t, head, flake...), "--tracker", "github:acme/cart", "--api", g.URL, "--write"}
		}
		runPublish(t, args(head1)...).expect(t, 0, "written: 1")
		g.Hook = func(r *http.Request, path string) http.HandlerFunc {
			if strings.HasSuffix(path, "/comments") && r.Method == http.MethodGet {
				g.Change(1, func(i *testkit.Issue) { i.State, i.Reason = "closed", "not_planned" })
			}
			return nil
		}
		g.Writes()
		runPublish(t, args(head2)...).expect(t, 0, "leave closed as not_planned")
		if writes := g.Writes(); len(writes) > 0 {
			t.Errorf("it wrote %v", writes)
		}
	})
}

// withoutCode is Markdown without its fenced blocks and code spans, in which nothing is markup.
func withoutCode(text string) string {
	var prose strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimRight(line, "\n")
		switch {
		case fence != "" && bare == fence:
			fence = ""
		case fence != "":
		case strings.HasPrefix(bare, "```") && strings.HasSuffix(bare, "text"):
			fence = strings.TrimSuffix(bare, "text")
		default:
			prose.WriteString(line)
		}
	}
	text = prose.String()
	var out strings.Builder
	for i := 0; i < len(text); {
		if text[i] == '\\' && i+1 < len(text) {
			out.WriteString(text[i : i+2])
			i += 2
			continue
		}
		ticks := len(text[i:]) - len(strings.TrimLeft(text[i:], "`"))
		if ticks == 0 {
			out.WriteByte(text[i])
			i++
			continue
		}
		i += ticks
		for end := i; end < len(text); { // the next run of as many
			n := len(text[end:]) - len(strings.TrimLeft(text[end:], "`"))
			if n == ticks {
				i = end + n
				out.WriteString("…")
				break
			}
			end += max(n, 1)
		}
	}
	return out.String()
}

func TestAccept_IG6_NamesOfTestsAreNoMarkup(t *testing.T) {
	t.Parallel()
	for _, evil := range []string{
		"@everyone", "#12", "GH-12", "acme/cart#12", "[x](http://evil.example)", "![x](http://evil.example/p.png)", "<img src=x onerror=alert(1)>",
		"<!-- shadowcourt:fingerprint=" + strings.Repeat("a", 32) + " -->", "`", "```\n@everyone\n```", "a`b``c @x", "\u202e\x1b[31m", "{noformat}[~admin]{noformat}", "# h\n- @x",
		culprit, "www.evil.example", ":rocket:",
	} {
		f := failureOf(evil, alibi.Flaky, "@"+evil)
		f.Conclusion, f.Why, f.Message, f.Test = evil, evil, evil+"\n"+evil, evil
		g := testkit.NewIssues(t, secret)
		runPublish(t, "issues", documentOf(t, head1, f), "--tracker", "github:acme/cart", "--api", g.URL, "--write").expect(t, 0, "written: 1")
		runPublish(t, "issues", documentOf(t, head2, f), "--tracker", "github:acme/cart", "--api", g.URL, "--write").expect(t, 0, "written: 1")
		i := g.Issues()[0]
		marks := regexp.MustCompile(`<!-- shadowcourt:(fingerprint=[0-9a-f]{32}|head=[0-9a-f]{40}) -->`)
		check.Equal(t, len(marks.FindAllString(i.Body, -1)), 2, evil, "marks in", i.Body)
		for _, text := range []string{i.Title, i.Body, i.Comments[0]} {
			rest := marks.ReplaceAllString(text, "")
			rest = strings.ReplaceAll(rest, "<https://ci.example/run/7>", "")
			rest = withoutCode(rest)
			if regexp.MustCompile(`[@#<\x1b\x{202e}]|://|www\.|GH-\d|[0-9a-f]{40}|[^\\]\]\(|[^\\]:rocket:`).MatchString(rest) {
				t.Errorf("%q: markup in %q of\n%s", evil, rest, text)
			}
		}
	}
}

func TestAccept_IG6_NewIssuesAreBounded(t *testing.T) {
	t.Parallel()
	var flakes []answers.Failure
	for n := range 12 {
		flakes = append(flakes, failureOf(fmt.Sprintf("flaky.N%d", n), alibi.Flaky))
	}
	g := testkit.NewIssues(t, secret)
	for range 120 { // older ones of somebody with the same label: three pages
		g.Add(testkit.Issue{Title: "an older one", State: "open", Labels: []string{"shadowcourt"}})
	}
	args := []string{"issues", documentOf(t, head1, flakes...), "--tracker", "github:acme/cart", "--api", g.URL, "--write", "--max", "5"}
	runPublish(t, args...).expect(t, 0, "written: 5", "leave more than 5 new issues")
	runPublish(t, args...).expect(t, 0, "written: 5")
	runPublish(t, args...).expect(t, 0, "written: 2")
	runPublish(t, args...).expect(t, 0, "written: 0")
	check.Equal(t, len(g.Issues()), 132, "issues")
}

func TestAccept_IG6_GitHubWithoutPushAccess(t *testing.T) {
	t.Parallel()
	flakes := []answers.Failure{failureOf("flaky.One", alibi.Flaky, "@gone"), failureOf("flaky.Two", alibi.Flaky)}
	g := testkit.NewIssues(t, secret)
	g.NoAssignee = true
	args := []string{"issues", documentOf(t, head1, flakes...), "--tracker", "github:acme/cart", "--api", g.URL, "--write"}
	runPublish(t, args...).expect(t, 0, "not assigned, GitHub rejects it: gone", "written: 2")
	g = testkit.NewIssues(t, secret)
	g.NoLabels = true
	args[5] = g.URL
	runPublish(t, args...).expect(t, 1, "#1 has no label shadowcourt, since the token may not set it: add it by hand", "leave the issue opened before has no label", "written: 1")
	check.Equal(t, len(g.Issues()), 1, "issues that nobody finds again")
}

func TestAccept_IG6_HostileTrackersAreBoundedAndTheOthersAreDone(t *testing.T) {
	t.Parallel()
	flakes := []answers.Failure{failureOf("flaky.One", alibi.Flaky), failureOf("flaky.Two", alibi.Flaky)}
	for name, tc := range hostile() {
		for _, which := range []string{"list", "create"} {
			t.Run("github "+which+" "+name, func(t *testing.T) {
				t.Parallel()
				g := testkit.NewIssues(t, secret)
				var later atomic.Bool
				g.Hook = func(r *http.Request, _ string) http.HandlerFunc {
					if (r.Method == http.MethodPost) == (which == "create") && !later.Swap(true) {
						return tc.answer
					}
					return nil
				}
				o := runPublish(t, "issues", documentOf(t, head1, flakes...), "--tracker", "github:acme/cart", "--api", g.URL, "--write")
				o.expectHostile(t, tc.want, which == "create", len(g.Issues()))
			})
		}
	}
}

// expectHostile: where the list failed nothing is written, where one creation did the other is.
func (o printed) expectHostile(t *testing.T, want string, created bool, issues int) {
	t.Helper()
	wanted := 0
	o.expect(t, 1, want)
	if created {
		wanted = 1
		o.expect(t, 1, "written: 1", "failed: 1")
	}
	if issues != wanted || len(o.all()) > 4000 {
		t.Errorf("%d issues, %d bytes:\n%s", issues, len(o.all()), o.all())
	}
}

func TestAccept_IG6_TrackersThatAreRejected(t *testing.T) {
	t.Parallel()
	doc := documentOf(t, head1, failureOf("a", alibi.Flaky))
	for want, args := range map[string][]string{
		"use github:OWNER/REPO": {"--tracker", "gitlab:x"},
		"is not OWNER/REPO":     {"--tracker", "github:acme/../cart"},
		"--tracker jira was removed: issues are not kept in Jira": {"--tracker", "jira:https://x.example/CART"},
		"--user":                {"--tracker", "github:acme/cart", "--user", "a@b.c"},
		"use https":             {"--tracker", "github:acme/cart", "--api", "http://x.example"},
		"--max 0: use a number": {"--tracker", "github:acme/cart", "--max", "0"},
		"use OWNER=ACCOUNT":     {"--tracker", "github:acme/cart", "--account", "ana"},
		"exclude each other":    {"--tracker", "github:acme/cart", "--write", "--dry-run"},
	} {
		runPublish(t, append([]string{"issues", doc}, args...)...).expect(t, 2, want)
	}
}
