package repo_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/repo"
)

const goText = "// Package a is.\npackage a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\n// F prints.\nfunc F(a, b int) {\n\tfmt.Println(a, b)\n\tos.Exit(1)\n}\n"

// TestAccept_EX3_HunksThatChangeNoCode: comments, formatting and licence headers weigh nothing; what a compiler or a test obeys does.
func TestAccept_EX3_HunksThatChangeNoCode(t *testing.T) {
	t.Parallel()
	replace := func(text, old, now string) [2]string { return [2]string{text, strings.Replace(text, old, now, 1)} }
	example := "package a\n\nfunc ExampleF() {\n\tF()\n\t// Output:\n\t// 1\n}\n"
	c := "#include <a.h>\n#define N 3\nint f(int a, char *s) { /* first */\n  return a + N; // \"no\"\n}\n"
	python := "# a\ndef f(a):\n    if a:\n        a = 1\n    return a\n"
	script := "const a = `x // y`;\nlet b = 'http://a'; // c\nreturn b\n"
	for _, tt := range []struct {
		name, file string
		texts      [2]string
		code       bool
	}{
		{"a licence header", "a.go", replace(goText, "// Package a is.", "// Copyright The Authors.\n\n/* Licence:\nMIT */\n\n// Package a does."), false},
		{"a comment behind code", "a.go", replace(goText, "Println(a, b)", "Println(a, b) // prints"), false},
		{"line breaks of gofmt", "a.go", replace(goText, "Println(a, b)", "Println(\n\t\ta,\n\t\tb,\n\t)"), false},
		{"white space", "a.go", replace(goText, "(a, b int)", "( a,b   int )"), false},
		{"the order of imports", "a.go", replace(goText, "\"fmt\"\n\t\"os\"", "\"os\"\n\n\t\"fmt\""), false},
		{"the parameters of a function", "a.go", replace(goText, "(a, b int)", "(b, a int)"), true},
		{"an import", "a.go", replace(goText, "\"os\"", "\"os\"\n\t_ \"embed\""), true},
		{"a literal", "a.go", replace(goText, "Exit(1)", "Exit(0)"), true},
		{"a space in a string", "a.go", [2]string{"package a\n\nvar s = `a\n b`\n", "package a\n\nvar s = `a\n  b`\n"}, true},
		{"a build tag", "a.go", replace(goText, "// Package", "//go:build linux\n\n// Package"), true},
		{"an old build tag", "a.go", replace(goText, "// Package", "// +build linux\n\n// Package"), true},
		{"go:embed", "a.go", replace(goText, "// F prints.", "//go:embed a.txt\nvar s string"), true},
		{"go:generate", "a.go", replace(goText, "// F prints.", "//go:generate stringer\n// F prints."), true},
		{"the output of an example", "a_test.go", replace(example, "// 1", "// 2"), true},
		{"the output of no example", "a.go", replace(example, "// 1", "// 2"), false},
		{"C in a comment", "a.go", [2]string{"package a\n\n// int n = 1;\nimport \"C\"\n", "package a\n\n// int n = 2;\nimport \"C\"\n"}, true},
		{"Go that is not valid", "a.go", [2]string{"package a\n\nfunc (\n", "package a\n\nfunc ( // x\n"}, true},
		{"C: comments and layout", "a.c", replace(c, "/* first */\n  return a + N;", "\n\treturn a\n\t\t+ N; /* then\n*/"), false},
		{"C: a macro", "a.c", replace(c, "N 3", "N\n3"), true},
		{"C: a comment in a string", "a.c", [2]string{"char *s = \"/* a */\";\n", "char *s = \"/* b */\";\n"}, true},
		{"C: two signs or one", "a.c", [2]string{"a = b + +c;\n", "a = b ++c;\n"}, true},
		{"C: a comment that does not end", "a.c", [2]string{"int a; /* b\n", "int a; /* c\n"}, true},
		{"Rust: a lifetime", "a.rs", [2]string{"fn f<'a>(s: &'a str) {} // it's\n", "fn f<'a>(s: &'a str) {} // it is\n"}, false},
		{"Python: a comment and an empty line", "a.py", replace(python, "    if a:\n", "    # first\n\n  # second\n    if a:  # third\n"), false},
		{"Python: another block", "a.py", replace(python, "        a = 1", "    a = 1"), true},
		{"Python: a number sign in a string", "a.py", [2]string{"a = ' # b'\n", "a = ' # c'\n"}, true},
		{"JavaScript: a comment", "a.js", replace(script, "// c", "// d"), false},
		{"JavaScript: a comment in a template", "a.js", replace(script, "// y", "// z"), true},
		{"JavaScript: an address in a string", "a.js", replace(script, "//a", "//b"), true},
		{"JavaScript: a line break", "a.js", replace(script, "return b", "return\nb"), true},
		{"JavaScript: the environment of a test", "a.test.js", [2]string{"/** @jest-environment node */\n", "/** @jest-environment jsdom */\n"}, true},
		{"shell: a number of arguments", "a.sh", [2]string{"test $# -eq 1\n", "test $# -eq 2\n"}, true},
		{"shell: text in which a comment is none", "a.sh", [2]string{"cat <<E\n# a\nE\n", "cat <<E\n# b\nE\n"}, true},
		{"SQL", "a.sql", [2]string{"SELECT 1; -- one\n", "SELECT 1;\n-- two\n"}, false},
		{"go.mod: a comment", "go.mod", [2]string{"module a\n\nrequire b v1.0.0 // indirect\n", "module a\n\nrequire b v1.0.0\n"}, false},
		{"go.mod: a version", "go.mod", [2]string{"module a\n\nrequire b v1.0.0\n", "module a\n\nrequire b v1.0.1\n"}, true},
		{"data", "a.txt", [2]string{"// a\n", "// b\n"}, true},
		{"a new file of comments", "a.go", [2]string{"", "// nothing\n"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := repo.CodeChanged(tt.file, tt.texts[0], tt.texts[1]); slices.Contains(got, true) != tt.code {
				t.Errorf("%v", got)
			}
		})
	}
	got := repo.CodeChanged("a.go", goText, strings.NewReplacer("// F prints.", "// F writes.", "Exit(1)", "Exit(2)").Replace(goText))
	if !slices.Equal(got, []bool{false, true}) {
		t.Errorf("of a comment and a statement: %v", got)
	}
}

// What is split must be valid for both texts and come in the order of the lines, whatever the text.
func FuzzCode(f *testing.F) {
	for _, name := range []string{"a.go", "a.c", "a.py", "a.js", "a.sh", "a.kt"} {
		f.Add(name, goText, "/* 'a\n\"\\\n`# b\n")
	}
	f.Fuzz(func(t *testing.T, name, old, now string) {
		repo.CodeChanged(name, old, now)
		if slices.Contains(repo.CodeChanged(name, old, old+"\n"), true) && strings.HasSuffix(old, "\n") && strings.HasSuffix(name, ".c") && !strings.ContainsAny(old, "\\\"'`/#") {
			t.Errorf("an empty line of %q", old)
		}
	})
}
