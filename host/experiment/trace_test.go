package experiment

import (
	"archive/zip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/repo"
)

// TestWhatIsNoTraceTellsNothing: tests can write to the files of a trace.
func TestWhatIsNoTraceTellsNothing(t *testing.T) {
	t.Parallel()
	r := &defined{source: &origin{Top: "/tree"}}
	for _, text := range []string{"", "{", `["a"]`, `{"a": 1}`, `{"../../a": "/etc/passwd"}`, `{"a": "relative.py"}`, `{"a": "/tree/../a.py"}`} {
		if got := r.loadedModules([]byte(text), "/tree", environment{}); got.code != abi.NotCertified {
			t.Errorf("%s: got %+v", text, got)
		}
		if got := r.loadedFiles([]byte(text), "/tree", "", environment{}); got.code != abi.NotCertified {
			t.Errorf("%s: got %+v", text, got)
		}
	}
	for _, text := range []string{
		"", "<", `<testsuite><properties><property name="surefire.test.class.path"/></properties></testsuite>`,
		`<property name="surefire.test.class.path" value="/etc:/dev/zero:/etc/passwd:relative.jar:"/>`,
		`<property name="surefire.test.class.path" value="/tree/target/test-classes"/>`,
		strings.Repeat(`<property name="surefire.test.class.path" value="/tree/target/classes"/>`, maxClassPaths+1),
	} {
		if got := r.loadedClasses(surefireClassPaths([]byte(text)), "/tree", &repo.Tree{}); got.code != abi.NotCertified {
			t.Errorf("%.100s: got %+v", text, got)
		}
	}
}

// TestClassPathsByTheirOrder: an archive that has a class of the tree counts unless the tree's own class comes first.
func TestClassPathsByTheirOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "scratch"), 0o700); err != nil {
		t.Fatal(err)
	}
	jar := func(name string, classes ...string) string {
		file := filepath.Join(dir, name)
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		z := zip.NewWriter(f)
		for _, class := range classes {
			if _, err := z.Create(class); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(z.Close(), f.Close()); err != nil {
			t.Fatal(err)
		}
		return file
	}
	own, part, whole := "/tree/core/target/classes", jar("part.jar", "com/example/core/Other.class"), jar("whole.jar", "com/example/core/Rate$Inner.class")
	library, broken := jar("library.jar", "com/example/library/Rate.class", "Rate.class", "META-INF/versions/9/com/example/core/Rate.class"), filepath.Join(dir, "broken.jar")
	if err := os.WriteFile(broken, []byte("PK"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := &defined{source: &origin{Top: "/checkout", Scratch: filepath.Join(dir, "scratch")}}
	trees := &repo.Tree{}
	r.packages.Store(trees, map[string]string{"com/example/core/Rate": "core", "com/example/core/": "core"})
	for want, paths := range map[abi.LoadedCode][][]string{
		abi.Certified:    {{own}, {own, library, filepath.Join(dir, "gone.jar")}, {own, part, whole}},
		abi.NotCertified: {{}, {library}, {part, own}, {own, broken}, {own, dir}, {"/tree/core/target/test-classes"}, {own, jar("scratch/x.jar", "com/example/library/Rate.class")}},
		abi.Contradicted: {{whole, own}, {own + "/../../../shop/target/classes", whole}, {broken, whole}},
	} {
		for _, entries := range paths {
			if got := r.classPath(entries, "/tree", trees); got.code != want {
				t.Errorf("%q: got %+v, want %s", entries, got, want)
			}
		}
	}
}

func FuzzTraces(f *testing.F) {
	f.Add([]byte(`{"shop.cart": "/tree/shop/cart.py"}`))
	f.Add([]byte(`<property name="surefire.test.class.path" value="/tree/target/classes:/x/a.jar:"/>`))
	f.Add([]byte("/tree/build/classes/java/main\n/x/a.jar\n\n/tree\n"))
	r := &defined{source: &origin{Top: "/tree"}}
	f.Fuzz(func(t *testing.T, written []byte) {
		if l := r.loadedModules(written, "/tree", environment{Tree: &repo.Tree{}}); l.code == abi.Contradicted {
			t.Errorf("an empty tree is contradicted: %+v", l)
		}
		r.loadedFiles(written, "/tree", "", environment{Tree: &repo.Tree{}})
		if l := r.loadedClasses(slices.Concat(surefireClassPaths(written), gradleClassPaths(written)), "/tree", &repo.Tree{}); l.code == abi.Contradicted {
			t.Errorf("an empty tree is contradicted: %+v", l)
		}
	})
}
