package testcmd

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

// goModule has packages that pass, fail, crash, do not build and have no tests.
func goModule(t *testing.T) string {
	t.Helper()
	return scratch(t, map[string]string{
		"go.mod":       "module example.com/m\n\ngo 1.26\n",
		"none/none.go": "package none\n",
		"ok/ok_test.go": `package ok

import (
	"fmt"
	"testing"
)

func TestOK(t *testing.T) { t.Log("secret"); fmt.Println("printed") }
`,
		"bad/bad_test.go": `package bad

import (
	"fmt"
	"testing"
)

func TestOK(t *testing.T) { t.Log("secret"); fmt.Println("printed") }

func TestBad(t *testing.T) {
	fmt.Println("before")
	t.Log("a log\nof two lines")
	t.Run("sub", func(t *testing.T) {
		t.Run("deep", func(t *testing.T) { t.Error("deep down") })
		t.Error("wrong")
	})
	t.Run("fine", func(t *testing.T) { t.Log("fine") })
	t.Log("after")
	t.Run("skip", func(t *testing.T) { t.Skip("skipped") })
}

func TestParallel(t *testing.T) { t.Parallel(); t.Fatal("parallel") }
`,
		"broken/broken_test.go": "package broken\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { undefined() }\n",
		"setup/setup_test.go":   "package setup\n\nimport _ \"example.com/m/gone\"\n",
		"crash/crash_test.go": `package crash

import "testing"

func TestFine(t *testing.T) {}

func TestCrash(t *testing.T) {
	t.Log("soon")
	t.Run("sub", func(t *testing.T) { t.Log("now"); panic("boom") })
}
`,
		"exit/exit_test.go": "package exit\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(*testing.M) { os.Exit(3) }\n",
	})
}

// TestAccept_AL6_GoTestShowsWhatItShows: of packages that fail what their tests print and the logs of those that fail, and with -v all that the
// go command prints.
func TestAccept_AL6_GoTestShowsWhatItShows(t *testing.T) {
	t.Parallel()
	dir := goModule(t)
	all := runIn(t, dir, "go", "test", "-vet=off", "./...")
	for text, want := range map[string]int{
		"before\n": 1, "printed\n": 1, "a log\n": 1, "of two lines\n": 1, "deep down\n": 1, "wrong\n": 1, "parallel\n": 1, "now\n": 1, "panic: boom": 1,
		"--- FAIL: TestBad (": 1, "--- FAIL: TestBad/sub/deep (": 1, "FAIL\texample.com/m/bad\t": 1, "FAIL\texample.com/m/setup [setup failed]\n": 1,
		"ok  \texample.com/m/ok\t": 1, "?   \texample.com/m/none\t[no test files]\n": 1, "secret": 0, "fine\n": 0, "skipped": 0, "=== RUN": 0, "PASS": 0,
	} {
		if got := strings.Count(all.out, text); got != want && (want == 0 || got == 0) {
			t.Errorf("%q is shown %d times:\n%s", text, got, all.out)
		}
	}
	check.Contains(t, all.errOut, "undefined: undefined", "as errors it shows")
	plain := exec.Command("go", "test", "-vet=off", "-v", "./ok")
	plain.Dir = dir
	want, err := plain.Output()
	if got := runIn(t, dir, "go", "test", "-vet=off", "-v", "./ok"); err != nil || changing.ReplaceAllString(got.out, "#") != changing.ReplaceAllString(string(want), "#") {
		t.Errorf("%v: with -v it shows\n%s\nand not\n%s", err, got.out, want)
	}
}

// changing is what differs between two runs of `go test`.
var changing = regexp.MustCompile(`\d+\.\d+s|\(cached\)`)

func TestAccept_AL6_GoTest(t *testing.T) {
	t.Parallel()
	dir := goModule(t)
	runIn(t, dir, "go", "test", "-vet=off", "./...").tells(t, 1, 11, 7)
	runIn(t, dir, "go", "test", "-vet=off", "./ok").tells(t, 0, 1, 0)
	again := runIn(t, dir, "go", "test", "-vet=off", "./ok")
	if again.tells(t, 0, 1, 0); !strings.Contains(again.out, "(cached)") {
		t.Errorf("a cached result shows as %q", again.out)
	}
	runIn(t, dir, "go", "test", "./none").tells(t, 0, 0, 0)
	own := runIn(t, dir, "go", "test", "-json", "./ok")
	if own.tells(t, 0, 1, 0); !strings.HasPrefix(own.out, `{"Time"`) {
		t.Errorf("with a -json of the user's it shows %q", own.out)
	}
	runIn(t, dir, "go", "test", "./gone").tells(t, 1, 0, 1)
	runIn(t, dir, "go", "test", "-mod=wrong", "./ok").endsEarly(t, 1, "the command ended with exit code 1 before its report was written")
}

