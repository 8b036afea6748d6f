package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// asked is what the command alibi said.
type asked struct {
	answers map[string]*alibi.Answer // by the names of tests
	code    int
	stderr  string
}

// alibi runs the command in the project, with further variables.
func (p *project) alibi(t *testing.T, env []string, args ...string) *asked {
	t.Helper()
	s := execute(t, p.dir, env, append([]string{"shadowcourt", "alibi", "--format", "jsonl"}, args...)...)
	a := &asked{answers: map[string]*alibi.Answer{}, code: s.code, stderr: s.errors}
	for line := range strings.Lines(s.out) {
		answer := &alibi.Answer{}
		if err := json.Unmarshal([]byte(line), answer); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		a.answers[answer.Test] = answer
	}
	return a
}

// report runs the tests of a project in Go, with further variables, and gives the file of their report.
func (p *project) report(t *testing.T, env ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "report.json")
	writeFiles(t, "/", map[string]string{file: p.tool(t, env, "go", "test", "-vet=off", "-json", "./...")})
	return file
}

// expect checks an answer; an empty label or part is any.
func (a *asked) expect(t *testing.T, test string, verdict alibi.Verdict, label string, part alibi.Part) {
	t.Helper()
	got := a.answers[test]
	if got == nil {
		t.Errorf("%s: no answer among %d\n%s", test, len(a.answers), a.stderr)
		return
	}
	if got.Verdict != verdict || label != "" && got.Label != label || part != "" && got.Part != part {
		t.Errorf("%s: %s", test, saidOf(got))
	}
}

// saidOf is an answer with its runs.
func saidOf(a *alibi.Answer) string {
	if a == nil {
		return "no answer"
	}
	var b strings.Builder
	b.WriteString(string(a.Verdict) + " " + a.Label + " " + string(a.Part) + ": " + a.Why + "; next: " + a.Next)
	for i := range a.Runs {
		e := &a.Runs[i]
		b.WriteString("\n\t" + e.What() + ": " + string(e.Outcome) + " " + string(e.Loaded) + " " + e.Detail)
	}
	return b.String()
}

const goModule = "module example.com/shop\n\ngo 1.26\n"

// shop is a module whose change makes tests fail in several ways. With the variable WEATHER=bad, those fail that fail by chance, too.
func shop() *project {
	product := `package cart

import "math/rand/v2"

func Total(prices ...int) (sum int) { for _, p := range prices { sum += p }; return sum }
func First() bool { return rand.IntN(10) < 10 }
`
	tests := `package cart

import ("math/rand/v2"; "os"; "testing")

var bad = os.Getenv("WEATHER") == "bad"

func TestTotal(t *testing.T) { if got := Total(1, 2); got != 3 { t.Errorf("Total is %d, want 3", got) } }
func TestEmpty(t *testing.T) { if got := Total(); got != 0 { t.Errorf("empty: %d", got) } }
func TestFirst(t *testing.T) { if !First() || bad { t.Error("not the first") } }
func TestOld(t *testing.T) { t.Error("it was always so") }
func TestRain(t *testing.T) { if rand.IntN(2) == 0 || bad { t.Error("it rains") } }
func TestSnow(t *testing.T) { if rand.IntN(2) == 0 || bad { t.Error("it snows") } }
func TestHail(t *testing.T) { if rand.IntN(2) == 0 || bad { t.Error("it hails") } }
func TestZone(t *testing.T) { if zone := os.Getenv("TZ"); zone != "UTC" { t.Errorf("unexpected time zone %s", zone) } }
`
	return &project{
		green: map[string]string{"go.mod": goModule, "cart/cart.go": product, "cart/cart_test.go": tests},
		head: map[string]string{
			"cart/cart.go":      strings.NewReplacer("range prices", "range prices[:min(1, len(prices))]", "< 10 }", "< 4 }").Replace(product),
			"cart/cart_test.go": strings.ReplaceAll(tests, "got != 0", "got != 1"),
		},
	}
}

