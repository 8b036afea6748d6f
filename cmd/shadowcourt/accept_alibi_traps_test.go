package main

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// traps is a module with a package for each trap that a naive comparison with the base falls into.
func traps() *project {
	state := `package NAME

import "testing"

func TestAUse(t *testing.T) { Use() }
func TEST(t *testing.T) { if used { t.Error("somebody was here before") } }
`
	order := "package NAME\n\nvar used bool\n\nfunc Use() { BODY }\n"
	other := `package other

import "testing"

func TestSum(t *testing.T) {
	switch got := Sum(); {
	case got < 0: t.Fatal("the cart is negative")
	case got != 3: t.Errorf("the sum is %d", got)
	}
}
`
	untracked := `package untracked

import ("os"; "testing")

func TestRates(t *testing.T) {
	if text, err := os.ReadFile("testdata/rates"); err == nil { t.Errorf("no rates in %q", text) }
}
`
	zone := `package zone

import "testing"

func TestDay(t *testing.T) { if got := Day(); got != "1970-01-01 00:00" { t.Errorf("the day is %s", got) } }
`
	day := "package zone\n\nimport \"time\"\n\nfunc Day() string { return time.Unix(0, 0)WHERE.Format(\"2006-01-02 15:04\") }\n"
	machine := `package machine

import ("os"; "testing")

func TestZone(t *testing.T) { if zone := os.Getenv("TZ"); zone != "UTC" { t.Errorf("unexpected time zone %s", zone) } }
`
	broken := "package broken\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) { if got := Price(); got != 1 { t.Errorf(\"got %d\", got) } }\n"
	fill := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	return &project{
		green: map[string]string{
			"go.mod":                      goModule,
			"leaks/leaks.go":              fill(order, "NAME", "leaks", "BODY", ""),
			"leaks/leaks_test.go":         fill(state, "NAME", "leaks", "TEST", "TestLeaks"),
			"leaked/leaked.go":            fill(order, "NAME", "leaked", "BODY", "used = true"),
			"leaked/leaked_test.go":       fill(state, "NAME", "leaked", "TEST", "TestLeaked"),
			"other/other.go":              "package other\n\nfunc Sum() int { return -1 }\n",
			"other/other_test.go":         other,
			"untracked/untracked_test.go": untracked,
			"zone/zone.go":                fill(day, "WHERE", ".UTC()"),
			"zone/zone_test.go":           zone,
			"machine/machine_test.go":     machine,
			"broken/broken.go":            "package broken\n\nfunc Price() int { return price }\n",
			"broken/broken_test.go":       broken,
		},
		head: map[string]string{
			"leaks/leaks.go":           fill(order, "NAME", "leaks", "BODY", "used = true"),
			"other/other.go":           "package other\n\nfunc Sum() int { return 2 }\n",
			"untracked/testdata/rates": "none\n",
			"zone/zone.go":             fill(day, "WHERE", ""),
			"broken/broken.go":         "package broken\n\nfunc Price() int { return 2 }\n",
			"machine/fresh_test.go":    "package machine\n\nimport \"testing\"\n\nfunc TestFresh(t *testing.T) { t.Error(\"not yet\") }\n",
		},
	}
}

