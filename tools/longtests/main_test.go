package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestAccept_HX4_LongTestsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte("package p\n" + text)} }
	tree := fstest.MapFS{
		"a/b_test.go":   file("func TestQuick(t *testing.T) {}\nfunc TestLong(t *testing.T) {\n\ttier.Long(t, \"x\", \"y/z\")\n\tif tier.Whole(\"w\") {\n\t}\n}\nfunc TestAsked(t *testing.T) { all(t) }\n"),
		"c/d_test.go":   file("func TestHalf(t *testing.T) {\n\tif tier.Whole() {}\n}\n"),
		"a/c_test.go":   file("func all(t *testing.T) int {\n\tif tier.Whole(\"g\") {\n\t}\n}\n"),
		"out/d_test.go": file("func TestOld(t *testing.T) { tier.Long(t) }\n"),
	}
	tests, err := longTests(tree)
	want := []longTest{{"a", "a/b_test.go", "TestAsked", []string{"g"}}, {"a", "a/b_test.go", "TestLong", []string{"x", "y/z", "w"}}, {"c", "c/d_test.go", "TestHalf", nil}}
	if diff := cmp.Diff(want, tests, cmp.AllowUnexported(longTest{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for changed, want := range map[string]bool{"a/b.go": true, "a": true, "ab/c.go": false, "x/y.go": false, "c.go": true} {
		if got := anyWithin([]string{"other", changed}, []string{"a", "c.go"}); got != want {
			t.Errorf("%s: %t", changed, got)
		}
	}
}

func TestAccept_HX4_GuardsAreFoldersAndFiles(t *testing.T) {
	t.Parallel()
	tree := os.DirFS(filepath.Join("..", ".."))
	tests, err := longTests(tree)
	if err != nil || len(tests) < 40 {
		t.Fatalf("%d tests: %v", len(tests), err)
	}
	for _, test := range tests {
		for _, guard := range test.guards {
			if _, err := fs.Stat(tree, guard); err != nil {
				t.Errorf("%s: %s guards what is not there: %v", test.file, test.name, err)
			}
		}
	}
}
