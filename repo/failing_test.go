package repo_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/repo"
)

const (
	pyTests = `import pytest
from shop import total

CASES = [
    ([1, 2], 3),
]
OTHERS = [4]


def cart():
    return [1, 2]


def test_sum():
    assert total(cart()) == 3
@pytest.mark.parametrize("n", OTHERS)
def test_other(n):
    assert total([n]) == n


@pytest.mark.parametrize("items,want", CASES)
def test_rows(items, want):
    assert total(items) == want


@pytest.mark.slow
class TestCart:
    @pytest.mark.parametrize("a", [1, 2])
    def test_cart(self, a):
        assert total([a]) == a
    @pytest.mark.parametrize("b", [3])
    def test_basket(self, b):
        assert total([b]) == b
`
	jsTests = `const { total } = require('../shop');
describe('shop', () => {
  it('adds', () => {
    expect(total([1])).toBe(1);
  });
  it.each([[1, 2], [3, 4]])('adds %i to %i', (a, b) => {
    expect(total([a, b])).toBe(a + b);
  });
  describe('empty', () => {
    it('adds', () => {
      expect(total([])).toBe(0);
    });
  });
});
`
	javaTests = `package shop;
class ShopTest {
  @Test
  void adds() {
    assertEquals(1, Shop.total(1));
  }
  @ParameterizedTest
  @CsvSource({"1,1", "2,2"})
  void rows(int a, int b) {
    assertEquals(a, Shop.total(b));
  }
  @ParameterizedTest
  @MethodSource("pairs")
  void more(int a, int b) {
    assertEquals(a, Shop.total(b));
  }
  static Stream<Arguments> pairs() {
    return Stream.of(arguments(1, 1));
  }
}
`
	goTests = `package shop

import "testing"

func TestSum(t *testing.T) {
	if total(1) != 1 {
		t.Error("got 0, want 1")
	}
}
func TestGone(t *testing.T) {
	t.Log(3)
}
func TestRows(t *testing.T) {
	for _, name := range []string{
		"one and one",
		"two and two",
	} {
		t.Run(name, func(t *testing.T) { t.Error("got 0, want 1") })
	}
}
`
)

