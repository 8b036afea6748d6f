//go:build unix

package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const smallCase = `{"id":"ID","subject":"a","labels":["red","blue"],"light":{"classification":"red","confidence":0.7,"reasoning":""},"evidence":[],"documents":[]}`

func caseOf(id string) string { return strings.Replace(smallCase, "ID", id, 1) + "\n" }

// running is a shadowcourt that reads a docket which the test writes.
type running struct {
	*exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	outEnd io.Closer
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *running {
	t.Helper()
	r := &running{Cmd: command(t, t.TempDir(), nil, append([]string{"shadowcourt"}, args...)...)}
	r.Stderr = &r.stderr
	in := must.Get(r.StdinPipe())(t)
	out := must.Get(r.StdoutPipe())(t)
	r.in, r.out, r.outEnd = in, bufio.NewReader(out), out
	must.Do(t, r.Start())
	return r
}

// try writes a case and waits for its result.
func (r *running) try(t *testing.T, id string) {
	t.Helper()
	must.Get(io.WriteString(r.in, caseOf(id)))(t)
	line, err := r.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"id":"`+id+`"`) {
		t.Fatalf("result %q, %v", line, err)
	}
}

// end waits for the command and gives its exit code and its messages.
func (r *running) end() (code int, stderr string) {
	_ = r.Wait()
	return r.ProcessState.ExitCode(), r.stderr.String()
}

func TestAccept_CLI1_PackagesOfASlowStreamAreTriedAtOnce(t *testing.T) {
	t.Parallel()
	r := start(t, "try", "--format", "jsonl")
	_, err := io.WriteString(r.in, `{"Action":"output","Package":"example.com/a","Test":"TestA","Output":"a_test.go:3: got 1, want 2\n"}
{"Action":"fail","Package":"example.com/a","Test":"TestA"}
{"Action":"fail","Package":"example.com/a"}
`)
	must.Do(t, err)
	// The stream has not ended: nobody could know its format from all of it.
	line, err := r.out.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, `{"id":"example.com/a.TestA"`) {
		t.Fatalf("result %q, %v", line, err)
	}
	must.Do(t, r.in.Close())
	if code, stderr := r.end(); code != cli.ExitDone || stderr != "" {
		t.Errorf("exit code %d, stderr %q", code, stderr)
	}
}

func TestInterruptKeepsWhatWasTried(t *testing.T) {
	t.Parallel()
	r := start(t, "try", "--format", "jsonl", "--report", "report.html", "-")
	r.try(t, "one")
	r.try(t, "two")
	if err := r.Process.Signal(os.Interrupt); err != nil { // the standard input stays open
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(r.out); err != nil || len(rest) > 0 {
		t.Errorf("more results: %q, %v", rest, err)
	}
	code, stderr := r.end()
	if want := "shadowcourt: interrupted; 2 cases were tried and written; the same command with --resume continues from there\n"; code != cli.ExitFailed || stderr != want {
		t.Errorf("exit code %d, stderr %q, want 1 and %q", code, stderr, want)
	}
	report, err := os.ReadFile(filepath.Join(r.Dir, "report.html"))
	if err != nil || !bytes.Contains(report, []byte("two")) || !bytes.HasSuffix(bytes.TrimSpace(report), []byte("</html>")) {
		t.Errorf("the report is not complete: %d bytes, %v", len(report), err)
	}
	onlyFiles(t, r.Dir, "report.html report.html.resume")
}

func TestInterruptBeforeTheFirstLine(t *testing.T) {
	t.Parallel()
	r := start(t, "try", "--from", "jsonl", "--output", "results", "--report", "report.html")
	// It has its files open once it waits for the first line.
	for len(names(t, r.Dir)) < 3 {
		time.Sleep(time.Millisecond)
	}
	must.Do(t, r.Process.Signal(syscall.SIGTERM))
	code, stderr := r.end()
	if want := "shadowcourt: interrupted before the first case was tried; nothing was written: the same command begins again\n"; code != cli.ExitFailed || stderr != want {
		t.Errorf("exit code %d, stderr %q, want 1 and %q", code, stderr, want)
	}
	onlyFiles(t, r.Dir, "") // what stood there would have stayed
}

func TestReaderThatEndsIsNoFault(t *testing.T) {
	t.Parallel()
	r := start(t, "try", "--format", "jsonl", "--report", "report.md", "-")
	r.try(t, "one")
	if err := r.outEnd.Close(); err != nil { // as head -1 does
		t.Fatal(err)
	}
	_, err := io.WriteString(r.in, caseOf("two")+caseOf("three"))
	if err == nil {
		err = r.in.Close()
	}
	must.Do(t, err)
	if code, stderr := r.end(); code != cli.ExitFailed || stderr != "" {
		t.Errorf("exit code %d, stderr %q, want 1 and nothing", code, stderr)
	}
	report, err := os.ReadFile(filepath.Join(r.Dir, "report.md"))
	if err != nil || !bytes.Contains(report, []byte("three")) {
		t.Errorf("the report continues without the reader: %v\n%s", err, report)
	}
	onlyFiles(t, r.Dir, "report.md")
}

func TestReaderThatEndsStopsTheWork(t *testing.T) {
	t.Parallel()
	r := start(t, "try", "--format", "jsonl")
	r.try(t, "one")
	must.Do(t, r.outEnd.Close())
	must.Get(io.WriteString(r.in, caseOf("two")))(t)
	// The standard input stays open: the command ends all the same.
	if code, stderr := r.end(); code != cli.ExitFailed || stderr != "" {
		t.Errorf("exit code %d, stderr %q, want 1 and nothing", code, stderr)
	}
}

// onlyFiles checks the files of a folder against names.
func onlyFiles(t *testing.T, dir, want string) {
	t.Helper()
	check.Equal(t, strings.Join(names(t, dir), " "), want, "files")
}

// A program for Light that leaves another one behind, which holds its pipes, does not keep the run from ending.
func TestASignalEndsARunWhoseLightLeftSomebodyBehind(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid: this system can't leave a session from a shell")
	}
	r := start(t, "try", "--format", "jsonl", "--output", "results", "--workers", "1", "--light",
		`exec:read -r line; echo '{"classification":"red","confidence":0.9,"reasoning":""}'; read -r line; setsid sleep 20 & touch asked; exit 0`, "-")
	must.Get(r.in.Write([]byte(caseOf("one") + caseOf("two"))))(t)
	for !strings.Contains(strings.Join(names(t, r.Dir), " "), "asked") {
		time.Sleep(time.Millisecond)
	}
	begin := time.Now()
	must.Do(t, r.Process.Signal(syscall.SIGTERM))
	code, stderr := r.end()
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("it took %s to end", took)
	}
	if want := "shadowcourt: interrupted; 1 case was tried and written"; code != cli.ExitFailed || !strings.HasPrefix(stderr, want) {
		t.Errorf("exit code %d, stderr %q, want 1 and %q", code, stderr, want)
	}
	if results, err := os.ReadFile(filepath.Join(r.Dir, "results")); err != nil || strings.Count(string(results), "\n") != 1 {
		t.Errorf("results %q (%v)", results, err)
	}
	onlyFiles(t, r.Dir, "asked results results.resume")
}