func TestAccept_AL6_ReportsAreBounded(t *testing.T) {
	t.Parallel()
	dir := scratch(t, map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.26\n",
		"a_test.go": "package m\n\nimport (\n\t\"fmt\"\n\t\"testing\"\n)\n\nfunc TestX(t *testing.T) { for { fmt.Println(\"much\") } }\n",
	})
	c := parsed(t, dir, "go", "test", "-vet=off", ".")
	c.ReportBytes = 1 << 20
	runCommand(t, c).fails(t, "the report of go test is longer than 1048576 bytes: run fewer tests at once, or let them print less")
}

// TestAccept_AL6_HostileEventsAreBounded gives events that no go command writes: nothing of them is held without a bound.
func TestAccept_AL6_HostileEventsAreBounded(t *testing.T) {
	t.Parallel()
	var out, errOut strings.Builder
	g := newGoText(streams{&out, &errOut}, false)
	g.Show([]byte("{\"Action\": \"output\", \"Output\": 3}\n\n{}\n{\"Action\"\n"))
	long := strings.Repeat("x", 1<<16)
	for range 1000 {
		g.Show([]byte(`{"Action":"output","Package":"p","Test":"T` + strings.Repeat("/a", 1000) + `","Output":"` + long + `\n"}` + "\n"))
		g.Show([]byte(`{"Action":"output","Package":"p`))
		g.Show([]byte(long))
		g.Show([]byte(`","Output":"x"}` + "\n"))
	}
	if g.held > maxGoHeld {
		t.Errorf("%d bytes are held", g.held)
	}
	for range maxGoLine/len(long) + 1 {
		g.Show([]byte(long))
	}
	if len(g.line) > maxGoLine {
		t.Errorf("a line of %d bytes is held", len(g.line))
	}
	g.Show([]byte("\n{\"Action\":\"fail\",\"Package\":\"p\"}\n"))
	if !strings.HasSuffix(out.String(), "(more output than is shown here)\n") || errOut.Len() > 0 {
		t.Errorf("the end of what it shows is %.200q, and %q", out.String()[max(0, out.Len()-200):], errOut.String())
	}
	if g.Flush(); g.held != 0 || len(g.packs) != 0 {
		t.Errorf("at the end %d bytes of %d packages are held", g.held, len(g.packs))
	}
}

// TestAccept_AL6_VerbosePackagesAreNotMixed though their events are.
func TestAccept_AL6_VerbosePackagesAreNotMixed(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	g := newGoText(streams{&out, &out}, true)
	event := func(action, pack, text string) {
		g.Show([]byte(`{"Action":"` + action + `","Package":"` + pack + `","Output":"` + text + `"}` + "\n"))
	}
	for _, pack := range []string{"a", "b", "c", "d"} {
		event("output", pack, pack+"1 ")
	}
	event("output", "b", "b2 ")
	event("pass", "b", "")
	event("output", "a", "a2 ")
	event("output", "d", "d2 ")
	check.Equal(t, out.String(), "a1 a2 ", "while a runs it shows")
	event("pass", "a", "")
	event("output", "c", "c2 ")
	check.Equal(t, out.String(), "a1 a2 b1 b2 c1 c2 ", "behind a it shows")
	if g.Flush(); out.String() != "a1 a2 b1 b2 c1 c2 d1 d2 " {
		t.Errorf("at the end it shows %q", out.String())
	}
}

// FuzzGoText: any bytes are shown, and nothing stays held.
func FuzzGoText(f *testing.F) {
	f.Add(`{"Action":"output","Package":"p","Test":"T/a","Output":"--- FAIL: T/a (0.00s)\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"T/a"}` + "\n" + `{"Action":"fail","Package":"p"}`)
	f.Add(`{"Action":"output","Package":"p","Output":"1"}` + "\n" + `{"Action":"output","Package":"q","Output":"2"}` + "\n" + `{"Action":"pass","Package":"q"}`)
	f.Add(`{"Action":"output","Package":"p","Output":"ok"}` + "\n" + `{"Action":"pass","Package":"p"}` + "\nplain")
	f.Fuzz(func(t *testing.T, text string) {
		for _, verbose := range []bool{false, true} {
			var out strings.Builder
			g := newGoText(streams{&out, &out}, verbose)
			g.Show([]byte(text))
			if g.Flush(); g.held != 0 || len(g.packs) != 0 {
				t.Errorf("at the end %d bytes of %d packages are held", g.held, len(g.packs))
			}
		}
	})
}
