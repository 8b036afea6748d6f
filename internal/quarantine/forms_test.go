package quarantine_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/internal/quarantine"
)

func form(t testing.TB, name string) *quarantine.Form {
	t.Helper()
	forms := quarantine.Forms()
	i := slices.IndexFunc(forms, func(f quarantine.Form) bool { return f.Name == name })
	if i < 0 {
		t.Fatalf("no form %s", name)
	}
	return &forms[i]
}

func entries(group string, names ...string) *quarantine.File {
	f := quarantine.New("q.yaml")
	for _, name := range names {
		f.Add(quarantine.Entry{Test: group + "." + name, Group: group, Reason: "r", Owner: "o", Since: "2026-11-26", Expires: "2026-12-26", Proof: quarantine.Proof{Runs: "x"}})
	}
	return f
}

// unescape undoes one form of escapes.
func unescape(s string, escape *regexp.Regexp, base int) string {
	return escape.ReplaceAllStringFunc(s, func(m string) string {
		n, err := strconv.ParseInt(escape.FindStringSubmatch(m)[1], base, 32)
		if err != nil {
			return m
		}
		return string(rune(n))
	})
}

// TestAccept_IG3_NothingElseIsLeftOut writes names with characters that mean something to shells, expressions and files, and reads the forms as the
// runners do: exactly these names are left out.
func TestAccept_IG3_NothingElseIsLeftOut(t *testing.T) {
	t.Parallel()
	outer := t
	const characters = "aB1 _.$^*+?()[]{}|\\/-,;:'\"`<>&#~!=@%éß世😀\n\x00"
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune(characters)), 1, 8, -1)
		names := rapid.SliceOfNDistinct(name, 1, 5, rapid.ID).Draw(t, "names")
		other := rapid.SliceOfN(name, 0, 20).Draw(t, "others")
		for _, n := range names { // near ones
			other = append(other, n, n+"x", "x"+n, strings.ToUpper(n), strings.ReplaceAll(n, ".", "x"), n[:len(n)/2])
		}
		var plain []string
		for _, n := range names {
			if !strings.ContainsAny(n, "\n\x00") {
				plain = append(plain, n)
			}
		}
		f := entries("g", names...)
		check := func(form, text string, leaves func(name string) bool) {
			for _, n := range other {
				if strings.ContainsAny(n, "\n\x00") || n == "" {
					continue
				}
				if want := slices.Contains(plain, n); leaves(n) != want {
					t.Fatalf("%s %q: %q is left out: %v, want %v", form, text, n, !want, want)
				}
			}
		}
		write := func(name string) string {
			w := form(outer, name).Write(f, "")
			if len(w.Left)+w.Tests != len(names) || w.Tests != len(plain) && name != "surefire" {
				t.Fatalf("%s: %d tests of %d, %v", name, w.Tests, len(names), w.Left)
			}
			text, ok := strings.CutSuffix(w.Text, "\n")
			if name != "pytest" && name != "surefire" && (!ok || strings.Contains(text, "\n")) {
				t.Fatalf("%s: %q is not one line", name, w.Text)
			}
			return text
		}
		write("gotest") // TestAccept_IG3_GoTestObeys has such names
		jest := write("jest")
		inner := regexp.MustCompile("^" + strings.TrimSuffix(strings.TrimPrefix(jest, "^(?!"), ")") + "")
		check("jest", jest, func(n string) bool { return inner.MatchString("g " + n) })

		ctest := write("ctest")
		cmake := regexp.MustCompile(strings.NewReplacer("{", `\{`, "}", `\}`).Replace(ctest)) // braces mean nothing to CMake
		check("ctest", ctest, cmake.MatchString)

		nextest := write("nextest")
		var list []string
		for _, m := range regexp.MustCompile(`binary_id\(=g\) & test\(=([^)]*)\)`).FindAllStringSubmatch(nextest, -1) {
			if strings.ContainsAny(m[1], " /,()'\"") {
				t.Fatalf("nextest: %q", m[1])
			}
			list = append(list, unescape(m[1], regexp.MustCompile(`\\u\{([0-9a-f]+)\}`), 16))
		}
		check("nextest", nextest, func(n string) bool { return slices.Contains(list, n) })

		pytest := write("pytest")
		list = nil
		for _, m := range regexp.MustCompile(`(?m)^    \("g", "([^"]*)"\),$`).FindAllStringSubmatch(pytest, -1) {
			list = append(list, unescape(m[1], regexp.MustCompile(`\\U([0-9a-f]{8})`), 16))
		}
		check("pytest", pytest, func(n string) bool { return slices.Contains(list, n) })

		for line := range strings.Lines(write("surefire")) {
			if !regexp.MustCompile(`^g#[\p{L}_$][\p{L}\p{N}_$]*\n?$`).MatchString(line) {
				t.Fatalf("surefire: %q", line)
			}
		}
	})
}

func TestAccept_IG3_FormsOfTests(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		form, group, id, want string
		left                  int
	}{
		{"gotest", "example.com/a.b/cart", "example.com/a.b/cart.TestA/v1.2/x#01", `^TestA$/^v1\.2$/^x#01$`, 0},
		{"gotest", "", "example.com/a.b/cart.TestA/v1.2", `^TestA$/^v1\.2$`, 0},
		{"gotest", "", "example.com/cart", "^$", 1}, // a package
		{"jest", "cart", "cart.totals (two)", `^(?!(?:cart totals \(two\))$)`, 0},
		{"jest", "weather", "cart totals", `^(?!(?:cart totals)$)`, 0}, // the group is that of another test in the file
		{"jest", "src/cart.test.js", "src/cart.test.js.cart totals", `^(?!(?:cart totals)$)`, 0},
		{"vitest", "src/cart.test.ts", "src/cart.test.ts.cart > totals", `^(?!\s*(?:cart (?:> )?totals)$)`, 0},
		{"vitest", "", "src/cart.test.ts.cart > totals", `^(?!\s*(?:cart (?:> )?totals)$)`, 0},
		{"surefire", "", "com.example.CartTest$Inner.total", "com.example.CartTest$Inner#total", 0},
		{"surefire", "", "com.example.CartTest.total()", "com.example.CartTest#total", 0},
		{"surefire", "com.example.CartTest", "com.example.CartTest.total(int)[1]", "", 1}, // a row
		{"nextest", "", "shop::cart.tests::total", "not ((binary_id(=shop::cart) & test(=tests::total)))", 0},
		{"ctest", "", "cart region (any)", `^(cart region \(any\))$`, 0},
	} {
		f := quarantine.New("q.yaml")
		f.Add(quarantine.Entry{Test: tc.id, Group: tc.group})
		w := form(t, tc.form).Write(f, "")
		if strings.TrimSuffix(w.Text, "\n") != tc.want || len(w.Left) != tc.left {
			t.Errorf("%s of %s: %q, %v", tc.form, tc.id, w.Text, w.Left)
		}
	}
	two := entries("p", "TestA")
	two.Add(quarantine.Entry{Test: "q.TestB", Group: "q"})
	if w := form(t, "gotest").Write(two, ""); w.Text != "^TestA$|^TestB$\n" || !slices.Equal(w.Packages, []string{"p", "q"}) {
		t.Errorf("%+v", w)
	}
	if w := form(t, "gotest").Write(two, "q"); w.Text != "^TestB$\n" || w.Tests != 1 || !slices.Equal(w.Packages, []string{"p", "q"}) {
		t.Errorf("%+v", w)
	}
}