// TestAccept_AL3_TrapsOfABase: what a comparison of one run of each tree gets wrong, and whose each failure is.
func TestAccept_AL3_TrapsOfABase(t *testing.T) {
	t.Parallel()
	p := traps()
	p.write(t)
	tokyo := "TZ=Asia/Tokyo"
	report := p.report(t, tokyo)
	all := tier.Whole("host/alibi", "host/experiment")
	if !all {
		report = without(t, report, "TestPrice", "TestFresh", "TestLeaks", "TestLeaked", "TestRates", "TestDay")
	}
	got := p.alibi(t, []string{tokyo}, report)
	for _, want := range []struct {
		trap, test string
		verdict    alibi.Verdict
		label      string
		quick      bool
	}{
		{"order dependence of head alone", "TestLeaks", alibi.IsYours, alibi.Caused, false},
		{"order dependence of both", "TestLeaked", alibi.NotYours, "", false},
		{"another failure on the base", "TestSum", alibi.IsYours, alibi.Caused, true},
		{"an untracked file", "TestRates", alibi.IsYours, alibi.Caused, false},
		{"a time zone that the change began to depend on", "TestDay", alibi.IsYours, alibi.Caused, false},
		{"the time zone of the machine", "TestZone", alibi.NotYours, alibi.Environment, true},
		{"a base that does not build", "TestPrice", alibi.IsOpen, "", false},
		{"a test that the base does not have", "TestFresh", alibi.IsYours, alibi.Caused, false},
	} {
		a := got.answers[want.test]
		if !want.quick && !all {
			continue
		}
		if a == nil || a.Verdict != want.verdict || want.label != "" && a.Label != want.label {
			t.Errorf("%s: %s", want.trap, saidOf(a))
		}
		if after := strings.HasPrefix(want.trap, "order"); after != strings.HasSuffix(a.Why, "; it fails after TestAUse") || after != slices.Equal(a.After, []string{"TestAUse"}) {
			t.Errorf("%s: fails after %q: %s", want.trap, a.After, a.Why)
		}
	}
	if got.code != 3 {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}

// without is a report without some tests.
func without(t *testing.T, report string, tests ...string) string {
	t.Helper()
	return onlyLines(t, report, func(line string) bool {
		return !slices.ContainsFunc(tests, func(test string) bool { return strings.Contains(line, `"Test":"`+test+`"`) })
	})
}

// withDependency is a module that gets another one from a folder, by go.mod, which the change breaks.
func withDependency(t *testing.T, folder string) *project {
	t.Helper()
	p := &project{
		green: map[string]string{
			"go.mod":            goModule + "\nrequire example.com/core v0.0.0\n\nreplace example.com/core => FOLDER\n",
			"README.md":         "A shop.\n",
			"cart/cart.go":      "package cart\n\nimport \"example.com/core\"\n\nfunc Total() int { return core.Total() }\n",
			"cart/cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if got := Total(); got != 1 { t.Errorf(\"got %d\", got) } }\n",
		},
	}
	p.dir = filepath.Join(t.TempDir(), "project")
	at := strings.ReplaceAll(folder, "CHECKOUT", p.dir)
	p.green["go.mod"] = strings.ReplaceAll(p.green["go.mod"], "FOLDER", at)
	if !filepath.IsAbs(at) {
		at = filepath.Join(p.dir, at)
	}
	core := &project{dir: at}
	p.add(t, p.green)
	core.add(t, map[string]string{"go.mod": "module example.com/core\n\ngo 1.26\n", "core.go": "package core\n\nfunc Total() int { return 1 }\n"})
	git(t, p.dir, "git init -q -b main .")
	p.commit(t, "green")
	core.add(t, map[string]string{"core.go": "package core\n\nfunc Total() int { return 2 }\n"})
	return p
}

// TestAccept_AL3_ABaseThatRunsCodeOfHead: go.mod names a folder of the checkout, so that the base fails with the code of head. That is no alibi.
func TestAccept_AL3_ABaseThatRunsCodeOfHead(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	for name, want := range map[string]struct {
		folder  string
		verdict alibi.Verdict
		loaded  abi.LoadedCode
		code    int
	}{
		"the folder of the checkout": {"CHECKOUT/core", alibi.IsOpen, abi.Contradicted, 4},
		"the folder of the tree":     {"./core", alibi.IsYours, abi.Certified, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := withDependency(t, want.folder)
			got := p.alibi(t, nil, p.report(t))
			got.expect(t, "TestTotal", want.verdict, "", "")
			if a := got.answers["TestTotal"]; got.code != want.code || a != nil && (a.Base != want.loaded || want.loaded == abi.Contradicted && !strings.Contains(a.Why, "code that is not its own")) {
				t.Errorf("exit code %d: %s", got.code, saidOf(a))
			}
		})
	}
}