// TestAccept_FZ4_NeighboursAndRows: what a diff changes in a neighbour of the failing test is no change of the test, wherever the lines
// stand; an edited row makes it a changed test.
func TestAccept_FZ4_NeighboursAndRows(t *testing.T) {
	t.Parallel()
	python := func(test, class, line string) string {
		return test + " fails in tests.test_shop" + class + "\ntests/test_shop.py:" + line + ": AssertionError\n"
	}
	script := func(test, line string) string {
		return test + " fails in shop\n    at Object.<anonymous> (tests/shop.test.js:" + line + ":20)\n"
	}
	java := func(test, line string) string {
		return test + " fails in shop.ShopTest\n\tat shop.ShopTest.x(ShopTest.java:" + line + ")\n"
	}
	golang := func(test, line string) string {
		return test + " fails in example.com/shop\n    shop_test.go:" + line + ": got 0, want 1\n"
	}
	const py, js, jv, gopher = "tests/test_shop.py", "tests/shop.test.js", "src/test/java/shop/ShopTest.java", "shop_test.go"
	for _, tt := range []struct {
		name, file, log string
		old, now        string // pairs of text and replacement
		changed, fresh  bool
	}{
		{"the decorator of the next test", py, python("test_sum", "", "15"), `"n", OTHERS`, `"n", [5]`, false, false},
		{"the next test is removed", py, python("test_sum", "", "15"), "@pytest.mark.parametrize(\"n\", OTHERS)\ndef test_other(n):\n    assert total([n]) == n\n", "", false, false},
		{"a test with the same decorator before it", py, python("test_rows[items0-3]", "", "28"), "@pytest.mark.parametrize(\"items,want\", CASES)\n", "@pytest.mark.parametrize(\"items,want\", CASES)\ndef test_more(items, want):\n    assert total(items)\n\n\n@pytest.mark.parametrize(\"items,want\", CASES)\n", false, false},
		{"a variable of another test", py, python("test_sum", "", "15"), "OTHERS = [4]", "OTHERS = [5]", false, false},
		{"a helper of the test", py, python("test_sum", "", "15"), "return [1, 2]", "return [1, 3]", false, false},
		{"a comment of the test", py, python("test_sum", "", "15"), "def test_sum():\n", "def test_sum():\n    # why\n", false, false},
		{"the test itself", py, python("test_sum", "", "15"), "== 3", "== 4", true, false},
		{"a value of its own rows", py, python("test_cart[5]", ".TestCart", "30"), `"a", [1, 2]`, `"a", [5, 2]`, true, false},
		{"rows of another method", py, python("test_cart[1]", ".TestCart", "30"), `"b", [3]`, `"b", [6]`, false, false},
		{"rows in a variable", py, python("test_rows[items0-4]", "", "23"), "([1, 2], 3)", "([1, 2], 4)", false, false},
		{"the decorator of the class", py, python("test_cart[1]", ".TestCart", "30"), "@pytest.mark.slow", "@pytest.mark.fast", false, false},
		{"a test that is new", py, python("test_new", "", "16"), "def test_sum", "def test_new():\n    assert total([1]) == 2\n\n\ndef test_sum", true, true},
		{"rows of the next it.each", js, script("shop adds", "4"), "[[1, 2], ", "[[2, 2], ", false, false},
		{"rows of its own it.each", js, script("shop adds 2 to 2", "7"), "[[1, 2], ", "[[2, 2], ", true, false},
		{"a nested describe", js, script("shop adds", "4"), "toBe(0)", "toBe(1)", false, false},
		{"its own nested describe", js, script("shop empty adds", "11"), "toBe(0)", "toBe(1)", true, false},
		{"annotations of the next method", jv, java("adds", "5"), `"1,1"`, `"1,2"`, false, false},
		{"its own annotations", jv, java("rows(int, int)[1]", "10"), `"1,1"`, `"1,2"`, true, false},
		{"the source of its rows", jv, java("more(int, int)[1]", "15"), "arguments(1, 1)", "arguments(1, 2)", false, false},
		{"the source of another's rows", jv, java("rows(int, int)[1]", "10"), "arguments(1, 1)", "arguments(1, 2)", false, false},
		{"the next Go test is removed", gopher, golang("TestRows", "18"), "func TestGone(t *testing.T) {\n\tt.Log(3)\n}\n", "", false, false},
		{"the next Go test is changed", gopher, golang("TestSum", "7"), "t.Log(3)", "t.Log(4)", false, false},
		{"an edited row", gopher, golang("TestRows/two_and_three", "18"), "two and two", "two and three", true, false},
		{"a further row", gopher, golang("TestRows/two_and_three", "19"), "\t\t\"two and two\",\n", "\t\t\"two and two\",\n\t\t\"two and three\",\n", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git := gitIn(t, dir)
			texts := map[string]string{py: pyTests, js: jsTests, jv: javaTests, gopher: goTests}
			git("init", "-q", "-b", "main")
			must.Write(t, dir, texts)
			must.Write(t, dir, map[string]string{
				"shop.py": "def total(items):\n    return sum(items)\n", "go.mod": "module example.com/shop\n", "shop.go": "package shop\n\nfunc total(n int) int { return 0 }\n",
			})
			git("add", ".")
			git("commit", "-qm", "start")
			changed := strings.Replace(texts[tt.file], tt.old, tt.now, 1)
			if changed == texts[tt.file] {
				t.Fatal("nothing changes")
			}
			must.Write(t, dir, map[string]string{tt.file: changed})
			tree := openSource(t, dir, "HEAD")
			if tests := tree.Tests(tt.log, tree.Frames(tt.log)); len(tests) == 0 || tests[0].Changed != tt.changed || tests[0].New != tt.fresh {
				t.Errorf("tests %+v, want changed %v, new %v", tests, tt.changed, tt.fresh)
			}
			for _, f := range tree.Frames(tt.log) {
				check.Equal(t, tree.Touches(f), tt.changed, "the diff touches", f)
			}
		})
	}
}

