//go:build linux || darwin

package testcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const oneFailure = `<testsuite><testcase classname="a" name="b"><failure>wrong</failure></testcase><testcase classname="a" name="c"/></testsuite>`

// TestAccept_AL6_OnlyReportsOfThisRunCount for runners that write reports by themselves, stood in for by scripts.
func TestAccept_AL6_OnlyReportsOfThisRunCount(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"mvnw": "#!/bin/sh\nmkdir -p target/surefire-reports && echo '" + oneFailure + "' > target/surefire-reports/TEST-new.xml\n" +
			"echo '" + oneFailure + "' > shop/target/surefire-reports/TEST-again.xml\necho told; exit 1\n",
		"shop/target/surefire-reports/TEST-old.xml":   "<old/>",
		"shop/target/surefire-reports/TEST-again.xml": "<old/>",
		"shop/target/surefire-reports/other.xml":      "<other/>",
		"gradlew":                                     "#!/bin/sh\nmkdir -p build/test-results/test && echo '" + oneFailure + "' > build/test-results/test/TEST-a.xml\n",
	})
	got := runIn(t, dir, "./mvnw", "verify")
	if got.tells(t, 1, 4, 2); got.out != "told\n" {
		t.Errorf("it shows %q", got.out)
	}
	runIn(t, dir, "./gradlew", "test").tells(t, 0, 2, 1) // a failure that the build ignores
	write(t, filepath.Join(dir, "gradlew"), "#!/bin/sh\nexit 0\n")
	runIn(t, dir, "./gradlew", "test").fails(t, "gradle ended well, but wrote no report: see its output; tasks that are up to date write none: pass --rerun-tasks")
}

// TestAccept_AK1_ReportsOfTheFirstRunStay when the second one deletes them, as mvn clean does, empties or changes them; new ones go.
func TestAccept_AK1_ReportsOfTheFirstRunStay(t *testing.T) {
	t.Parallel()
	first := map[string]string{"a/target/surefire-reports/TEST-gone.xml": "<gone/>", "b/target/surefire-reports/TEST-empty.xml": "<empty/>", "b/target/surefire-reports/TEST-other.xml": "<other/>"}
	dir := scratch(t, first)
	write(t, filepath.Join(dir, "mvnw"), "#!/bin/sh\nrm -r a/target\ncd b/target/surefire-reports\n: > TEST-empty.xml\necho '"+oneFailure+"' | tee TEST-other.xml > TEST-new.xml\nexit 1\n")
	runCommand(t, parsed(t, dir, "./mvnw", "clean", "test").Rest("a.A#b", nil)).tells(t, 1, 4, 2)
	for name, text := range first {
		check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, name)))(t)), text, name)
	}
	check.Is(t, check.Err(os.Stat(filepath.Join(dir, "b/target/surefire-reports/TEST-new.xml"))), os.ErrNotExist, "a report of the second run")
}

