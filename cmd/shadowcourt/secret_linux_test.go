package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAccept_FZ8_NoSecretOfTheHomeIsTold: tests that read a key of the user's home and print it tell it to nobody: it is in no result, page
// or record of their experiments. Nothing is said of the environment, since the failure may need what is hidden.
func TestAccept_FZ8_NoSecretOfTheHomeIsTold(t *testing.T) {
	t.Parallel()
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
				if s.code != 0 {
					t.Fatal(s)
				}
				return s.all()
			}
			shell(t, p.dir, "shadowcourt key new ../key && echo done")
			out := run("try", "report.out", "--experiments", "all", "--format=json", "--report", "page.html", "--record", "record", "--key", "../key")
			out += run("try", "report.out", "--explain", tt.id, "--experiments", "all")
			if strings.Contains(out, secret) || !strings.Contains(out, "--experiments home shows it") || strings.Contains(out, `"classification":"si001"`) {
				t.Errorf("the result has the secret, or nothing of what is hidden:\n%s", out)
			}
			err := filepath.WalkDir(filepath.Dir(p.dir), func(name string, e fs.DirEntry, err error) error {
				if err != nil || !e.Type().IsRegular() {
					return err
				}
				data, err := os.ReadFile(name)
				if bytes.Contains(data, []byte(secret)) {
					t.Errorf("%s has the secret", name)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if out := run("try", "report.out", "--experiments", "all,home", "--format=json"); !strings.Contains(out, secret) {
				t.Errorf("with the home the tests don't read the key, so that this test shows nothing:\n%s", out)
			}
		})
	}
}
