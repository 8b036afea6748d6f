package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// culprit runs the command in a project, and gives its output, what it said, and its exit code.
func (p *project) culprit(t *testing.T, args ...string) (out, said string, code int) {
	t.Helper()
	s := execute(t, p.dir, nil, append([]string{"shadowcourt", "culprit"}, args...)...)
	return s.out, s.errors, s.code
}

// function is a package with a function and its test, which wants 1.
func function(name, body string) map[string]string {
	return map[string]string{
		name + "/" + name + ".go": "package " + name + "\n\n" + body + "\n",
		name + "/" + name + "_test.go": "package " + name + "\n\nimport \"testing\"\n\nfunc Test" + strings.ToUpper(name[:1]) + name[1:] +
			"(t *testing.T) { if got := Get(); got != 1 { t.Errorf(\"got %d\", got) } }\nfunc TestTwice(t *testing.T) { t.Error(\"in each package\") }\n",
	}
}

const (
	right = "func Get() int { return 1 }"
	wrong = "func Get() int { return 2 }"
)

// regressions is a project with a commit for each way in which a test may begin to fail. Its first commit has the tag green.
func regressions(t *testing.T) *project {
	t.Helper()
	p := &project{green: map[string]string{"go.mod": goModule, "README.md": "A shop.\n"}}
	packages := []string{"linear", "gap", "hole", "merged", "flaky", "never", "always"}
	put := func(name, body string) {
		p.add(t, map[string]string{name + "/" + name + ".go": function(name, body)[name+"/"+name+".go"]})
	}
	for _, name := range packages {
		body := right
		if name == "always" {
			body = wrong
		}
		maps.Copy(p.green, function(name, body))
	}
	p.write(t)
	text := func(title string) { p.add(t, map[string]string{"README.md": title + "\n"}); p.commit(t, title) }
	text("one")
	put("gap", "func Get( {")
	put("hole", "func Get( {")
	p.commit(t, "do not build")
	text("build no more")
	put("gap", right)
	put("hole", wrong)
	p.commit(t, "build again")
	git(t, p.dir, "git checkout -q -b side")
	put("merged", wrong)
	p.commit(t, "break on the side")
	p.add(t, map[string]string{"side.md": "more\n"})
	p.commit(t, "more on the side")
	git(t, p.dir, "git checkout -q main")
	text("go on")
	git(t, p.dir, "git merge -q --no-ff -m 'merge the side' side")
	put("gap", wrong)
	p.commit(t, "break behind the gap")
	put("flaky", "import \"math/rand/v2\"\n\nfunc Get() int { return 1 + rand.IntN(2) }")
	p.commit(t, "break by chance")
	put("linear", "func Get() int { return 3 }")
	p.commit(t, "break")
	text("the last one")
	return p
}

// TestAccept_AL7_CulpritOfRealRegressions: the commit that each test began to fail with, and what is said where there is none.
func TestAccept_AL7_CulpritOfRealRegressions(t *testing.T) {
	t.Parallel()
	p := regressions(t)
	for _, c := range []struct {
		test    string
		args    []string
		code    int
		ending  alibi.Ending
		culprit string // the title of the commit
		skipped int
	}{
		{"example.com/shop/linear.TestLinear", []string{"--until", "HEAD~1"}, 0, alibi.Found, "break", 0},
		{"TestGap", nil, 0, alibi.Found, "break behind the gap", -1},
		{"TestHole", nil, 4, alibi.Found, "build again", 2}, // or one of the two before, which do not build
		{"TestMerged", nil, 0, alibi.Found, "merge the side", 0},
		{"TestFlaky", nil, 0, alibi.Found, "break by chance", 0},
		{"TestNever", nil, 4, alibi.Passes, "", 0},
		{"TestAlways", nil, 4, alibi.Before, "", 0},
		{"TestHole", []string{"--until", "HEAD~7"}, 4, alibi.NotRun, "", 0}, // it does not build there
	} {
		t.Run(c.test, func(t *testing.T) {
			t.Parallel()
			if c.culprit != "break" && c.ending != alibi.NotRun {
				tier.Long(t, "host/experiment", "cmd/shadowcourt/internal/alibi")
			}
			out, said, code := p.culprit(t, append([]string{c.test, "--since", "green", "--format", "jsonl"}, c.args...)...)
			var b alibi.Beginning
			if err := json.Unmarshal([]byte(out), &b); err != nil {
				t.Fatalf("%v, exit code %d\n%s%s", err, code, out, said)
			}
			found := b.Culprit
			wrongly := b.Ending != c.ending || b.Since != p.revision(t, "green") || (b.Runs > 0) == (c.ending == alibi.NotRun) || b.Seconds <= 0 ||
				code != c.code && c.test != "TestFlaky" || (found != nil) != (c.culprit != "") // by chance, the pair of a flaky test may not confirm it
			if found != nil && !wrongly {
				wrongly = found.Title != c.culprit || found.Author != "Ann" || found.Probability < 0.95 || len(found.Ribbon) != b.Commits || b.After.Failed == 0 ||
					found.Verified && (found.Pair.Culprit.Failed == 0 || found.Pair.OfParent.Failed > 0) ||
					c.skipped >= 0 && len(found.Skipped) != c.skipped || c.test == "TestHole" && len(found.Beside) != c.skipped ||
					len(found.Beside) == 0 && found.Pair.Parent != p.revision(t, found.Commit+"^1") ||
					slices.ContainsFunc(found.Skipped, func(s alibi.Skipped) bool { return !strings.HasPrefix(s.Why, "it does not build: ") })
			}
			if wrongly {
				t.Errorf("exit code %d\n%s%s", code, out, said)
			}
		})
	}
}

