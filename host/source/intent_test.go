package source_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/source"
)

const rounded = "package cart\n\n// Round gives a text.\nfunc Round(n int) string {\n\treturn \"about ten\"\n}\n"

// TestAccept_EX4_Intent: what tells that a change was meant is found in the product, in tests, in documents and in the message,
// with hunk, commit and author.
func TestAccept_EX4_Intent(t *testing.T) {
	t.Parallel()
	test := "package cart\n\nimport \"testing\"\n\nfunc TestRound(t *testing.T) {\n\tif got := Round(9); got != \"about nine\" {\n\t\tt.Errorf(\"got %q, want %q\", got, \"about nine\")\n\t}\n}\n"
	log := "TestRound fails in example.com/shop/cart\n    round_test.go:7: got \"about ten\", want \"about nine\"\n    round.go:5: Round\n"
	start := map[string]string{"cart/round.go": strings.Replace(rounded, "ten", "nine", 1), "cart/round_test.go": test}
	for _, tt := range []struct {
		name   string
		change map[string]string
		want   []string
	}{
		{"the value", map[string]string{"cart/round.go": rounded}, []string{"value cart/round.go"}},
		{"a comment", map[string]string{"cart/round.go": strings.Replace(start["cart/round.go"], "// Round gives", "// Round has the value ten as", 1)}, nil},
		{"other tests", map[string]string{
			"cart/round.go": strings.Replace(rounded, "n int", "number int", 1), "cart/more_test.go": "package cart\n\nvar more = \"about ten\"\n",
		}, []string{"value cart/round.go", "tests cart/more_test.go"}},
		{"a document", map[string]string{"cart/round.go": rounded, "README.md": "shop\n\nRound gives tens.\n"}, []string{"value cart/round.go", "documents README.md"}},
		{"the failing test itself", map[string]string{"cart/round_test.go": strings.Replace(test, "!= \"about nine\"", "!= \"about eight\"", 1)}, []string{"expectation cart/round_test.go"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			commit, dir := shop(t)
			commit(start)
			if tt.name == "other tests" {
				commit(map[string]string{"cart/more_test.go": "package cart\n\nvar more = \"about nine\"\n"})
			}
			commit(tt.change)
			b := openTree(t, dir, "HEAD~1").BearingOf(log)
			var got []string
			for _, in := range b.Intents {
				got = append(got, string(in.Kind)+" "+in.Path)
				if in.Hunk.Commit == nil || in.Hunk.Commit.Author != "n" || len(in.Hunk.Commit.Hash) != 12 || strings.Count(in.Hunk.Text, "\n") > 5 {
					t.Errorf("%s: %+v", in.Kind, in.Hunk)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A test, or a subtest, that the revision does not have is new; one that was moved is not.
func TestAccept_EX3_NewTests(t *testing.T) {
	t.Parallel()
	table := "package cart\n\nimport \"testing\"\n\nfunc TestTable(t *testing.T) {\n\tfor _, name := range []string{\"a small cart\"} {\n\t\tt.Run(name, func(t *testing.T) {})\n\t}\n}\n"
	for _, tt := range []struct {
		name, log string
		change    map[string]string
		want      source.Test
	}{
		{"a new test", "TestNew fails in example.com/shop/cart\n", map[string]string{"cart/new_test.go": "package cart\n\nfunc TestNew() {}\n"}, source.Test{Name: "TestNew", Path: "cart/new_test.go", New: true, Changed: true}},
		{"an old test", "TestTable fails in example.com/shop/cart\n", map[string]string{"README.md": "new\n"}, source.Test{Name: "TestTable", Path: "cart/table_test.go"}},
		{"a changed test", "TestTable fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": strings.Replace(table, "range", "range append", 1)}, source.Test{Name: "TestTable", Path: "cart/table_test.go", Changed: true}},
		{"a new subtest", "TestTable/a_large_cart fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": strings.Replace(table, "\"a small cart\"", "\"a small cart\", \"a large cart\"", 1)}, source.Test{Name: "TestTable", Path: "cart/table_test.go", New: true, Changed: true}},
		{"an old subtest", "TestTable/a_small_cart fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": strings.Replace(table, "\"a small cart\"", "\"a small cart\", \"a large cart\"", 1)}, source.Test{Name: "TestTable", Path: "cart/table_test.go", Changed: true}},
		{"a test that was moved", "TestTable fails in example.com/shop/cart\n", map[string]string{"cart/table_test.go": "package cart\n", "cart/moved_test.go": table}, source.Test{Name: "TestTable", Path: "cart/moved_test.go", Changed: true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			commit, dir := shop(t)
			commit(map[string]string{"cart/table_test.go": table})
			commit(tt.change)
			if diff := cmp.Diff([]source.Test{tt.want}, openTree(t, dir, "HEAD~1").BearingOf(tt.log).Tests); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the test does not use does not bear on it, and what it may use by a method or a call at the start does.
func TestAccept_EX3_ChangesThatATestDoesNotUse(t *testing.T) {
	t.Parallel()
	const product = "package cart\n\ntype Item struct{}\n\nfunc (Item) String() string { return \"\" }\n\nfunc (Item) hidden() {}\n\nfunc Use() Item { return Item{} }\n\nvar started = start()\n\nfunc start() int { return 1 }\n\nfunc Other() {}\n"
	for old, want := range map[string]abi.SourceReach{
		"return \"\" }": abi.ReachPackage, "hidden() {": abi.ReachNone, "return Item{}": abi.ReachPackage, "return 1": abi.ReachPackage, "Other() {": abi.ReachNone,
	} {
		commit, dir := shop(t)
		commit(map[string]string{"cart/use.go": product, "cart/use_test.go": "package cart\n\nfunc TestUse() { Use() }\n"})
		commit(map[string]string{"cart/use.go": strings.Replace(product, old, "/* no */ "+strings.NewReplacer("1", "2", "{}", "{} ", "\"\"", "\"a\"", "() {", "() { println();").Replace(old), 1)})
		if old == "return Item{}" {
			commit(map[string]string{"cart/use.go": strings.Replace(product, old, "println(); "+old, 1)})
		}
		b := openTree(t, dir, "HEAD~1").BearingOf("TestUse fails in example.com/shop/cart\n")
		if len(b.Changes) != 1 || b.Changes[0].Reach != want {
			t.Errorf("%s: %+v, want %s", old, b.Changes, want)
		}
	}
}

// What says that a change was meant: the comment of the function that the test names, a list of changes that quotes what the test is
// about, a new message of the product. Spelling, names of files and crashes do not.
func TestAccept_EX4_IntentWithoutCommits(t *testing.T) {
	t.Parallel()
	const (
		old = "package cart\n\n// Round gives a text.\nfunc Round(n int) string { return name(n) }\n\nfunc name(int) string { return \"\" }\n"
		now = "package cart\n\n// Round gives a text.\nfunc Round(n int) string { return name(n + 1) }\n\nfunc name(int) string { return \"\" }\n"
	)
	test := "package cart\n\nimport \"testing\"\n\nfunc TestRoundDown(t *testing.T) {\n\tt.Run(\"%g\", func(t *testing.T) { helper(t, Round(9)) })\n}\n"
	const log = "TestRoundDown/%g fails in example.com/shop/cart\n    helper_test.go:3: unexpected error: can't round 9 to the nearest ten\n"
	for _, tt := range []struct {
		name, log string
		change    map[string]string
		want      []string
	}{
		{"nothing", log, nil, nil},
		{"comment", log, map[string]string{"cart/round.go": strings.Replace(now, "gives a text", "always gives the next text", 1)}, []string{"documents cart/round.go"}},
		{"spelling", log, map[string]string{"cart/round.go": strings.Replace(now, "// Round gives", "//Round gives", 1)}, nil},
		{"list of changes", log, map[string]string{"CHANGELOG.md": "* `%g` is rounded up\n"}, []string{"documents CHANGELOG.md"}},
		{"other code", log, map[string]string{"CHANGELOG.md": "* `%gs` is rounded up\n"}, nil},
		{"message", log, map[string]string{"cart/round.go": strings.Replace(now, "return \"\"", "panic(fmt.Errorf(\"can't round %d to the nearest ten\", 9))", 1)}, []string{"value cart/round.go"}},
		{"crash", log + "panic: runtime error: index out of range [1] with length 1\n", map[string]string{"CHANGELOG.md": "* Round rounds up\n"}, nil},
		{"name of a file", strings.NewReplacer("TestRoundDown", "TestDown", "helper_test", "Round_test").Replace(log), map[string]string{"CHANGELOG.md": "* Round rounds up\n"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			commit, dir := shop(t)
			commit(map[string]string{
				"cart/round.go": old, "cart/round_test.go": strings.ReplaceAll(test, "TestRoundDown", strings.Split(tt.log, "/")[0]),
				"cart/helper_test.go": "package cart\n\n// helper fails.\nfunc helper() {}\n",
			})
			head := map[string]string{"cart/round.go": now}
			maps.Copy(head, tt.change)
			commit(head)
			b := openTree(t, dir, "HEAD~1").BearingOf(tt.log)
			var got []string
			for _, in := range b.Intents {
				got = append(got, string(in.Kind)+" "+in.Path)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if len(b.Tests) != 1 || b.Tests[0].Path != "cart/round_test.go" {
				t.Errorf("tests %+v", b.Tests)
			}
		})
	}
}
