// Command size prints the sizes of this repository beside their limits, which limits.txt holds. With -check it fails above one.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

//go:embed limits.txt
var limits string

const (
	command = "./cmd/shadowcourt"
	binary  = "bin/shadowcourt"
)

func main() {
	check := flag.Bool("check", false, "fail above a limit")
	flag.Parse()
	above, err := run(context.Background(), os.Stdout)
	if err == nil && *check && len(above) > 0 {
		err = fmt.Errorf("above the limit: %s", strings.Join(above, ", "))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

// run counts the files of the work tree that git tracks.
func run(ctx context.Context, w io.Writer) ([]string, error) {
	list, err := exec.CommandContext(ctx, "git", "ls-files", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tracked files: %w", err)
	}
	s := newSizes()
	for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) { // deleted, not committed yet
			continue
		} else if err != nil {
			return nil, err
		}
		if err := s.add(name, text); err != nil {
			return nil, err
		}
	}
	linked, err := exec.CommandContext(ctx, "go", "list", "-deps", command).Output()
	if err != nil {
		return nil, fmt.Errorf("list what %s links: %w", command, err)
	}
	s.counts["linked"] = bytes.Count(linked, []byte("\n"))
	if info, err := os.Stat(binary); err == nil {
		s.counts["megabytes"] = int((info.Size() + 999_999) / 1_000_000)
	}
	return s.print(w), nil
}

// sizes are the numbers of a tree by the names of limits.txt.
type sizes struct {
	counts   map[string]int
	packages map[string]int // lines of the product by folder
	longest  string
}

func newSizes() *sizes { return &sizes{counts: map[string]int{}, packages: map[string]int{}} }

// add counts one file.
func (s *sizes) add(name string, text []byte) error {
	lines := bytes.Count(text, []byte("\n"))
	switch class := classOf(name, text); class {
	case "words":
		s.counts[class] += len(bytes.Fields(text))
	case "requires":
		mod, err := modfile.Parse(name, text, nil)
		if err != nil {
			return err
		}
		s.counts[class] = len(mod.Require)
	case "product":
		s.counts["files"]++
		s.packages[path.Dir(name)] += lines
		s.counts["packages"] = len(s.packages)
		fallthrough
	case "tests", "studies":
		if lines > s.counts["longest"] {
			s.counts["longest"], s.longest = lines, name
		}
		fallthrough
	default:
		s.counts[class] += lines
	}
	return nil
}

// otherCode are the names of what is written by hand beside Go and Markdown.
var otherCode = strings.Fields(".c .cjs .css .h .html .js .mjs .mk .py .rs .sh .svg .tmpl .ts Dockerfile Makefile")

// classOf names what a file counts for; "saved" is data: reports, dockets, settings, golden files.
func classOf(name string, text []byte) string {
	folders := strings.Split(path.Dir(name), "/")
	head := text[:min(len(text), 500)]
	switch ext := path.Ext(name); {
	case name == "go.mod":
		return "requires"
	case ext == ".md":
		return "words"
	case bytes.Contains(head, []byte("Code generated ")) || strings.HasSuffix(name, "_gen.go"):
		return "generated"
	case ext == ".go" && (folders[0] == "lab" || folders[0] == "studies"):
		return "studies"
	case ext == ".go" && (strings.HasSuffix(name, "_test.go") || slices.Contains(folders, "testkit") || slices.Contains(folders, "testdata")):
		return "tests"
	case ext == ".go":
		return "product"
	case !slices.Contains(folders, "testdata") && (folders[0] == ".ci" || slices.Contains(otherCode, ext) || slices.Contains(otherCode, path.Base(name))):
		return "other"
	}
	return "saved"
}

// print writes the table, and gives the numbers above their limits. Rooms have budgets, which fail nothing.
func (s *sizes) print(w io.Writer) (above []string) {
	rooms := false
	left := maps.Clone(s.packages)
	for line := range strings.Lines(limits) {
		if strings.HasPrefix(line, "# Rooms") {
			rooms = true
			fmt.Fprintf(w, "\n%10s %8s  room\n", "lines", "budget")
			continue
		}
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		var limit int
		if n, _ := fmt.Sscan(rest, &limit); n == 0 || name == "#" {
			continue
		}
		what := strings.TrimLeft(rest, " 0123456789")
		got := s.counts[name]
		if rooms {
			got = take(left, what)
		}
		mark := ""
		if got > limit {
			mark = "  ABOVE"
		}
		switch {
		case name == "longest":
			what += ": " + s.longest
		case name == "megabytes" && got == 0:
			what += ": not built"
		}
		fmt.Fprintf(w, "%10d %8d  %-10s %s%s\n", got, limit, name, what, mark)
		if got > limit && !rooms {
			above = append(above, name)
		}
	}
	fmt.Fprintf(w, "\nWithout a limit: %d lines of generated code, %d of saved reports and settings\n", s.counts["generated"], s.counts["saved"])
	return above
}

// take sums up the packages of a room, and removes them.
func take(left map[string]int, patterns string) (sum int) {
	for folder, lines := range left {
		for pattern := range strings.FieldsSeq(patterns) {
			top, tree := strings.CutSuffix(pattern, "...")
			if folder == top || tree && strings.HasPrefix(folder+"/", top) {
				sum += lines
				delete(left, folder)
				break
			}
		}
	}
	return sum
}
