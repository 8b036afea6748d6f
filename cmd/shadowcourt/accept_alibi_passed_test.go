package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

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
	if err != nil {
		t.Fatal(err)
	}
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
	got = p.alibi(t, env, "--case-budget=3s", "--", "env", "go", "test", "-run=Region", "./cart")
	if a := got.answers["TestRegion"]; a == nil || a.Verdict != alibi.IsOpen || !strings.Contains(a.Next, "--env NAME") {
		t.Errorf("without the variable: %s\n%s", saidOf(a), got.stderr)
	}
	files := 0
	err = filepath.WalkDir(filepath.Join(cache, "shadowcourt", "experiments"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "zz-") {
			t.Errorf("a value is in %s", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d results, %v", files, err)
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
