package promises_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// specification is abi/SPEC.md without its examples and generated tables.
func specification(t *testing.T) string {
	t.Helper()
	b := must.Get(os.ReadFile("../../../../abi/SPEC.md"))(t)
	text := regexp.MustCompile(`(?s)<!-- begin .*?<!-- end \w+ -->`).ReplaceAllString(string(b), "")
	return regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
}

// section gives the text of a clause, such as "9.1".
func section(t *testing.T, number string) string {
	t.Helper()
	_, rest, found := strings.Cut(specification(t), "**§"+number+"**")
	if !found {
		t.Fatalf("SPEC.md has no §%s", number)
	}
	text, _, _ := strings.Cut(rest, "**§")
	return text
}

// promise is an item of the list in a clause of §9: rules, and the code of what breaks them.
type promise struct{ code, rules string }

// promised gives the items of the list in a clause.
func promised(t *testing.T, number string) []promise {
	t.Helper()
	var out []promise
	list, _, _ := strings.Cut(section(t, number), "\n### ")
	for _, item := range strings.Split(list, "\n- `")[1:] {
		code, rules, found := strings.Cut(strings.Join(strings.Fields(item), " "), "`: ")
		if !found {
			t.Errorf("§%s: no code in %q", number, item)
		}
		out = append(out, promise{code, strings.TrimSuffix(rules, ".")})
	}
	if len(out) < 2 {
		t.Fatalf("§%s has no list", number)
	}
	return out
}

var quoted = regexp.MustCompile("`([^`]*)`")

// codesOf gives what stands in backquotes in a text.
func codesOf(text string) []string {
	var out []string
	for _, m := range quoted.FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	return out
}

// mustTests names, for each clause of SPEC.md with a "must" that is about the host or the
// messages, the tests that show it: one for each sentence. Where a sentence asks something
// of an author that no program can check, it says so.
var mustTests = map[string][]string{
	"1.3":  {"for authors: nobody can tell from a module what it was written for"},
	"1.4":  {"TestAccept_PL2_ABadModuleAtASwapLeavesTheIncumbents", "TestAccept_PL2_BadModulesAreRejected"},
	"1.5":  {"TestAccept_CT5_SidesMustDifferInCode", "TestAccept_CT5_EqualSidesAreRejectedAtLoad"},
	"2.6":  {"for authors: host/conformance looks for state that is kept"},
	"2.7":  {"TestAllocatorsThatLie"},
	"2.12": {"for authors: host/conformance has completions come to every outcome"},
	"3.7":  {"TestSizeCap", "TestAccept_FR10_HostCodecRejectsEveryClassOfEveryType"},
	"3.12": {"for authors: host/conformance sends requests with absent fields"},
	"4.1":  {"for authors: host/conformance asks again under another name of the node"},
	"4.12": {"TestAccept_FX4_Section9_2_AnswersAndTheirRequests"},
	"4.15": {"for authors: host/conformance asks for an unknown rule"},
	"4.17": {"for authors: host/conformance asks without a profile"},
}

// testNames lists the tests of the module.
func testNames(t *testing.T) []string {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(t \*testing\.T\)`)
	var names []string
	for _, root := range []string{"../../../../abi", "../../../../host", "../../../../plugins"} {
		must.Do(t, filepath.WalkDir(root, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
				names = append(names, m[1])
			}
			return err
		}))
	}
	return names
}

// A new sentence with a "must" needs a test, or a reason why there is none.
func TestAccept_FX4_EveryMustOfTheSpecificationHasATest(t *testing.T) {
	t.Parallel()
	clause := regexp.MustCompile(`(?s)\*\*§(\d+\.\d+)\*\*(.*?)(?:\n## |\z)`)
	must := regexp.MustCompile(`\b[Mm]ust\b`)
	found := map[string]int{}
	for _, part := range strings.SplitAfter(strings.ReplaceAll(specification(t), "**§", "\x00**§"), "\x00") {
		if m := clause.FindStringSubmatch(part); m != nil {
			found[m[1]] = len(must.FindAllString(m[2], -1))
		}
	}
	if len(found) < 50 {
		t.Fatalf("only %d clauses were found", len(found))
	}
	tests := testNames(t)
	for number, n := range found {
		if n != len(mustTests[number]) {
			t.Errorf("§%s has %d sentences with a must, and mustTests names %d tests", number, n, len(mustTests[number]))
		}
	}
	for number, names := range mustTests {
		if _, there := found[number]; !there {
			t.Errorf("SPEC.md has no §%s", number)
		}
		for _, name := range names {
			known := func(test string) bool { return strings.HasPrefix(test, name) }
			if !strings.HasPrefix(name, "for authors: ") && !slices.ContainsFunc(tests, known) {
				t.Errorf("§%s: there is no test %s", number, name)
			}
		}
	}
}
