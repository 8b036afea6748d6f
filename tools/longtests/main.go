// Command longtests prints the arguments with which go test runs the tests of the long tier: their names, and their packages.
//
//	longtests [-since REVISION] [FOLDER...]
//
// Folders select packages, with what is below them. With -since only those are named that a change since the revision touches: one of
// their guards, or their own file; without guards, their folder. Nothing is printed if there are none.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	since := flag.String("since", "", "a revision; the work tree is compared with it")
	flag.Parse()
	args, err := run(context.Background(), *since, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "longtests:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, args)
}

func run(ctx context.Context, since string, folders []string) (string, error) {
	tests, err := longTests(os.DirFS("."))
	if err != nil {
		return "", err
	}
	if len(folders) > 0 {
		for i, folder := range folders {
			folders[i] = path.Clean(strings.TrimSuffix(filepath.ToSlash(folder), "..."))
		}
		tests = slices.DeleteFunc(tests, func(t longTest) bool { return !anyWithin([]string{t.folder}, folders) })
	}
	if since != "" {
		list, err := exec.CommandContext(ctx, "git", "diff", "--name-only", "-z", since).Output()
		if err != nil {
			return "", fmt.Errorf("list what changed since %s: %w", since, err)
		}
		changed := strings.Split(string(list), "\x00")
		tests = slices.DeleteFunc(tests, func(t longTest) bool { return !anyWithin(changed, t.touchedBy()) })
	}
	names, packages := map[string]bool{}, map[string]bool{}
	for _, t := range tests {
		names[t.name], packages["./"+t.folder] = true, true
	}
	if len(tests) == 0 {
		return "", nil
	}
	return fmt.Sprintf("-run ^(%s)$ %s", strings.Join(slices.Sorted(maps.Keys(names)), "|"), strings.Join(slices.Sorted(maps.Keys(packages)), " ")), nil
}

// anyWithin says whether one of the files or folders is one of the trees, or below one.
func anyWithin(names, trees []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(trees, func(tree string) bool { return tree == "." || strings.HasPrefix(name+"/", tree+"/") })
	})
}

type longTest struct {
	folder, file, name string
	guards             []string
}

func (t longTest) touchedBy() []string {
	if len(t.guards) == 0 {
		return []string{t.folder}
	}
	return append(t.guards, t.file)
}

var (
	function = regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)`)
	call     = regexp.MustCompile(`\btier\.(?:Long|Whole)\(([^)]*)\)`)
	guard    = regexp.MustCompile(`"([^"]+)"`)
)

// longTests finds the test functions that call package tier, by themselves or by functions of their package.
func longTests(tree fs.FS) (tests []longTest, _ error) {
	bodies, files := map[string]map[string]string{}, map[string]string{} // by folder and name
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (name == "out" || name == "lab" || name == "tools/longtests" || e.Name() == "testdata" || name != "." && strings.HasPrefix(e.Name(), ".")):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		if bodies[folder] == nil {
			bodies[folder] = map[string]string{}
		}
		for starts := function.FindAllSubmatchIndex(text, -1); len(starts) > 0; starts = starts[1:] {
			end := len(text)
			if len(starts) > 1 {
				end = starts[1][0]
			}
			fn := string(text[starts[0][2]:starts[0][3]])
			bodies[folder][fn] += string(text[starts[0][1]:end])
			files[folder+"."+fn] = name
		}
		return nil
	})
	for _, folder := range slices.Sorted(maps.Keys(bodies)) {
		long := callers(bodies[folder])
		for _, name := range slices.Sorted(maps.Keys(long)) {
			if strings.HasPrefix(name, "Test") {
				tests = append(tests, longTest{folder, files[folder+"."+name], name, long[name]})
			}
		}
	}
	return tests, err
}

// callers gives the functions of a package that come to call package tier, with the guards that are named on the way.
func callers(bodies map[string]string) map[string][]string {
	long := map[string][]string{}
	for name, body := range bodies {
		for _, m := range call.FindAllStringSubmatch(body, -1) {
			long[name] = slices.Clip(long[name])
			for _, g := range guard.FindAllStringSubmatch(m[1], -1) {
				long[name] = append(long[name], g[1])
			}
		}
	}
	for more := true; more; {
		more = false
		for helper, guards := range maps.Clone(long) {
			calls := regexp.MustCompile(`\b` + helper + `\(`)
			for name, body := range bodies {
				if _, known := long[name]; !known && calls.MatchString(body) {
					long[name], more = guards, true
				}
			}
		}
	}
	return long
}
