package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// testdata/before keeps what the command of commit 370f0b16 answered. `make golden` leaves it alone: what may differ from it stands in
// differences.txt with its reason. With SHADOWCOURT_BEFORE, that command's file, the tests show what differs; -update then writes results.txt.
var oldCommand = os.Getenv("SHADOWCOURT_BEFORE")

func beforeFile(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", "before", name)))(t)
}

// differences are the things that may differ, by "field", "run" or "file" and their name. Each has a reason.
func differences(t *testing.T) map[string]bool {
	t.Helper()
	may := map[string]bool{}
	for line := range strings.Lines(string(beforeFile(t, "differences.txt"))) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		what, why, _ := strings.Cut(line, ": ")
		if kind, _, _ := strings.Cut(what, " "); why == "" || kind != "field" && kind != "run" && kind != "file" {
			t.Fatalf("differences.txt: %q: want field, run or file with a name, a colon and the reason", line)
		}
		may[what] = true
	}
	return may
}

// resultRuns are compared by TestAccept_HX3_HS4_LB4_ResultsStay: all example dockets, with profiles, another Light and audits, too. The
// first ones are short and run in every test.
func resultRuns(t *testing.T) []string {
	t.Helper()
	runs := []string{
		"try examples/dockets/demo.jsonl --profile examples/dockets/demo.yaml",
		"try examples/dockets/tour.jsonl",
		"try examples/dockets/inputs/surefire.xml",
		"audit examples/audit/opinions.jsonl",
	}
	if !tier.Whole("plugins", "pipelines", "host/internal/court", "abi/odds") {
		return runs
	}
	runs = append(runs,
		"audit examples/audit/opinion.txt --document examples/audit/log.txt",
		"audit examples/audit/invented.txt --document examples/audit/log.txt",
		"try examples/dockets/go-test-1.jsonl --profile examples/dockets/demo.yaml",
		"try examples/dockets/go-test-1.jsonl --profile go-test",
		"try examples/dockets/go-fit-1.jsonl --light rca",
		"try examples/dockets/go-failures.jsonl --profile go-test --audit",
		"try examples/dockets/inputs/gotestsum.xml",
		"try examples/dockets/inputs/jest.xml",
		"try examples/dockets/inputs/pytest.xml",
		"try examples/dockets/inputs/reportportal.json",
	)
	dockets, err := filepath.Glob(filepath.Join(repositoryRoot(t), "examples", "dockets", "*.json*"))
	if err != nil || len(dockets) < 10 {
		t.Fatalf("%d dockets: %v", len(dockets), err)
	}
	for _, docket := range dockets {
		if run := "try examples/dockets/" + filepath.Base(docket); !slices.Contains(runs, run) {
			runs = append(runs, run)
		}
	}
	return runs
}

// TestAccept_HX3_HS4_LB4_ResultsStay compares a digest of each field of all results of a run with that of the version before.
func TestAccept_HX3_HS4_LB4_ResultsStay(t *testing.T) {
	t.Parallel()
	dir, may := repositoryRoot(t), differences(t)
	results := func(command, run string) string { return shell(t, dir, command+" "+run+" --format jsonl") }
	if *update && oldCommand != "" {
		var text strings.Builder
		for _, run := range resultRuns(t) {
			fmt.Fprintf(&text, "%s: %s\n", run, fieldsOf(t, results(oldCommand, run), nil))
		}
		must.Do(t, os.WriteFile(filepath.Join("testdata", "before", "results.txt"), []byte(text.String()), 0o600))
	}
	want := map[string]string{}
	for line := range strings.Lines(string(beforeFile(t, "results.txt"))) {
		run, fields, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[run] = fields
	}
	for _, run := range resultRuns(t) {
		if may["run "+run] {
			continue
		}
		now := results("shadowcourt", run)
		diff := cmp.Diff(keptFields(strings.Fields(want[run]), may), strings.Fields(fieldsOf(t, now, may)))
		if diff == "" {
			continue
		}
		if oldCommand != "" {
			diff += firstDifference(t, results(oldCommand, run), now, may)
		}
		t.Errorf("%s: results differ from those of 370f0b16; `make compare-results` shows where, testdata/before/differences.txt says what may (-before +now):\n%s", run, diff)
	}
}

// keptFields are the digests of fields that may not differ.
func keptFields(fields []string, may map[string]bool) []string {
	return slices.DeleteFunc(fields, func(f string) bool {
		name, _, _ := strings.Cut(f, "=")
		return may["field "+name]
	})
}

