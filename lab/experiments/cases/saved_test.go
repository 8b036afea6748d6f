package cases

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// release gives a module proxy in a folder one more release of a module.
func release(t *testing.T, proxy string, v module.Version, files map[string]string) {
	t.Helper()
	files["go.mod"] = "module " + v.Path + "\n\ngo 1.21\n"
	folder := filepath.Join(proxy, filepath.FromSlash(v.Path), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	source := t.TempDir()
	writeFiles(t, source, files)
	var archive bytes.Buffer
	if err := zip.CreateFromDir(&archive, v, source); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, folder, map[string]string{
		v.Version + ".info": `{"Version":"` + v.Version + `"}`, v.Version + ".mod": files["go.mod"], v.Version + ".zip": archive.String(),
	})
}

func writeFiles(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSavedCasesAreMadeAgain: a saved case is made again as it was, from the module proxy and what was saved of it.
func TestSavedCasesAreMadeAgain(t *testing.T) {
	proxy := t.TempDir()
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(proxy))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", filepath.Join(t.TempDir(), "mod"))
	const path = "example.com/saved"
	pair := Pair{Module: path, Older: "v1.0.0", Newer: "v1.1.0"}
	product := "package saved\n\nfunc One() int { return 1 }\n\nfunc Two() int { return 2 }\n"
	release(t, proxy, module.Version{Path: path, Version: pair.Older}, map[string]string{"a.go": "package saved\n", "testdata/x": "x"})
	release(t, proxy, module.Version{Path: path, Version: pair.Newer}, map[string]string{"a.go": product, "testdata/x": "x", "README.md": "hi"})

	work, folder := t.TempDir(), t.TempDir()
	g := &generator{Config: Config{Work: work}, pair: pair, was: &result{}}
	var err error
	for i, to := range []**tree{&g.older, &g.newer} {
		if *to, err = newTree(t.Context(), path, []string{pair.Older, pair.Newer}[i], filepath.Join(work, "trees", "t"+string(rune('0'+i)))); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join((*to).folder, "testdata", "x")); err != nil {
			t.Fatal(err)
		}
	}
	g.older.tests = []string{"none_test.go"} // so that the releases differ in their tests
	g.suite.root = filepath.Join(work, "trees")
	writeFiles(t, g.newer.folder, map[string]string{"a.go": strings.Replace(product, "return 1", "return 3", 1)})
	place := filepath.Join(g.newer.folder, "a_test.go")
	log := `{"Action":"output","Package":"example.com/saved","Test":"TestOther","Output":"nothing\n"}
{"Action":"output","Package":"example.com/saved","Test":"TestOne","Output":"    ` + place + `:9: got 3\n"}
{"Action":"fail","Package":"example.com/saved","Test":"TestOne","Elapsed":0.1}
`
	if ok, err := g.save(t.Context(), Case{Cause: Product, Test: "TestOne"}, &result{events: []byte(log)}, "a.go", "testdata/x"); err != nil || !ok {
		t.Fatal(ok, err)
	}
	list, err := Read(work)
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	const outcomes = `{"runs":[]}`
	if err := os.WriteFile(list[0].Outcomes(), []byte(outcomes), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to add
		if err := Save(t.Context(), work, folder); err != nil {
			t.Fatal(err)
		}
	}
	other := t.TempDir()
	if err := Restore(t.Context(), other, folder, io.Discard); err != nil {
		t.Fatal(err)
	}
	again, err := Read(other)
	if err != nil || len(again) != 1 {
		t.Fatal(again, err)
	}
	for name, want := range map[string]string{"repo/a.go": strings.Replace(product, "return 1", "return 3", 1), "repo/README.md": "hi", outcomesFile: outcomes} {
		if got, err := os.ReadFile(filepath.Join(again[0].folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(again[0].Repository(), "testdata", "x")); err == nil {
		t.Error("a file that was missing is there")
	}
	was, err := list[0].Entry()
	if err != nil {
		t.Fatal(err)
	}
	is, err := again[0].Entry()
	if err != nil {
		t.Fatal(err)
	}
	text := is.Case.Documents[0].Text
	if !strings.Contains(text, again[0].folder) || strings.ReplaceAll(text, again[0].folder, list[0].folder) != was.Case.Documents[0].Text || is.Case.ID != was.Case.ID {
		t.Errorf("the log is %q and was %q", text, was.Case.Documents[0].Text)
	}

	lines, err := readSaved(filepath.Join(folder, "example.com-saved"+savedEnding))
	if err != nil || len(lines) != 1 || strings.Contains(lines[0].Log, "TestOther") {
		t.Fatalf("%+v, %v", lines, err)
	}
	lines[0].Patch = ""
	if _, err := lines[0].restore(t.Context(), t.TempDir()); err == nil {
		t.Error("a tree that is another was not noticed")
	}
}
