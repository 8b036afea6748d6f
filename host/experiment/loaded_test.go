package experiment_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// twoModules is a checkout whose module gets another one from a folder, which the change breaks.
func twoModules(t *testing.T, folder string, vendored bool) string {
	t.Helper()
	dir := t.TempDir()
	folder = strings.ReplaceAll(folder, "CHECKOUT", dir)
	at := folder
	if !filepath.IsAbs(at) {
		at = filepath.Join(dir, folder)
	}
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{
		"go.mod":            "module example.com/shop\n\ngo 1.26\n\nrequire example.com/shop/core v0.0.0\n\nreplace example.com/shop/core => " + folder + "\n",
		"cart/cart.go":      "package cart\n\nimport \"example.com/shop/core\"\n\nfunc Total() int { return core.Total() }\n",
		"cart/cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if got := Total(); got != 1 { t.Errorf(\"got %d\", got) } }\n",
	})
	write(t, at, map[string]string{"go.mod": "module example.com/shop/core\n\ngo 1.26\n", "core.go": "package core\n\nfunc Total() int { return 1 }\n"})
	vendor := func() {
		if !vendored {
			return
		}
		cmd := exec.CommandContext(t.Context(), "go", "mod", "vendor")
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	vendor()
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "green")
	git(t, dir, "tag", "green")
	write(t, at, map[string]string{"core.go": "package core\n\nfunc Total() int { return 2 }\n"})
	vendor()
	return dir
}

// TestAccept_AL3_ABaseThatLoadsCodeOfHead: go.mod names a folder of the checkout, so that the base fails with the code of head.
func TestAccept_AL3_ABaseThatLoadsCodeOfHead(t *testing.T) {
	failed := &abi.Case{Subject: "TestTotal fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:5: got 2\n"}}}
	for _, c := range []struct {
		name, folder, flags string
		vendored            bool
		base                abi.ExperimentOutcome
		head, loaded        abi.LoadedCode
	}{
		{"the folder of the checkout", "CHECKOUT/core", "", false, abi.OutcomeSame, abi.NotCertified, abi.Contradicted},
		{"without paths in the binary", "CHECKOUT/core", "-trimpath", false, abi.OutcomeSame, abi.NotCertified, abi.Contradicted},
		{"the folder of the tree", "./core", "-trimpath", false, abi.OutcomePassed, abi.Certified, abi.Certified},
		{"vendored", "./core", "", true, abi.OutcomePassed, abi.Certified, abi.Certified},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("GOFLAGS", c.flags)
			l := open(t, experiment.Config{Source: twoModules(t, c.folder, c.vendored), Base: "green", Mode: experiment.All, Budget: time.Hour})
			head, err := l.Run(t.Context(), failed, parse(t, again))
			if err != nil || head.Outcome != abi.OutcomeSame || head.Loaded != c.head {
				t.Errorf("head: got %+v, %v", head, err)
			}
			base, err := l.Run(t.Context(), failed, parse(t, onlyGreen))
			if err != nil || base.Outcome != c.base || base.Loaded != c.loaded {
				t.Errorf("base: got %+v, %v", base, err)
			}
			if c.loaded == abi.Contradicted && !strings.Contains(base.Detail, "module example.com/shop/core comes from ") {
				t.Errorf("base: the detail is %q", base.Detail)
			}
		})
	}
}

// TestAccept_AL3_ADependencyThatMoved: a module in a folder beside the repository changed under both trees. No run can tell that, and
// none is certified.
func TestAccept_AL3_ADependencyThatMoved(t *testing.T) {
	dir := twoModules(t, filepath.Join(t.TempDir(), "dependency"), false)
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	outside := strings.ReplaceAll(string(text), "example.com/shop/core", "example.com/dependency")
	_, folder, _ := strings.Cut(strings.TrimSpace(outside), "=> ")
	write(t, dir, map[string]string{"go.mod": outside, "cart/cart.go": "package cart\n\nimport core \"example.com/dependency\"\n\nfunc Total() int { return core.Total() }\n"})
	write(t, folder, map[string]string{"go.mod": "module example.com/dependency\n\ngo 1.26\n"})
	git(t, dir, "commit", "-qam", "green")
	git(t, dir, "tag", "-f", "green")
	write(t, dir, map[string]string{"README.md": "changed\n"})
	failed := &abi.Case{Subject: "TestTotal fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    cart_test.go:5: got 2\n"}}}
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
	for _, name := range []string{again, onlyGreen} {
		r, err := l.Run(t.Context(), failed, parse(t, name))
		if err != nil || r.Outcome != abi.OutcomeSame || r.Loaded != abi.NotCertified {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
	}
}
