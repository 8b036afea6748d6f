package testcode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/repo/testcode"
)

const pythonTests = `import pytest
from shop import total

CASES = [
    (1, 2),
]
OTHER = [3]


@pytest.fixture(autouse=True)
def clean():
    yield


@pytest.fixture
def cart():
    text = """
def test_not_me():
"""
    return [text]


def test_sum(cart):
    assert total(cart) == 3
# a comment
@pytest.mark.parametrize(
    "a,b",
    CASES,
)
def test_rows(a, b):
    assert a < b

@pytest.mark.slow
class TestCart:
    LIMIT = 3

    def setup_method(self):
        self.n = 1

    @pytest.mark.skipif(
        False, reason=")")
    def test_sum(self):
        assert self.n

    def test_other(self):
        pass
`

const scriptTests = `import { total } from "./shop";
const rows = [[1, 2]];
const others = [[3, 4]];
// it('is a comment', () => {})
describe('shop (all)', () => {
  beforeEach(() => {
    reset(/[)"']/);
  });
  describe('total', () => {
    it('adds \'two\'', () => {
      expect(total(1)).toBe(1);
    });
    test.each(rows)('adds %i and %s', (a, b) => {
      expect(helper(a)).toBe(b);
    });
    test.each` + "`" + `
      a | b
      ${1} | ${2}
    ` + "`" + `("table $a", ({ a }) => {
      expect(a).toBe(1);
    });
  });
});
function helper(a) {
  return ` + "`${a})`" + `;
}
`

const javaTests = `package shop;

import java.util.stream.Stream;

@Tag("slow")
class CartTest {
  private int n = 1;

  @BeforeEach
  void setUp() { n = 2; }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void positive(int a) {
    if (a > 0) { assertTrue(a > 0, "}"); }
  }

  @ParameterizedTest(name = "{0} is {1}")
  @MethodSource("rows")
  void adds(int a, int b) throws Exception {
    assertEquals(a, b);
  }

  static Stream<Arguments> rows() {
    return Stream.of(Arguments.of(1, 1));
  }

  @Nested
  class Empty {
    @Test void positive() {
      assertEquals(0, 0);
    }
  }
}
`

// A test is found by the name that a report has for it or for one of its rows, with its decorators and annotations, and with what it
// uses of its file.
func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, text, class, name string
		first, last             string   // lines
		uses                    []string // names of the pieces, without that of the rest
		other                   string   // the name of another row, or empty
	}{
		{"t.py", pythonTests, "tests.t", "test_sum", "def test_sum(cart):", "    assert total(cart) == 3", []string{"test_sum", "clean", "cart"}, ""},
		{"t.py", pythonTests, "tests.t", "test_rows[1-2]", "@pytest.mark.parametrize(", "    assert a < b", []string{"test_rows", "clean", "CASES"}, "test_rows[5-6]"},
		{"t.py", pythonTests, "tests.t.TestCart", "test_sum", "    @pytest.mark.skipif(", "        assert self.n", []string{"test_sum in TestCart", "TestCart", "clean", "setup_method in TestCart"}, "test_sum (i=1)"},
		{"t.test.js", scriptTests, "shop (all) total", "adds 'two'", "    it('adds \\'two\\'', () => {", "    });", []string{"adds 'two' in total in shop (all)", "total in shop (all)", "shop (all)", " in shop (all)"}, ""},
		{"t.test.ts", scriptTests, "x", "shop (all) total adds 1 and b", "    test.each(rows)('adds %i and %s', (a, b) => {", "    });", []string{"adds %i and %s in total in shop (all)", "total in shop (all)", "shop (all)", " in shop (all)", "rows", "helper"}, "shop (all) total adds 7 and 8"},
		{"t.test.js", scriptTests, "x", "shop (all) total table 1", "    test.each`", "    });", []string{"table $a in total in shop (all)", "total in shop (all)", "shop (all)", " in shop (all)"}, "shop (all) total table 2"},
		{"t.test.js", scriptTests, "t.test.js", "shop (all) > total > table 1", "    test.each`", "    });", []string{"table $a in total in shop (all)", "total in shop (all)", "shop (all)", " in shop (all)"}, "shop (all) > total > table 2"},
		{"CartTest.java", javaTests, "shop.CartTest", "positive(int)[1]", "  @ParameterizedTest", "  }", []string{"positive in CartTest", "CartTest", "setUp in CartTest"}, "positive(int)[2]"},
		{"CartTest.java", javaTests, "shop.CartTest$Empty", "positive", "    @Test void positive() {", "    }", []string{"positive in Empty in CartTest", "Empty in CartTest", "CartTest", "setUp in CartTest"}, ""},
		{"CartTest.java", javaTests, "shop.CartTest", "adds{int, int}[1]", "  @ParameterizedTest(name = \"{0} is {1}\")", "  }", []string{"adds in CartTest", "CartTest", "setUp in CartTest", "rows in CartTest"}, "adds"},
	} {
		f := testcode.Parse(tt.file, []byte(tt.text))
		i, rows, ok := f.Find(tt.class, tt.name)
		if !ok {
			t.Errorf("%s %s: not found in %+v", tt.class, tt.name, f.Blocks)
			continue
		}
		lines := strings.Split(tt.text, "\n")
		if b := f.Blocks[i]; lines[b.First-1] != tt.first || lines[b.Last-1] != tt.last {
			t.Errorf("%s %s: lines %d to %d: %q to %q", tt.class, tt.name, b.First, b.Last, lines[b.First-1], lines[b.Last-1])
		}
		var names []string
		for _, p := range f.Uses(i) {
			names = append(names, p.Name)
		}
		if diff := cmp.Diff(append(slices.Clone(tt.uses), ""), names); diff != "" {
			t.Errorf("%s %s uses %s", tt.class, tt.name, diff)
		}
		if tt.other != "" && !rows.MatchString(tt.other) || rows.MatchString("another") {
			t.Errorf("%s %s: rows are %s", tt.class, tt.name, rows)
		}
	}
}

// Any text is read, and every block lies in it.
func FuzzParse(f *testing.F) {
	for name, text := range map[string]string{"a.py": pythonTests, "a.ts": scriptTests, "A.java": javaTests} {
		f.Add(name, text)
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		file := testcode.Parse(name, []byte(text))
		if file == nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		for i, b := range file.Blocks {
			if b.First < 1 || b.Last > lines || b.First > b.Last || b.Parent >= i {
				t.Fatalf("block %+v of %d lines", b, lines)
			}
			if i < 20 { // it is searched once for each
				file.Uses(i)
				file.Find("a.b", b.Name)
			}
		}
	})
}