// revision is the id of a commit.
func (p *project) revision(t *testing.T, name string) string {
	t.Helper()
	return git(t, p.dir, "git rev-parse "+name)
}

// TestAccept_AL7_CulpritSaysWhatIsWrong: each bad input has one message, and the exit code 2.
func TestAccept_AL7_CulpritSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	p := regressions(t)
	git(t, p.dir, "git branch twice green && git tag twice HEAD")
	shallow := &project{dir: filepath.Join(t.TempDir(), "shallow")}
	git(t, p.dir, "git clone -q --depth 2 file://"+p.dir+" "+shallow.dir)
	empty := &project{dir: t.TempDir()}
	for _, c := range []struct {
		in   *project
		args []string
		want []string
	}{
		{p, []string{"TestLinear"}, []string{"--since REV is missing"}},
		{p, []string{"--since", "green"}, []string{"culprit takes the name of one test"}},
		{p, []string{"TestLinear", "--since", "nowhere"}, []string{`no such revision "nowhere"`}},
		{p, []string{"TestLinear", "--since", "green", "--until", "nowhere"}, []string{`no such revision "nowhere"`}},
		{p, []string{"TestLinear", "--since", "green", "--until", ""}, []string{"--until: the revision is empty"}},
		{p, []string{"TestLinear", "--since", "twice"}, []string{`ambiguous revision "twice": use refs/heads/twice or refs/tags/twice`}},
		{p, []string{"TestLinear", "--since", "HEAD"}, []string{"no commit"}},
		{p, []string{"TestLinear", "--since", "green", "--format", "xml", "--budget", "0s"}, []string{`--format "xml"`, "--budget"}},
		{p, []string{"TestNone", "--since", "green"}, []string{`"TestNone"`, "no test of go has this name"}},
		{p, []string{"gap.TestLinear", "--since", "green"}, []string{"example.com/shop/linear has it"}},
		{p, []string{"TestTwice", "--since", "green"}, []string{"several tests have this name", "example.com/shop/gap.TestTwice, example.com/shop/hole.TestTwice"}},
		{p, []string{"TestNever/row", "--since", "green"}, []string{`"TestNever/row"`, "finds no test of this name"}},
		{p, []string{"TestLinear/row", "--since", "green"}, []string{`"TestLinear/row"`, "finds no test of this name"}},
		{p, []string{"TestLinear/.*", "--since", "green"}, []string{`"TestLinear/.*"`, "finds no test of this name"}},
		{shallow, []string{"TestLinear", "--since", p.revision(t, "green")}, []string{"the clone is shallow", "fetch-depth: 0"}},
		{empty, []string{"TestLinear", "--since", "green"}, []string{"git"}},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			out, said, code := c.in.culprit(t, c.args...)
			missing := slices.ContainsFunc(c.want, func(want string) bool { return !strings.Contains(said, want) })
			if code != 2 || out != "" || missing {
				t.Errorf("exit code %d\n%s%s", code, out, said)
			}
		})
	}
}

// TestAccept_AL7_CulpritForPeople: the sentence, the commits and what was run, as a table and as Markdown.
func TestAccept_AL7_CulpritForPeople(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment")
	p := broken("_ = 0")
	p.write(t)
	for format, sentence := range map[string]string{"table": "TestTotal began to fail with the changes that are not committed", "md": "**TestTotal began to fail with the changes that are not committed"} {
		out, said, code := p.culprit(t, "TestTotal", "--since", "green", "--format", format)
		one := strings.Join(strings.Fields(out), " ")
		for _, want := range []string{sentence, "verified: 3 of 3 failed there, none of 3 failed at the parent " + p.revision(t, "green")[:12], "got 2", "1 commit from green", "your working tree"} {
			if code != 0 || !strings.Contains(one, want) {
				t.Errorf("%s: exit code %d, want %q\n%s%s", format, code, want, out, said)
			}
		}
	}
}