// TestAccept_AL2_Go: each answer on a module in Go.
func TestAccept_AL2_Go(t *testing.T) {
	t.Parallel()
	p := shop()
	p.write(t)
	tokyo := "TZ=Asia/Tokyo"
	report, chance := p.report(t, tokyo, "WEATHER=bad"), []string{"TestFirst", "TestRain", "TestSnow", "TestHail"}
	got := p.alibi(t, []string{tokyo}, without(t, report, chance...))
	got.expect(t, "TestTotal", alibi.IsYours, alibi.Caused, alibi.Product)
	got.expect(t, "TestEmpty", alibi.IsYours, alibi.Caused, alibi.Tests)
	got.expect(t, "TestOld", alibi.NotYours, alibi.Preexisting, "")
	got.expect(t, "TestZone", alibi.NotYours, alibi.Environment, "")
	if got.code != 3 || len(got.answers) != 4 {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}

	if !tier.Whole("host/alibi", "host/experiment") { // what fails by chance takes hundreds of runs
		return
	}
	got = p.alibi(t, []string{tokyo}, "--case-budget", "2m", without(t, report, "TestTotal", "TestEmpty", "TestOld", "TestZone"))
	if a := got.answers["TestFirst"]; a == nil || a.Verdict == alibi.NotYours {
		t.Errorf("made flaky: %+v", a)
	}
	// Each passes one time in two, so that by chance the runs of one may agree.
	flaky := 0
	for _, test := range []string{"TestRain", "TestSnow", "TestHail"} {
		if a := got.answers[test]; a != nil && a.Label == alibi.Flaky && a.Verdict == alibi.NotYours {
			flaky++
		} else if a == nil || a.Verdict == alibi.IsYours {
			t.Errorf("%s: %s", test, saidOf(a))
		}
	}
	if flaky == 0 {
		t.Error("no flaky test is found out")
	}
	if len(got.answers) != 4 {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
}

// conflicting is a module with a branch release, on which a function that the tests of the change call gives something else.
func conflicting(t *testing.T) *project {
	t.Helper()
	p := &project{
		green: map[string]string{
			"go.mod": goModule, "cart/cart.go": "package cart\n\n// Currency is that of prices.\nfunc Currency() string { return \"USD\" }\n",
			"cart/cart_test.go": "package cart\n\nimport (\"os\"; \"testing\")\n\nvar bad = os.Getenv(\"WEATHER\") == \"bad\"\n\n" +
				"func TestGone(t *testing.T) { if bad { t.Error(\"a storm\") } }\n",
		},
		head: map[string]string{
			"cart/price_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) { if got := Currency(); got != \"USD\" || bad { t.Error(\"not in USD\") } }\n",
		},
	}
	p.write(t)
	git(t, p.dir, `git checkout -q -b release && sed -i.old 's/"USD"/"EUR"/' cart/cart.go && rm cart/cart.go.old && git commit -qam euro && git checkout -q main`)
	return p
}

// TestAccept_AL2_GoConflict: head and the target pass apart, and their merge fails. The report is that of the merge.
func TestAccept_AL2_GoConflict(t *testing.T) {
	t.Parallel()
	tier.Long(t, "repo", "host/alibi", "host/experiment")
	p := conflicting(t)
	report := p.report(t, "WEATHER=bad")
	got := p.alibi(t, nil, "--target", "release", onlyTest(t, report, "TestPrice"))
	got.expect(t, "TestPrice", alibi.IsYours, alibi.Conflict, "")
	if got.code != 3 {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}

	// The tests of head pass; docs/alibi.md says how to get the report.
	p.commit(t, "price")
	got = p.alibi(t, nil, "--base=green", "--target=release", "--", "go", "test", "./...")
	if got.code != 0 || !strings.Contains(got.stderr, "Nothing failed. Conflicts with release show in a report of the merge") {
		t.Errorf("nothing failed: exit code %d\n%s", got.code, got.stderr)
	}
	if got = p.alibi(t, nil, "--target=", report); got.code != 2 || !strings.Contains(got.stderr, "--target: the revision is empty") {
		t.Errorf("no target: exit code %d\n%s", got.code, got.stderr)
	}

	git(t, p.dir, `git worktree add --detach ../merge release
		git -C ../merge merge --no-edit "$(git rev-parse HEAD)"
		(cd ../merge && go test -json ./...) > ../merge.json || true`)
	got = p.alibi(t, nil, "--base=green", "--target=release", "../merge.json")
	got.expect(t, "TestPrice", alibi.IsYours, alibi.Conflict, "")

	// What git can't merge has no merge that fails; the other trees are run.
	product := "package cart\n\nfunc Currency() string { return \"CHF\" }\n"
	p.add(t, map[string]string{"cart/cart.go": product})
	got = p.alibi(t, nil, "--base=green", "--target=release", onlyTest(t, p.report(t), "TestPrice"))
	got.expect(t, "TestPrice", alibi.IsYours, alibi.Caused, "")
	if got.code != 3 || !strings.Contains(got.stderr, "warning: head can't be merged into the target: they conflict in cart/cart.go") {
		t.Errorf("no merge: exit code %d\n%s", got.code, got.stderr)
	}
}

// TestAccept_AL2_GoDoesNotComeBack: nothing fails again on any tree, which takes at most 60 runs and proves nothing.
func TestAccept_AL2_GoDoesNotComeBack(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	p := conflicting(t)
	report := onlyTest(t, p.report(t, "WEATHER=bad"), "TestGone")
	got := p.alibi(t, nil, "--target", "release", report)
	got.expect(t, "TestGone", alibi.IsOpen, "", "")
	if a := got.answers["TestGone"]; a != nil {
		runs := 0
		for i := range a.Runs {
			runs += a.Runs[i].Passed
		}
		if runs > 60 || !strings.Contains(a.Why, "does not come back: none of ") {
			t.Errorf("%d runs: %s", runs, saidOf(a))
		}
	}
}

// TestAccept_AK12_AtMostSixtyRuns: what does not come back as it was reported has 60 runs in all trees and environments, whatever else happens there.
func TestAccept_AK12_AtMostSixtyRuns(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	tests := `package cart

import ("math/rand/v2"; "os"; "runtime"; "testing")

var bad = os.Getenv("WEATHER") == "bad"

func TestGone(t *testing.T) { if bad { t.Error("a storm") } }
func TestSkipped(t *testing.T) { if bad { t.Error("a storm") }; t.Skip("the weather is fine") }
func TestOther(t *testing.T) {
	if bad { t.Error("a storm") } else if runtime.NumCPU() == 1 || rand.IntN(4) == 0 { t.Error("no time") }
}
`
	p := &project{green: map[string]string{"go.mod": goModule, "cart/cart_test.go": tests}, head: map[string]string{"cart/cart.go": "package cart\n"}}
	p.write(t)
	got := p.alibi(t, nil, p.report(t, "WEATHER=bad"))
	for _, test := range []string{"TestGone", "TestOther", "TestSkipped"} {
		got.expect(t, test, alibi.IsOpen, "", "")
		a, runs := got.answers[test], 0
		for i := range a.Runs {
			if e := &a.Runs[i]; e.Passed+e.Same+e.Other > 0 || strings.Contains(e.Detail, "skipped") {
				runs += e.Runs
			}
		}
		if t.Logf("%d runs: %s", runs, saidOf(a)); runs > 60 {
			t.Errorf("%s: %d runs", test, runs)
		}
	}
	if a := got.answers["TestGone"]; !strings.Contains(a.Why, "does not come back: none of ") {
		t.Error(saidOf(a))
	}
}

// onlyTest is a report with the lines of one test alone.
func onlyTest(t *testing.T, report, test string) string {
	t.Helper()
	return onlyLines(t, report, func(line string) bool { return strings.Contains(line, `"Test":"`+test+`"`) })
}

// onlyLines is a report with some of its lines.
func onlyLines(t *testing.T, report string, keeps func(line string) bool) string {
	t.Helper()
	var kept strings.Builder
	for line := range strings.Lines(readFile(t, report)) {
		if keeps(line) {
			kept.WriteString(line)
		}
	}
	file := filepath.Join(t.TempDir(), "report.json")
	writeFiles(t, "/", map[string]string{file: kept.String()})
	return file
}
