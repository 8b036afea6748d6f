package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// homeWith is a user's home with one file. It is not below /tmp, which tests in experiments do not see anyway.
func homeWith(t *testing.T, name, text string) string {
	t.Helper()
	here := must.Get(os.Getwd())(t)
	if strings.HasPrefix(here, os.TempDir()+"/") || strings.HasPrefix(here, "/tmp/") {
		t.Skip("this checkout is below the folder of temporary files, which experiments hide in any case")
	}
	home, err := os.MkdirTemp(here, "home-") //nolint:usetesting // not below /tmp
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	writeFiles(t, home, map[string]string{name: text})
	return home
}

// envOf are the variables of a user with that home, and with the caches of this one. The go command writes its counters elsewhere, since it
// may do so when the test has ended.
func envOf(t *testing.T, home string) []string {
	t.Helper()
	config := must.Get(os.UserConfigDir())(t)
	env := append(userEnv(t), "HOME="+home, "XDG_CONFIG_HOME="+config)
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		env = append(env, name+"="+strings.TrimSpace(execute(t, "", nil, "go", "env", name).out))
	}
	return env
}

// TestAccept_FZ3_AFailureThatNeedsTheHomeIsOpen: a test that fails for a file of the user's home, and does not say so, passes or fails in
// another way where it can't read that file. However much the message looks like the environment, that is open. The next step is the
// run that shows the home, and with it the failure comes back.
func TestAccept_FZ3_AFailureThatNeedsTheHomeIsOpen(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment", "host/alibi")
	if !isolate.HidesFiles() {
		t.Skip("this system hides no files")
	}
	home := homeWith(t, ".shop/spool", "full")
	goTest := func(without string) string {
		return `package shop

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSpool(t *testing.T) {
	home, _ := os.UserHomeDir()
	spool, err := os.ReadFile(filepath.Join(home, ".shop", "spool"))
	if err != nil {
		` + without + `
	}
	if string(spool) == "full" {
		t.Errorf("write the spool: permission denied")
	}
}
`
	}
	for _, tt := range []struct{ name, without, conclusion string }{
		{"passes", "return", "reruns of the same tree passed. Chance caused it, or the machine where it failed, or a file or variable of yours that the reruns did not have."},
		{"fails in another way", `t.Fatal("no orders were found in the shop")`, "No experiment counts (the failure does not come back: each rerun fails, but not as the report says"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &project{green: map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "shop.go": "package shop\n", "shop_test.go": goTest(tt.without)}}
			p.write(t)
			said := "" // on the standard error, last
			run := func(name string, args ...string) string {
				s := execute(t, p.dir, envOf(t, home), append([]string{name}, args...)...)
				if s.code != 0 && name == "shadowcourt" {
					t.Fatal(s)
				}
				said = s.errors
				return s.out
			}
			p.add(t, map[string]string{"report.json": run("go", "test", "-json", "./...")})
			try := func(args ...string) (r trial.Result) {
				out := run("shadowcourt", append([]string{"try", "report.json", "--format", "jsonl"}, args...)...)
				must.Do(t, json.Unmarshal([]byte(out), &r), out)
				return r
			}
			if read := try().Final; read.Classification != "si001" {
				t.Fatalf("by reading it is %+v, so that this test shows nothing", read)
			}
			hidden := try("--source", ".", "--experiments", "reruns")
			if hidden.Final.Status != trial.Acquitted || !strings.Contains(hidden.Verdict.Reasoning, "no experiment shows that the environment caused it") {
				t.Errorf("without the home %+v: %s", hidden.Final, hidden.Verdict.Reasoning)
			}
			if p := hidden.Proposal; p == nil || p.Allow != "home" || p.Product != "head" || p.Tests != "head" || p.Environment != "original" {
				t.Errorf("proposed is %+v", p)
			}
			table := run("shadowcourt", "try", "report.json", "--source", ".", "--experiments", "reruns")
			if line := strings.Join(strings.Fields(table), " "); !strings.Contains(line, tt.conclusion) ||
				!strings.Contains(line, "next: run this tree, 5 times, with --experiments home, in about") {
				t.Errorf("it says:\n%s", table)
			}
			check.Contains(t, said, "shadowcourt try report.json --explain example.com/shop.TestSpool --experiments all,home --source .\n", "it says")
			shown := try("--source", ".", "--experiments", "reruns,home")
			if first := shown.Experiments[0]; first.Same != 5 || shown.Proposal != nil && shown.Proposal.Allow != "" {
				t.Errorf("with the home %+v, and proposed is %+v", first, shown.Proposal)
			}
		})
	}
}