// fieldsOf gives the number of results and a digest of each field over all of them, without the fields that may differ.
func fieldsOf(t *testing.T, results string, may map[string]bool) string {
	t.Helper()
	fields, lines := map[string][]byte{}, 0
	for line := range strings.Lines(results) {
		var result map[string]any
		must.Do(t, json.Unmarshal([]byte(line), &result), line)
		for name, value := range result {
			if !may["field "+name] && name != "modules" && name != "fuel" {
				sum := sha256.Sum256(fmt.Appendf(fields[name], "%d %s\n", lines, withoutBuilds(value)))
				fields[name] = sum[:]
			}
		}
		lines++
	}
	text := fmt.Appendf(nil, "%d", lines)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		text = fmt.Appendf(text, " %s=%x", name, fields[name][:6])
	}
	return string(text)
}

// firstDifference shows the first result that differs.
func firstDifference(t *testing.T, was, is string, may map[string]bool) string {
	t.Helper()
	now := slices.Collect(strings.Lines(is))
	for line := range strings.Lines(was) {
		var a, b map[string]any
		must.Do(t, json.Unmarshal([]byte(line), &a))
		if len(now) > 0 {
			must.Do(t, json.Unmarshal([]byte(now[0]), &b))
			now = now[1:]
		}
		ignored := cmp.FilterPath(func(p cmp.Path) bool {
			key, ok := p.Last().(cmp.MapIndex)
			return ok && (key.Key().String() == "modules" || key.Key().String() == "fuel" || len(p) == 2 && may["field "+key.Key().String()])
		}, cmp.Ignore())
		if diff := cmp.Diff(a, b, ignored); diff != "" {
			return fmt.Sprintf("the first is %v:\n%s", a["id"], diff)
		}
	}
	return ""
}

// withoutBuilds gives a JSON value as text, its fields in order, without the digests of modules and their fuel.
func withoutBuilds(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "modules" && name != "fuel" {
				fmt.Fprintf(&b, "%q:%s,", name, withoutBuilds(v[name]))
			}
		}
		return "{" + b.String() + "}"
	case []any:
		var b strings.Builder
		for _, e := range v {
			b.WriteString(withoutBuilds(e) + ",")
		}
		return "[" + b.String() + "]"
	}
	return fmt.Sprintf("%#v", v)
}

// TestAccept_HX3_GoldenFilesStay: what readers, renderers and graphs must give, and the vectors of the SPEC, have the bytes that they had,
// wherever they stand now.
func TestAccept_HX3_GoldenFilesStay(t *testing.T) {
	t.Parallel()
	may, stands := differences(t), map[string]bool{}
	err := filepath.WalkDir(repositoryRoot(t), func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (e.Name() == ".git" || e.Name() == "out" || e.Name() == "bin"):
			return filepath.SkipDir
		case e.IsDir() || !strings.Contains(filepath.ToSlash(path), "/testdata/"):
			return nil
		}
		data, err := os.ReadFile(path)
		stands[fmt.Sprintf("%x", sha256.Sum256(data))[:16]] = true
		return err
	})
	must.Do(t, err)
	n := 0
	for line := range strings.Lines(string(beforeFile(t, "files.txt"))) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if n++; stands[digest] == may["file "+name] {
			t.Errorf("%s: unchanged %t, may differ %t by testdata/before/differences.txt; `git diff 370f0b16 -- %s`", name, stands[digest], may["file "+name], name)
		}
	}
	if n < 100 {
		t.Errorf("%d files", n)
	}
}

var notReplayed = regexp.MustCompile(`can.t be replayed: (?:the audit: )?neither embedded nor in the store: `)