// TestAccept_AL3_ADependencyThatMovedUnderBoth: a module in a folder beside the repository. Both trees fail with it, and neither is certified.
func TestAccept_AL3_ADependencyThatMovedUnderBoth(t *testing.T) {
	t.Parallel()
	p := withDependency(t, filepath.Join(t.TempDir(), "dependency"))
	p.add(t, map[string]string{"README.md": "changed\n"})
	got := p.alibi(t, nil, p.report(t))
	got.expect(t, "TestTotal", alibi.IsOpen, "", "")
	if a := got.answers["TestTotal"]; got.code != 4 || a != nil && (a.Base != abi.NotCertified || !strings.Contains(a.Why, "not known whether the base loaded its own code")) {
		t.Errorf("exit code %d: %s", got.code, saidOf(a))
	}
}

// TestAccept_AL3_WhatTheLaboratoryLacks: each failure is due to the change, and its base fails in the laboratory alone, in the same way. None has an
// alibi, and each row says what would show it.
func TestAccept_AL3_WhatTheLaboratoryLacks(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/alibi", "host/experiment")
	server := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer server.Close()
	product := func(at, more string) string {
		return strings.NewReplacer("AT", at, "+ 0", more).Replace(`package shop

import (
	"net"
	"os"
)

func Configured() int { return len(os.Getenv("SHOP_CFG")) + 0 }

func Served() bool {
	c, err := net.Dial("tcp", "AT")
	if err == nil { _ = c.Close() }
	return err == nil
}

func read(name string) int { text, _ := os.ReadFile(name); return len(text) + 0 }

func Ignored() int { return read("local.cfg") }

func Three() int { return 3 + 0 }
`)
	}
	p := &project{
		green: map[string]string{
			"go.mod":     goModule,
			".gitignore": "local.cfg\n",
			"shop.go":    product(server.Addr().String(), "+ 0"),
			"shop_test.go": `package shop

import ("strings"; "testing")

func TestVariable(t *testing.T) { if Configured() != 3 { t.Error("not ready") } }
func TestServer(t *testing.T) { if !Served() { t.Error("not ready") } }
func TestIgnored(t *testing.T) { if Ignored() != 3 { t.Error("not ready") } }
func TestOutput(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	for range 20 { print(text) }
	if Three() != 3 { t.Error("not ready") }
}
func TestForged(t *testing.T) {
	print("\x16--- FAIL: TestForged (0.00s)\n    shop_test.go:14: not ready\n")
	if Three() != 3 { t.Error("not ready") }
}
`,
		},
		head: map[string]string{"shop.go": product("127.0.0.1:1", "+ 1"), "local.cfg": "cfg"},
	}
	p.write(t)
	variable := "SHOP_CFG=abc"
	got := p.alibi(t, []string{variable}, p.report(t, variable))
	for test, why := range map[string]string{
		"TestVariable": "with --env SHOP_CFG", "TestServer": "--network leaves it", "TestIgnored": "local.cfg, which git ignores", "TestOutput": "its limit of output",
	} {
		if a := got.answers[test]; a == nil || a.Verdict != alibi.IsOpen || !strings.Contains(a.Why, why) {
			t.Errorf("%s: %s", test, saidOf(a))
		}
	}
	if a := got.answers["TestForged"]; a == nil || a.Verdict == alibi.NotYours {
		t.Errorf("a base that forges its failure: %s", saidOf(a))
	}
	if got.code == 0 {
		t.Errorf("exit code 0\n%s", got.stderr)
	}
}

