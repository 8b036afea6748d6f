package source_test

import (
	"fmt"
	"strings"
	"testing"
)

// A module of 1,000 packages with five files each, in which the test reaches every package, and 200 files changed.
func BenchmarkBearing(b *testing.B) {
	dir := b.TempDir()
	git := gitIn(b, dir)
	files := map[string]string{"go.mod": "module example.com/big\n"}
	body := strings.Repeat("// A line of no importance, as most are.\n", 100)
	for p := range 1000 {
		for f := range 5 {
			text := fmt.Sprintf("package p%d\n\nimport (\n\t\"example.com/big/p%d\"\n\t\"example.com/big/p%d\"\n)\n\nfunc F%d() {\n%s}\n", p, 2*p+1, 2*p+2, f, body)
			if 2*p+2 >= 1000 {
				text = fmt.Sprintf("package p%d\n\nfunc F%d() {\n%s}\n", p, f, body)
			}
			files[fmt.Sprintf("p%d/f%d.go", p, f)] = text
		}
	}
	files["p0/p_test.go"] = "package p0\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tF3()\n}\n"
	write(b, dir, files)
	git("init", "-q", "-b", "main")
	git("add", ".")
	git("commit", "-qm", "first")
	changed := map[string]string{}
	for p := range 200 {
		name := fmt.Sprintf("p%d/f3.go", 5*p)
		changed[name] = strings.Replace(files[name], "most are", "all are", 1)
	}
	write(b, dir, changed)
	text := "TestF fails in example.com/big/p0\n    p_test.go:6: wrong\n"
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			openTree(b, dir, "HEAD")
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			tree := openTree(b, dir, "HEAD")
			b.StartTimer()
			if len(reached(tree.BearingOf(text))) != 200 {
				b.Fatal("not all changes bear on the test")
			}
		}
	})
	tree := openTree(b, dir, "HEAD")
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if len(reached(tree.BearingOf(text))) != 200 {
				b.Fatal("not all changes bear on the test")
			}
		}
	})
}
