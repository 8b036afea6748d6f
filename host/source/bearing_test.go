package source_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/source"
)

const (
	cart = "package cart\n\nimport \"example.com/shop/money\"\n\n// Total adds up.\nfunc Total(prices []int) int {\n\treturn money.Sum(prices)\n}\n\nfunc Empty() bool {\n\treturn true\n}\n"
	sums = "package money\n\nimport \"example.com/shop/money/round\"\n\nfunc Sum(list []int) int {\n\treturn round.Up(len(list))\n}\n"
)

// shop is a repository of a module with packages that import each other, a further module, and other languages.
func shop(t testing.TB) (commit func(files map[string]string), dir string) {
	t.Helper()
	dir = t.TempDir()
	git := gitIn(t, dir)
	commit = func(files map[string]string) {
		t.Helper()
		write(t, dir, files)
		git("add", ".")
		git("commit", "-qm", "change")
	}
	git("init", "-q", "-b", "main")
	commit(map[string]string{
		"go.mod": "module example.com/shop\n", "cart/cart.go": cart, "money/money.go": sums,
		"cart/cart_test.go":  "package cart_test\n\nimport (\n\t\"testing\"\n\n\t\"example.com/shop/cart\"\n\t\"example.com/shop/internal/check\"\n)\n\nfunc TestTotal(t *testing.T) {\n\tcheck.Equal(t, cart.Total([]int{1}), 1)\n}\n\nfunc TestEmpty(t *testing.T) {\n\tcheck.Equal(t, cart.Empty(), true)\n}\n",
		"money/round/up.go":  "package round\n\nfunc Up(n int) int { return n }\n",
		"money/sum_test.go":  "package money\n",
		"cart/testdata/a.in": "1\n", "cart/page.tmpl": "a\n",
		"internal/check/check.go": "package check\n\nimport \"testing\"\n\nfunc Equal(t *testing.T, a, b any) {}\n",
		"other/other.go":          "package other\n", "tools/go.mod": "module example.com/shop/tools\n", "tools/t.go": "package tools\n",
		"README.md": "shop\n", "scripts/a.py": "x = 1\n",
		"py/app/price.py": "def price():\n    return 1\n\ndef tax():\n    return 2\n", "py/app/stock.py": "x = 1\n",
		"py/tests/test_bill.py": "from app import price\n\ndef test_bill():\n    assert price() == 2\n",
	})
	return commit, dir
}

// reached are the paths with reach, distance and names, but for what bears on nothing.
func reached(b source.Bearing) []string {
	var out []string
	for _, c := range b.Changes {
		if c.Reach != abi.ReachNone {
			out = append(out, strings.TrimSpace(c.Path+" "+string(c.Reach)+" "+strings.Repeat("+", c.Distance)+strings.Join(c.Named, ",")))
		}
	}
	return out
}

const failedTotal = "TestTotal fails in example.com/shop/cart\n=== RUN   TestTotal\n    cart_test.go:11: got 3, want 1\n--- FAIL: TestTotal (0.00s)\n"