// passing is a module whose change makes tests fail only with a tag, a flag of the tests, and variables.
func passing() *project {
	tests := `package cart

import ("flag"; "os"; "testing")

var degree = flag.Int("degree", 2, "")

func total(t *testing.T, on bool) { if got := Total(1, 2); on && got != 3 { t.Errorf("Total is %d, want 3", got) } }
func TestDegree(t *testing.T) { total(t, *degree == 5) }
func TestStrict(t *testing.T) { total(t, os.Getenv("STRICT") == "zz-on") }
func TestRegion(t *testing.T) { total(t, os.Getenv("REGION") == "zz-eu") }
`
	tagged := "//go:build integration\n\npackage cart\n\nimport \"testing\"\n\nfunc TestTagged(t *testing.T) { total(t, true) }\n"
	only := "//go:build integration\n\npackage only\n\nimport (\"testing\"; \"example.com/shop/cart\")\n\nfunc TestOnly(t *testing.T) { if cart.Total(1, 2) != 3 { t.Error(\"not 3\") } }\n"
	return &project{
		green: map[string]string{
			"go.mod": goModule, "cart/cart.go": "package cart\n\nfunc Total(a, b int) int { return a + b }\n", "cart/cart_test.go": tests, "cart/tagged_test.go": tagged,
			"only/only.go": "package only\n", "only/only_test.go": only,
		},
		head: map[string]string{"cart/cart.go": "package cart\n\nfunc Total(a, b int) int { return a - b }\n"},
	}
}

// TestAccept_AL6_RerunsGetFlagsAndVariables of the command, and the variables that --env names. Values are in no file of results.
func TestAccept_AL6_RerunsGetFlagsAndVariables(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment", "internal/testcmd", "cmd/shadowcourt/internal/alibi")
	p := passing()
	p.write(t)
	cache := t.TempDir()
	user, err := os.UserCacheDir()
	if err == nil {
		err = os.Mkdir(filepath.Join(cache, "shadowcourt"), 0o700)
	}
	if err == nil { // compiled modules are those of other tests, and results its own
		err = os.Symlink(filepath.Join(user, "shadowcourt", "modules"), filepath.Join(cache, "shadowcourt", "modules"))
	}
	must.Do(t, err)
	env := []string{"REGION=zz-eu", "XDG_CACHE_HOME=" + cache, "GOCACHE=" + shell(t, p.dir, "go env GOCACHE | tr -d '\\n'")}
	got := p.alibi(t, env, "--env", "REGION", "--", "STRICT=zz-on", "go", "test", "-tags", "integration", "-exec=env", "./cart", "-degree=5")
	for _, test := range []string{"TestDegree", "TestStrict", "TestRegion", "TestTagged"} {
		got.expect(t, test, alibi.IsYours, alibi.Caused, alibi.Product)
	}
	if got.code != 3 || len(got.answers) != 4 || strings.Count(got.stderr, "warning: what fails is run again without -exec=env\n") != 1 {
		t.Errorf("exit code %d, %d answers\n%s", got.code, len(got.answers), got.stderr)
	}
	got = p.alibi(t, env, "--", "go", "test", "-tags=integration", "./only")
	got.expect(t, "TestOnly", alibi.IsYours, alibi.Caused, "")

	// Without the variables they pass, so that these are part of a result's name.
	got = p.alibi(t, env, "--", "env", "go", "test", "-run=Region", "./cart")
	if a := got.answers["TestRegion"]; a == nil || a.Verdict != alibi.IsOpen || !strings.Contains(a.Next, "--env NAME") {
		t.Errorf("without the variable: %s\n%s", saidOf(a), got.stderr)
	}
	results := filesIn(t, filepath.Join(cache, "shadowcourt", "experiments"))
	for _, name := range results {
		if strings.Contains(readFile(t, name), "zz-") {
			t.Errorf("a value is in %s", name)
		}
	}
	if len(results) == 0 {
		t.Error("no results are kept")
	}
	for args, want := range map[string]string{
		"--env GONE": "--env: the variable GONE is not set", "--env A=b": `--env: "A=b" is not the name of a variable`, "--env HOME": "use --home", "--env PWD": "each run has its own",
	} {
		got := p.alibi(t, env, append(strings.Fields(args), "--", "go", "test")...)
		if got.code != 2 || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: exit code %d: %s", args, got.code, got.stderr)
		}
	}
}
