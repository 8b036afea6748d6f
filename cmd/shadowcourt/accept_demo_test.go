package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAccept_AL10_TheDemoIsRight runs what `make demo` runs, and then the command that README.md begins with, in the demo's repository:
// it must print what README.md shows. It needs the releases of the demo's module, from the module cache or the proxy.
func TestAccept_AL10_TheDemoIsRight(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tool := func(args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "go", append([]string{"run", "./tools/demo", "-out", dir}, args...)...)
		cmd.Dir = repositoryRoot(t)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := tool(); err != nil {
		if strings.Contains(out, "proxy") || strings.Contains(out, "lookup") || strings.Contains(out, "dial") {
			t.Skipf("no module proxy: %s", out)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	_, line, _ := strings.Cut(page(t, "Makefile"), "$(BIN) alibi ")
	line, _, _ = strings.Cut(line, " || test $$? -eq 3\n")
	shell(t, dir, "TZ=Asia/Tokyo shadowcourt alibi "+strings.ReplaceAll(line, "out/demo/", ""))
	said, err := tool("-check")
	right, open := strings.Count(said, " right\n"), len(openByChance.FindAllString(said, -1))
	if right+open != 6 || (open == 0) != (err == nil) {
		t.Errorf("not all answers are right: %v\n%s", err, said)
	}

	readme := page(t, "README.md")
	command := strings.TrimSpace(shownCommands(t, readme, "shadowcourt alibi")[0])
	shown := block(t, readme, command)
	printed := shell(t, filepath.Join(dir, "uuid"), "TZ=Asia/Tokyo "+command+" 2>/dev/null")
	fault := difference(shown, printed)
	if fault == "" {
		return
	}
	if !*update {
		t.Errorf("README.md shows another output of %s than this, -update writes it: %s\n%s", command, fault, printed)
		return
	}
	for strings.Count(printed, "TestS") != 3 { // some fail by chance, and README.md shows all
		printed = shell(t, filepath.Join(dir, "uuid"), "TZ=Asia/Tokyo "+command+" 2>/dev/null")
	}
	text := strings.Replace(readme, shown, strings.TrimSuffix(printed, "\n"), 1)
	if err := os.WriteFile(filepath.Join(repositoryRoot(t), "README.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

var (
	// number is what differs from run to run: counts of runs and seconds. Parts of commit ids are none.
	number = regexp.MustCompile(`\b(\d+|none)\b`)
	// openByChance are rows of those tests whose runs happened not to be enough.
	openByChance = regexp.MustCompile(`(?m)^Test(Strings|Spread) .* open: .*$`)
	// byChance are the tests of the demo that fail in some runs. How often decides how many runs an answer takes, and of what it speaks.
	byChance = regexp.MustCompile(`^(TestStrings|TestSpread) +(YOURS|not yours|open)`)
)

// difference compares two outputs of alibi; empty for none. Numbers don't count. Of a test that fails by chance the verdict counts, if it
// failed in this run, and then the sentence with the sum.
func difference(shown, printed string) string {
	masked := func(text string) (lines []string, chance int) {
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			if verdict := byChance.FindString(line); verdict != "" {
				line, chance = verdict, chance+1
			}
			lines = append(lines, strings.Join(strings.Fields(number.ReplaceAllString(line, "N")), " "))
		}
		return lines, chance
	}
	want, all := masked(shown)
	got, failed := masked(printed)
	for len(want) > 0 {
		switch line := want[0]; {
		case len(got) > 0 && got[0] == line:
			got = got[1:]
		case failed < all && (byChance.MatchString(line) || len(want) == 1 && len(got) == 1):
		default:
			return "no line " + line
		}
		want = want[1:]
	}
	return strings.Join(got, "\n")
}