func TestBearingOfChangesOnATest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		change     map[string]string
		want       []string
		lost       bool // the test is not found
	}{
		{name: "its package, and what its body names", change: map[string]string{"cart/cart.go": strings.Replace(cart, "Sum(prices)", "Sum(prices) + 1", 1)}, want: []string{"cart/cart.go package Total"}},
		{name: "its package, a function that it does not use", change: map[string]string{"cart/cart.go": strings.Replace(cart, "true", "false", 1)}},
		{name: "a function that is gone", change: map[string]string{"cart/cart.go": "package cart\n"}, want: []string{"cart/cart.go package Total"}},
		{
			name: "what it imports, directly and not, and from the test alone",
			change: map[string]string{
				"money/money.go": strings.Replace(sums, "round.Up", "1 + round.Up", 1), "money/round/up.go": "package round\n\nfunc Up(n int) int { return n + 1 }\n",
				"internal/check/check.go": "package check\n\nimport \"testing\"\n\nfunc Equal(t *testing.T, a, b any) { t.Helper() }\n",
			},
			want: []string{"internal/check/check.go imported +Equal", "money/money.go imported +", "money/round/up.go imported ++"},
		},
		{name: "the test itself", change: map[string]string{"cart/cart_test.go": "package cart_test\n\nfunc TestTotal() {\n\tpanic(2)\n}\n"}, want: []string{"cart/cart_test.go package TestTotal"}},
		{name: "another test of its package, its data, and what it embeds", change: map[string]string{"cart/more_test.go": "package cart\n", "cart/testdata/a.in": "2\n", "cart/page.tmpl": "b\n"}, want: []string{"cart/more_test.go package", "cart/page.tmpl package", "cart/testdata/a.in package"}},
		{name: "dependencies", change: map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "tools/go.mod": "module example.com/shop/tools\n\ngo 1.24\n"}, want: []string{"go.mod dependencies"}},
		{name: "files of the build, which the go command does not read", change: map[string]string{"Makefile": "all:\n", "cart/Makefile": "all:\n", "cart/tox.ini": "[tox]\n", "Dockerfile": "FROM a\n"}},
		{
			name: "files of the build, in another language", text: "py/tests/test_bill.py:4: AssertionError\ntest_bill failed\n",
			change: map[string]string{"Makefile": "all:\n", "py/tox.ini": "[tox]\n", "web/Makefile": "all:\n", ".gitlab-ci.yml": "a: 1\n"},
			want:   []string{"Makefile dependencies", "py/tox.ini dependencies"},
		},
		{name: "documents, tests of others, packages that it does not import, another module", change: map[string]string{"README.md": "new\n", "money/sum_test.go": "package money\n\nvar a int\n", "other/other.go": "package other\n\nvar a int\n", "tools/t.go": "package tools\n\nvar a int\n"}},
		{name: "a program of another language", change: map[string]string{"scripts/a.py": "x = 2\n"}, want: []string{"scripts/a.py unknown"}},
		{name: "found by its name alone", text: "TestEmpty fails in example.com/shop/cart\nall is lost\n", change: map[string]string{"cart/cart.go": strings.Replace(cart, "true", "false", 1), "README.md": "new\n"}, want: []string{"cart/cart.go package Empty"}},
		{name: "found nowhere", text: "TestNothing fails in example.com/elsewhere\n", change: map[string]string{"cart/cart.go": "package cart\n"}, want: []string{"cart/cart.go unknown"}, lost: true},
		{
			name: "Python, by name and import", text: "py/tests/test_bill.py:4: AssertionError\ntest_bill failed\n",
			change: map[string]string{"py/app/price.py": "def price():\n    return 3\n\ndef tax():\n    return 2\n", "py/app/stock.py": "x = 2\n", "py/tests/test_bill.py": "from app import price\n\ndef test_bill():\n    assert price() == 3\n"},
			want:   []string{"py/tests/test_bill.py package test_bill", "py/app/price.py imported price", "py/app/stock.py unknown"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			commit, dir := shop(t)
			commit(tt.change)
			text := tt.text
			if text == "" {
				text = failedTotal
			}
			b := openTree(t, dir, "HEAD~1").BearingOf(text)
			if diff := cmp.Diff(tt.want, reached(b)); diff != "" || b.Located == tt.lost {
				t.Errorf("located %t, %s", b.Located, diff)
			}
		})
	}
}

func TestATreeCanBeAskedByMany(t *testing.T) {
	t.Parallel()
	commit, dir := shop(t)
	commit(map[string]string{"cart/cart.go": "package cart\n", "py/app/price.py": "y = 1\n"})
	tree := openTree(t, dir, "HEAD~1")
	alone := openTree(t, dir, "HEAD~1")
	texts := []string{failedTotal, "py/tests/test_bill.py:4: AssertionError\n", "TestEmpty fails in example.com/shop/cart\n", "nothing\n"}
	var group sync.WaitGroup
	for i := range 16 {
		text := texts[i%len(texts)]
		want := reached(alone.BearingOf(text))
		group.Go(func() {
			if diff := cmp.Diff(want, reached(tree.BearingOf(text))); diff != "" {
				t.Error(diff)
			}
		})
	}
	group.Wait()
}

// A diff that touches nothing is another source than one that nobody asked for.
func TestTheDigestKnowsTheRevision(t *testing.T) {
	t.Parallel()
	_, dir := shop(t)
	with, err := openTree(t, dir, "HEAD").Digest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if without, err := openTree(t, dir, "").Digest(t.Context()); err != nil || without == with {
		t.Errorf("%s, with a revision %s (%v)", without, with, err)
	}
}

func TestRemovedFilesBear(t *testing.T) {
	t.Parallel()
	commit, dir := shop(t)
	if err := os.Remove(filepath.Join(dir, "cart", "cart.go")); err != nil {
		t.Fatal(err)
	}
	commit(map[string]string{"cart/new.go": "package cart\n"})
	want := []string{"cart/cart.go package Total", "cart/new.go package"}
	if diff := cmp.Diff(want, reached(openTree(t, dir, "HEAD~1").BearingOf(failedTotal))); diff != "" {
		t.Error(diff)
	}
}
