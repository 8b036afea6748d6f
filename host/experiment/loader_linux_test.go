//go:build linux

package experiment_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_AK5_TheBaseLoadsNoLibraryOfTheCheckout, where the user's variable for the loader names a folder of it.
func TestAccept_AK5_TheBaseLoadsNoLibraryOfTheCheckout(t *testing.T) {
	userWith(t)
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "lib/rate": "good", "shop_test.go": `package shop

import ("os"; "testing")

func TestShop(t *testing.T) {
	if rate, _ := os.ReadFile(os.Getenv("LD_LIBRARY_PATH") + "/rate"); string(rate) == "bad" {
		t.Fatalf("the rate is %s", rate)
	}
}
`})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "base")
	must.Write(t, dir, map[string]string{"lib/rate": "bad"})
	t.Setenv("LD_LIBRARY_PATH", filepath.Join(dir, "lib"))
	failed := docket(t, dir)["TestShop"]
	l := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Budget: time.Hour})
	r := must.Get(l.Run(t.Context(), failed, parse(t, onlyGreen)))(t)
	if r.Outcome == abi.OutcomeSame || strings.Contains(r.Detail, "bad") {
		t.Errorf("got %+v", r)
	}
}
