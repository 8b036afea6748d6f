package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_AL10_TheDemoIsRight runs what `make demo` runs, and then the command that README.md begins with, in the demo's repository:
// it must print what README.md shows. It needs the releases of the demo's module, from the module cache or the proxy.
func TestAccept_AL10_TheDemoIsRight(t *testing.T) {
	t.Parallel()
	tier.Long(t, "tools/demo", "cmd/shadowcourt/internal/alibi", "README.md", "host/alibi", "host/experiment", "pipelines/profiles/alibi.yaml")
	dir, program := t.TempDir(), filepath.Join(t.TempDir(), "demo")
	shadowcourt := must.Get(exec.LookPath("shadowcourt"))(t)
	var checked said
	for _, words := range [][]string{{"go", "build", "-ldflags=-w", "-o", program, "./tools/demo"}, {program, "-program", shadowcourt, "-out", dir}} {
		cmd := exec.CommandContext(t.Context(), words[0], words[1:]...) // with the user's proxy, whose modules it asks for
		cmd.Dir = repositoryRoot(t)
		checked = executed(t, cmd)
	}
	right, open := strings.Count(checked.out, " right\n"), len(openByChance.FindAllString(checked.out, -1))
	if right+open != 6 || (open == 0) != (checked.code == 0) {
		t.Errorf("not all answers are right: %v", checked)
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
	for strings.Count(printed, "TestS") != 3 || strings.Contains(printed, " open ") { // some fail by chance, and README.md shows all
		printed = shell(t, filepath.Join(dir, "uuid"), "TZ=Asia/Tokyo "+command+" 2>/dev/null")
	}
	text := strings.Replace(readme, shown, strings.TrimSuffix(printed, "\n"), 1)
	must.Do(t, os.WriteFile(filepath.Join(repositoryRoot(t), "README.md"), []byte(text), 0o600))
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
// failed in this run and is not open; the last line has the sums.
func difference(shown, printed string) string {
	masked := func(text string) (lines []string, chance int) {
		for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
			if row := byChance.FindStringSubmatch(line); row != nil && row[2] == "open" {
				continue
			} else if row != nil {
				line, chance = row[0], chance+1
			}
			lines = append(lines, strings.Join(strings.Fields(number.ReplaceAllString(line, "N")), " "))
		}
		return lines, chance
	}
	want, all := masked(shown)
	got, failed := masked(printed)
	if failed < all { // their rows are missing, and the sums are others
		want = slices.DeleteFunc(want[:len(want)-1], func(line string) bool { return byChance.MatchString(line) && !slices.Contains(got, line) })
		got = got[:len(got)-1]
	}
	return cmp.Diff(want, got)
}
