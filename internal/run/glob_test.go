package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAccept_IG4_PatternsAreExpanded(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"b.xml", "a.xml", "c.json", "out/x.xml", "out/deep/er/x.xml", "out/deep/y.xml", "out/.hidden/z.xml", ".dot.xml", "[1].xml", "in/empty/only.txt",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]string{
		"*.xml":                   "[1].xml a.xml b.xml",
		"?.xml":                   "a.xml b.xml",
		"[ab].xml":                "a.xml b.xml",
		"[1].xml":                 "[1].xml", // a file
		"none.xml":                "none.xml",
		"-":                       "-",
		"**/*.xml":                "[1].xml a.xml b.xml out/deep/er/x.xml out/deep/y.xml out/x.xml",
		"out/**/x.xml":            "out/deep/er/x.xml out/x.xml",
		"out/**":                  "out/deep/er/x.xml out/deep/y.xml out/x.xml",
		"./out/*/*.xml":           "out/deep/y.xml",
		"out/.*/*.xml":            "out/.hidden/z.xml",
		"**/deep/**/*.xml":        "out/deep/er/x.xml out/deep/y.xml",
		"o*/deep/y.xml":           "out/deep/y.xml",
		"*.xml a.xml ./b.xml":     "[1].xml a.xml ./b.xml",
		"*.json *.json c.json":    "c.json",
		here + "/o*/x.xml":        here + "/out/x.xml",
		"*.gone":                  "! no file matches *.gone",
		"gone/**/*.xml a.xml *.y": "! no file matches gone/**/*.xml\nno file matches *.y",
		"in*":                     "! in* matches folders and no file: a pattern for the files in them ends with /**/*.xml, or the like",
		"[":                       "! [: the pattern is wrong: a [ has no end, or nothing between it and its end",
	} {
		got, err := Expand(t.Context(), strings.Fields(pattern))
		said := filepath.ToSlash(strings.Join(got, " "))
		if err != nil {
			said = "! " + err.Error()
		}
		if diff := cmp.Diff(filepath.ToSlash(want), said); diff != "" {
			t.Errorf("%s: %s", pattern, diff)
		}
	}
}