// TestAccept_FZ8_NoSecretOfTheHomeIsTold: tests that read a key of the user's home and print it tell it to nobody: it is in no result, page
// or record of their experiments. Nothing is said of the environment, since the failure may need what is hidden.
func TestAccept_FZ8_NoSecretOfTheHomeIsTold(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/experiment", "host/alibi")
	const secret = "planted-0b5c1e"
	home := homeWith(t, ".ssh/id_test", secret)
	key := filepath.Join(home, ".ssh", "id_test")
	goTest := "package shop\n\nimport (\"os\"; \"testing\")\n\nfunc TestKey(t *testing.T) {\n\tdata, _ := os.ReadFile(\"" + key + "\")\n\tif len(data) > 0 {\n\t\tt.Errorf(\"the key is %s\", data)\n\t}\n}\n"
	goReport := `{"Action":"run","Package":"example.com/shop","Test":"TestKey"}
{"Action":"output","Package":"example.com/shop","Test":"TestKey","Output":"    shop_test.go:8: the key ` + key + ` is bad\n"}
{"Action":"output","Package":"example.com/shop","Test":"TestKey","Output":"--- FAIL: TestKey (0.00s)\n"}
{"Action":"fail","Package":"example.com/shop","Test":"TestKey"}
{"Action":"fail","Package":"example.com/shop"}
`
	// A runner such as pytest: a program of PATH that reads files of the user, and writes a report.
	script := "#!/bin/sh\nif key=$(cat " + key + "); then body=\"<failure>the key is $key</failure>\"; fi\n" +
		"echo \"<testsuite><testcase classname='shop' name='key'>$body</testcase></testsuite>\" >$1\n"
	definition := "name: mine\nmarkers: [{file: mine.ini}]\nprograms: [./mine]\ntests:\n  - alone: [\"{report}\"]\n    order: [\"{report}\"]\n"
	for _, tt := range []struct {
		name, report, id string
		files            map[string]string
		args             []string
	}{
		{"go", goReport, "example.com/shop.TestKey", map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "shop.go": "package shop\n", "shop_test.go": goTest}, nil},
		{
			"defined", "<testsuite><testcase classname='shop' name='key'><failure>the key " + key + " is bad</failure></testcase></testsuite>", "shop.key",
			map[string]string{"mine.ini": "a\n", "mine": script},
			[]string{"--runner", "mine.yaml"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := &project{green: tt.files, head: map[string]string{"report.out": tt.report, "mine.yaml": definition}}
			p.write(t)
			run := func(args ...string) string {
				args = append(append(args, tt.args...), "--source", ".", "--since", "green")
				s := execute(t, p.dir, envOf(t, home), append([]string{"shadowcourt"}, args...)...)
				must.Equal(t, s.code, 0, s)
				return s.all()
			}
			shell(t, p.dir, "shadowcourt key new ../key && echo done")
			out := run("try", "report.out", "--experiments", "all", "--format=json", "--report", "page.html", "--record", "record", "--key", "../key")
			out += run("try", "report.out", "--explain", tt.id, "--experiments", "all")
			if strings.Contains(out, secret) || !strings.Contains(out, "--experiments home shows it") || strings.Contains(out, `"classification":"si001"`) {
				t.Errorf("the result has the secret, or nothing of what is hidden:\n%s", out)
			}
			for _, name := range filesIn(t, filepath.Dir(p.dir)) {
				if strings.Contains(readFile(t, name), secret) {
					t.Errorf("%s has the secret", name)
				}
			}
			if out := run("try", "report.out", "--experiments", "all,home", "--format=json"); !strings.Contains(out, secret) {
				t.Errorf("with the home the tests don't read the key, so that this test shows nothing:\n%s", out)
			}
		})
	}
}