// TestAccept_HX3_RecordsReplay verifies and replays records that the version before wrote: trials with audits, trials of the Light path
// with a profile, and a proof of alibi. Where modules changed, they come from the command before, if there is one.
func TestAccept_HX3_RecordsReplay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	decoder := must.Get(zstd.NewReader(nil))(t)
	defer decoder.Close()
	store := ""
	if oldCommand != "" {
		store = " --store store"
		shell(t, dir, oldCommand+" record key new k >key && "+oldCommand+" try "+filepath.Join(repositoryRoot(t), "examples", "dockets", "tour.jsonl")+
			" --audit --record fresh.record,store=store --key k --format jsonl >results")
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "key.pub"), beforeFile(t, "key.pub"), 0o600))
	for name, whole := range map[string]string{
		"audited": "9 trials and 7 audits replayed, the same bytes", "profile": "12 trials replayed, the same bytes",
		"proof": "3 trials and 3 answers replayed, the same bytes",
	} {
		data := must.Get(decoder.DecodeAll(beforeFile(t, name+".record.zst"), nil))(t)
		must.Do(t, os.WriteFile(filepath.Join(dir, name+".record"), data, 0o600))
		shell(t, dir, "shadowcourt record verify "+name+".record --key key.pub")
		said := shell(t, dir, "shadowcourt record replay "+name+".record --key key.pub"+store+" || true")
		if strings.Contains(said, whole) || oldCommand == "" && notReplayed.MatchString(said) && !strings.Contains(said, "not the same") {
			continue
		}
		t.Errorf("%s.record:\n%s", name, said)
	}
}

// TestAccept_RH4_FitCannotReadTheReportingHalf: no file of that half of lab/histories gives a profile, neither as it is saved nor
// decompressed, nor beside a docket that can be fitted on, to which it adds no case.
func TestAccept_RH4_FitCannotReadTheReportingHalf(t *testing.T) {
	t.Parallel()
	root := repositoryRoot(t)
	files, err := filepath.Glob(filepath.Join(root, "lab", "histories", "saved", "reporting", "*.jsonl.zst"))
	if err != nil || len(files) == 0 {
		t.Fatalf("nothing is saved of the reporting half: %v", err)
	}
	decoder := must.Get(zstd.NewReader(nil))(t)
	defer decoder.Close()
	var lines []byte
	for _, file := range files {
		compressed := must.Get(os.ReadFile(file))(t)
		lines = must.Get(decoder.DecodeAll(compressed, lines))(t)
	}
	dir := t.TempDir()
	all := filepath.Join(dir, "reporting.jsonl")
	must.Do(t, os.WriteFile(all, lines, 0o600))
	profile := filepath.Join(dir, "p.yaml")
	docket := example(t, "go-failures.jsonl")
	fit := func(args ...string) (output, fitted string) {
		s := execute(t, "", nil, append([]string{"shadowcourt", "fit", "--output", profile}, args...)...)
		return s.all(), textOf(t, profile)
	}
	for _, args := range [][]string{{all}, files, {"--outcomes", all, all}} {
		if output, fitted := fit(args...); fitted != "" {
			t.Errorf("fit %s wrote a profile:\n%s", args, output)
		}
	}
	_, want := fit(docket)
	if want == "" {
		t.Fatal("no profile of the docket alone")
	}
	if output, got := fit(docket, all); got != want {
		t.Errorf("the profile differs beside the reporting half:\n%s", output)
	}
}

// TestWithoutModulesOneSentence builds the command as a fresh clone has it, with no modules to embed.
func TestWithoutModulesOneSentence(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/bundle")
	dir := t.TempDir()
	bin := filepath.Join(dir, "shadowcourt")
	if s := execute(t, "", nil, "go", "build", "-ldflags=-w", "-overlay", hideModules(t, dir), "-o", bin, "."); s.code != 0 {
		t.Fatal(s)
	}
	const want = "shadowcourt: the modules are not built into this program: run `make plugins` and build it again\n"
	for _, args := range [][]string{{bin, "version"}, {bin, "plugin", "inspect", "clerk"}, {bin, "try", example(t, "tour.jsonl")}} {
		if s := execute(t, "", nil, args...); s.code != cli.ExitFailed || s.errors != want {
			t.Errorf("%v: %v, want %q", args, s, want)
		}
	}
	for _, args := range [][]string{{bin, "lint", "defect-court"}, {bin, "graph", "defect-court"}, {bin, "schema"}} {
		execute(t, "", nil, args...).wants(t, 0)
	}
}

// hideModules writes an overlay for the go command in which there are no modules.
func hideModules(t *testing.T, dir string) string {
	t.Helper()
	archive := filepath.Join(repositoryRoot(t), "host", "bundle", "dist", bundle.Archive)
	replace := map[string]string{archive: ""}
	text := must.Get(json.Marshal(map[string]map[string]string{"Replace": replace}))(t)
	writeFiles(t, dir, map[string]string{"overlay.json": string(text)})
	return filepath.Join(dir, "overlay.json")
}