func TestAccept_AL6_RunsWithoutAReport(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"own.xml":          oneFailure,
		"pytest":           "#!/bin/sh\necho '" + oneFailure + "' > own.xml; echo $A > said\n",
		"silent/pytest":    "#!/bin/sh\nexit 4\n",
		"wrong/pytest":     "#!/bin/sh\necho 'ERROR: usage: pytest'; exit 4\n",
		"damaged/pytest":   "#!/bin/sh\necho '<testsuite><testcase' > own.xml\n",
		"killed/pytest":    "#!/bin/sh\nkill -9 $$\n",
		"forbidden/pytest": "",
		"jest":             "#!/bin/sh\necho '{\"testResults\": [{\"name\": 3}]}'\n",
	})
	must.Do(t, os.Chmod(filepath.Join(dir, "forbidden", "pytest"), 0o600))
	runIn(t, dir, "A=b", "./pytest", "--junitxml", "own.xml").tells(t, 0, 2, 1)
	check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "said")))(t)), "b\n", "A")
	runIn(t, dir, "silent/pytest", "--junitxml=own.xml").endsEarly(t, 4, "the command ended with exit code 4 before its report was written")
	runIn(t, dir, "wrong/pytest", "--own").fails(t, "pytest failed with exit code 4, but wrote no report")
	runIn(t, dir, "damaged/pytest", "--junitxml=own.xml").fails(t, "the report of pytest can't be read: ")
	runIn(t, dir, "killed/pytest").endsEarly(t, -1, "the command was killed (signal: killed), so that its report is missing or incomplete")
	runIn(t, dir, "forbidden/pytest").fails(t, "pytest can't be started: forbidden/pytest is not executable")
	runIn(t, dir, "gone/pytest").fails(t, "pytest can't be started: gone/pytest is not there")
	runIn(t, dir, "./jest", "--json").fails(t, "the report of jest, ")
	runIn(t, dir, "env", "PATH="+dir+"/silent", "pytest").endsEarly(t, 4, "exit code 4")
	c := parsed(t, dir, "pytest")
	c.line.words[0] = "pytest-that-nobody-has"
	runCommand(t, c).fails(t, "is not there; install it, or give its path")
	c = parsed(t, dir, "./pytest", "--junitxml=own.xml")
	c.ReportBytes = 10
	runCommand(t, c).fails(t, "the report of pytest is longer than 10 bytes")
	c = parsed(t, dir, "silent/pytest")
	write(t, filepath.Join(dir, "silent/pytest"), "#!/bin/sh\necho '"+oneFailure+"' > \"${1#*=}\"; echo ${1#*=}\n")
	got := runCommand(t, c)
	got.tells(t, 0, 2, 1)
	check.Is(t, check.Err(os.Stat(strings.TrimSpace(got.out))), os.ErrNotExist, "the report", got.out, "left")
}

func TestAccept_AL6_ManyReports(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"mvnw": "#!/bin/sh\nmkdir -p target/surefire-reports\nfor i in $(seq 300); do echo '<?xml version=\"1.0\"?>" + oneFailure + "' > target/surefire-reports/TEST-$i.xml; done\nexit 1\n",
	})
	runIn(t, dir, "./mvnw", "test").tells(t, 1, 600, 300)
}

// TestAccept_AL6_ProgramsThatATestLeavesAreNotWaitedFor though they hold the output open.
func TestAccept_AL6_ProgramsThatATestLeavesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{"pytest": "#!/bin/sh\nsleep 600 &\necho $! > left\necho '" + oneFailure + "' > own.xml\necho told; exit 1\n"})
	got := runIn(t, dir, "./pytest", "--junitxml=own.xml")
	if got.tells(t, 1, 2, 1); got.out != "told\n" {
		t.Errorf("it shows %q", got.out)
	}
	text := must.Get(os.ReadFile(filepath.Join(dir, "left")))(t)
	left := must.Get(strconv.Atoi(strings.TrimSpace(string(text))))(t)
	must.Do(t, syscall.Kill(left, syscall.SIGKILL), "a program that a test left was ended")
}

// TestAccept_AL6_AnInterruptReachesTheRunnerOnce and what it has started, also if that does not end.
func TestAccept_AL6_AnInterruptReachesTheRunnerOnce(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"ends":    "trap 'echo got >> signals; exit 2' INT\n",
		"ignores": "trap 'echo got >> signals' INT\n",
	} {
		dir := scratch(t, map[string]string{"pytest": "#!/bin/sh\n" + script + "echo $$ > ready.new; mv ready.new ready\nwhile :; do sleep 0.1; done\n"})
		c := parsed(t, dir, "./pytest")
		cause := errors.New("the user pressed Ctrl-C")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			for range 1000 {
				if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			cancel(cause)
		}()
		var out strings.Builder
		ran, err := c.Run(ctx, nil, &out, &out, nil)
		if ran != nil || !errors.Is(err, cause) || err.Error() != "pytest was interrupted: the user pressed Ctrl-C" {
			t.Errorf("%s: %+v, error %v", name, ran, err)
		}
		check.Equal(t, string(must.Get(os.ReadFile(filepath.Join(dir, "signals")))(t)), "got\n", name, "the runner", "error")
	}
}