// A test that the revision does not have is new; one that was moved is not.
func TestAccept_EX3_NewTests(t *testing.T) {
	t.Parallel()
	table := "package cart\n\nimport \"testing\"\n\nfunc TestTable(t *testing.T) {\n\tfor _, name := range []string{\"a small cart\"} {\n\t\tt.Run(name, func(t *testing.T) {})\n\t}\n}\n"
	for _, tt := range []struct {
		name, log string
		change    map[string]string
		want      repo.Test
	}{
		{"a new test", "TestNew fails in example.com/shop/cart\n", map[string]string{"cart/new_test.go": "package cart\n\nfunc TestNew() {}\n"}, repo.Test{Name: "TestNew", Path: "cart/new_test.go", New: true, Changed: true}},
		{"an old test", "TestTable fails in example.com/shop/cart\n", map[string]string{"README.md": "new\n"}, repo.Test{Name: "TestTable", Path: "cart/table_test.go"}},
		{"a changed test", "TestTable fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": strings.Replace(table, "range", "range append", 1)}, repo.Test{Name: "TestTable", Path: "cart/table_test.go", Changed: true}},
		{"an old subtest", "TestTable/a_small_cart fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": strings.Replace(table, "\"a small cart\"", "\"a small cart\", \"a large cart\"", 1)}, repo.Test{Name: "TestTable", Path: "cart/table_test.go", Changed: true}},
		{"a test that was moved", "TestTable fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": "package cart\n", "cart/moved_test.go": table}, repo.Test{Name: "TestTable", Path: "cart/moved_test.go", Changed: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			git := gitIn(t, dir)
			git("init", "-q", "-b", "main")
			for _, files := range []map[string]string{{"go.mod": "module example.com/shop\n", "cart/table_test.go": table}, tt.change} {
				must.Write(t, dir, files)
				git("add", ".")
				git("commit", "-qm", "change")
			}
			tree := openSource(t, dir, "HEAD~1")
			check.Same(t, cmp.Diff([]repo.Test{tt.want}, tree.Tests(tt.log, tree.Frames(tt.log))))
		})
	}
}

func TestATreeCanBeAskedByMany(t *testing.T) {
	t.Parallel()
	git, _, dir := checkout(t)
	must.Write(t, dir, map[string]string{"bank/ledger.go": strings.Replace(bank, "n < 0", "n <= 0", 1), "bank/ledger_test.go": strings.Replace(test, "1", "2", 1)})
	git("commit", "-qam", "second")
	tree, alone := openSource(t, dir, "HEAD~1"), openSource(t, dir, "HEAD~1")
	answer := func(tree *repo.Source, text string) (tests []repo.Test, touched []bool) {
		frames := tree.Frames(text)
		for _, f := range frames {
			touched = append(touched, tree.Touches(f))
		}
		return tree.Tests(text, frames), touched
	}
	texts := []string{"bank/ledger_test.go:4: wrong\n", "bank/ledger.go:8 +0x1\n", "TestPost fails in example.com/money/v2/bank\n", "nothing\n"}
	var group sync.WaitGroup
	for i := range 16 {
		text := texts[i%len(texts)]
		tests, touched := answer(alone, text)
		group.Go(func() {
			gotTests, gotTouched := answer(tree, text)
			check.Equal(t, cmp.Diff(tests, gotTests)+cmp.Diff(touched, gotTouched), "")
		})
	}
	group.Wait()
}

// A diff that touches nothing is another source than one that nobody asked for.
func TestTheDigestKnowsTheRevision(t *testing.T) {
	t.Parallel()
	_, _, dir := checkout(t)
	with := must.Get(openSource(t, dir, "HEAD").Digest(t.Context()))(t)
	if without, err := openSource(t, dir, "").Digest(t.Context()); err != nil || without == with {
		t.Errorf("%s, with a revision %s (%v)", without, with, err)
	}
}
