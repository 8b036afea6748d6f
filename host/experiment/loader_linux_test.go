//go:build linux

package experiment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_AK5_TheBaseHasNoLibraryOrProgramOfTheCheckout, where the user's paths name a folder of it.
func TestAccept_AK5_TheBaseHasNoLibraryOrProgramOfTheCheckout(t *testing.T) {
	userWith(t)
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "lib/rate": "#!/bin/sh\necho good\n", "lib/env": "rate_of() { echo good; }\n", "shop_test.go": `package shop

import ("os"; "os/exec"; "strings"; "testing")

func TestLoads(t *testing.T) {
	if rate, _ := os.ReadFile(os.Getenv("LD_LIBRARY_PATH") + "/rate"); !strings.Contains(string(rate), "good") {
		t.Fatal("the rate is bad")
	}
}

func TestOption(t *testing.T) {
	if rate, _ := os.ReadFile(strings.TrimPrefix(os.Getenv("PERL5OPT"), "-Mstrict -I") + "/rate"); !strings.Contains(string(rate), "good") {
		t.Fatal("the rate is bad")
	}
}

func TestSources(t *testing.T) {
	if rate, _ := exec.Command("bash", "-c", "rate_of").Output(); string(rate) != "good\n" {
		t.Fatal("the rate is bad")
	}
}

func TestRuns(t *testing.T) {
	if rate, _ := exec.Command("rate").Output(); string(rate) != "good\n" {
		t.Fatal("the rate is bad")
	}
}
`})
	must.Do(t, os.Chmod(filepath.Join(dir, "lib", "rate"), 0o700))
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "base")
	must.Write(t, dir, map[string]string{"lib/rate": "#!/bin/sh\necho bad\n", "lib/env": "rate_of() { echo bad; }\n"})
	t.Setenv("BASH_ENV", filepath.Join(dir, "lib", "env"))
	t.Setenv("PERL5OPT", "-Mstrict -I"+filepath.Join(dir, "lib"))
	t.Setenv("LD_LIBRARY_PATH", filepath.Join(dir, "lib"))
	t.Setenv("PATH", filepath.Join(dir, "lib")+":"+os.Getenv("PATH"))
	failed := docket(t, dir)
	l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
	for _, test := range []string{"TestLoads", "TestRuns", "TestOption", "TestSources"} {
		if r := must.Get(l.Run(t.Context(), failed[test], parse(t, onlyGreen)))(t); r.Outcome != abi.OutcomePassed {
			t.Errorf("%s: got %+v", test, r)
		}
	}
	for _, name := range []string{"CGO_CFLAGS", "CPATH"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "-I"+filepath.Join(dir, "lib"))
			l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
			if r := must.Get(l.Run(t.Context(), failed["TestRuns"], parse(t, onlyGreen)))(t); r.Loaded != abi.NotCertified {
				t.Errorf("the build of C takes folders of the checkout: %+v", r)
			}
		})
	}
}

// TestAccept_AK5_TheBaseIsRunAsTheCommandRunsIt, for what tests find out of the place and the time that they have.
func TestAccept_AK5_TheBaseIsRunAsTheCommandRunsIt(t *testing.T) {
	dir := filepath.Join(must.Get(filepath.EvalSymlinks(t.TempDir()))(t), "my.shop-2")
	must.Do(t, os.Mkdir(dir, 0o700))
	must.Git(t, dir, "init", "-q", "-b", "main")
	rows := map[string]string{
		"Root":     `filepath.Base(filepath.Dir(folder)) == "my.shop-2"`,
		"Deadline": `time.Until(end) > 9*time.Minute`,
		"Program":  `regexp.MustCompile("/go-build[0-9]+/b[0-9]+/cart.test$").MatchString(os.Args[0])`,
	}
	var test strings.Builder
	test.WriteString("package cart\n\nimport (\"os\"; \"path/filepath\"; \"regexp\"; \"testing\"; \"time\")\n\nvar folder, _ = os.Getwd()\n")
	for name, code := range rows {
		fmt.Fprintf(&test, "\nfunc Test%s(t *testing.T) {\n\tif end, _ := t.Deadline(); Rate < 1 || end.IsZero() || !(%s) {\n\t\tt.Fatal(\"the rate is bad\")\n\t}\n}\n", name, code)
	}
	must.Write(t, dir, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "cart/cart.go": "package cart\n\nconst Rate = 1\n", "cart/cart_test.go": test.String()})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "base")
	must.Write(t, dir, map[string]string{"cart/cart.go": "package cart\n\nconst Rate = 0\n"})
	failed := docket(t, dir)
	l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
	for name := range rows {
		if r := must.Get(l.Run(t.Context(), failed["Test"+name], parse(t, onlyGreen)))(t); r.Outcome != abi.OutcomePassed {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}
