package main

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// user runs shadowcourt with a configuration of its own.
type user struct {
	config string
	env    []string
}

func newUser(t *testing.T) *user {
	t.Helper()
	return &user{config: t.TempDir()}
}

func (u *user) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := command(t, filepath.Join(repositoryRoot(t), "examples", "dockets"), append([]string{"XDG_CONFIG_HOME=" + u.config, "SHADOWCOURT_TOKEN="}, u.env...), append([]string{"shadowcourt"}, args...)...)
	return cmd
}

func (u *user) run(t *testing.T, stdin string, args ...string) said {
	t.Helper()
	cmd := u.command(t, args...)
	cmd.Stdin = strings.NewReader(stdin)
	return executed(t, cmd)
}

// TestAccept_SV6_TryServerShowsWhatTryShows: for each format of reports and of results the bytes are those of a local run, and so is the
// exit code.
func TestAccept_SV6_TryServerShowsWhatTryShows(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "internal/render", "cmd/shadowcourt/internal/try")
	server, u := startService(t), newUser(t)
	same := func(stdin string, args ...string) {
		t.Helper()
		here, there := u.run(t, stdin, append([]string{"try"}, args...)...), u.run(t, stdin, append([]string{"try", "--server", server}, args...)...)
		if here.out != there.out || here.code != there.code || here.out == "" {
			t.Errorf("%q: exit code %d\n%s\nand of the service %d\n%s%s", args, here.code, here.out, there.code, there.out, there.errors)
		}
	}
	for _, format := range []string{"table", "json", "jsonl"} {
		same("", "godotenv.gotest.json", "--format", format)
	}
	same("", "go-failures.jsonl", "--format", "jsonl")
	same("", "inputs/surefire.xml", "--format", "table")
	same("", "inputs/pytest.xml", "inputs/surefire.xml", "--fail-on", "pb001,label:unheard")
	same("", "inputs/surefire.xml", "--from", "no-groups", "--format", "jsonl", "--fail-on", "affirmed")
	report := must.Get(os.ReadFile(filepath.Join(repositoryRoot(t), "examples", "dockets", "inputs", "surefire.xml")))(t)
	same(string(report), "-")
	same(string(report), "--from", "junit", "--format", "jsonl")
	here, there := t.TempDir(), t.TempDir()
	files := func(folder string, more ...string) []string {
		in := func(name string) string { return filepath.Join(folder, name) }
		return append([]string{"try", "godotenv.gotest.json", "--output", in("out"), "--report", in("r.md"), "--cases", in("cases.jsonl")}, more...)
	}
	u.run(t, "", files(here)...).wants(t, 0)
	u.run(t, "", files(there, "--server", server)...).wants(t, 0)
	for _, name := range []string{"out", "r.md", "cases.jsonl"} {
		if a, b := readFile(t, filepath.Join(here, name)), readFile(t, filepath.Join(there, name)); a != b || a == "" {
			t.Errorf("%s: %s\nand of the service\n%s", name, a, b)
		}
	}
}

func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// TestAccept_SV6_TheSameReportIsOneDocket: the same command shows the same docket, --docket shows it too, and another key makes another.
func TestAccept_SV6_TheSameReportIsOneDocket(t *testing.T) {
	t.Parallel()
	server, u := startService(t), newUser(t)
	try := func(args ...string) said {
		return u.run(t, "", append([]string{"try", "--server", server, "--format", "jsonl"}, args...)...)
	}
	first := try("inputs/surefire.xml")
	first.wants(t, 0, "docket 1: "+server+"/dockets/1")
	again := try("inputs/surefire.xml")
	again.wants(t, 0, "note: docket 1 was submitted before with this report", "docket 1: ")
	shown := try("--docket", "1")
	shown.wants(t, 0)
	if first.out != again.out || first.out != shown.out || first.out == "" {
		t.Errorf("%s\n%s\n%s", first.out, again.out, shown.out)
	}
	try("inputs/surefire.xml", "--server", "key=mine").wants(t, 0)
	try("godotenv.gotest.json", "--server", "key=mine").wants(t, 2, "(key_reused)")
	try("demo.yaml").wants(t, 2, "demo.yaml is plain text")
	try("--docket", "999").wants(t, 2, "docket 999: not found (not_found)")
	if list := ask(t, http.MethodGet, server+"/api/v1/dockets", "").body; strings.Count(list, `"surefire.xml"`) != 2 || strings.Contains(list, "godotenv") {
		t.Errorf("the dockets are %s", list)
	}
}

// TestAccept_SV6_FaultsOfADocketAreNamed: as on this machine, but for the folder of the file.
func TestAccept_SV6_FaultsOfADocketAreNamed(t *testing.T) {
	t.Parallel()
	tier.Long(t, "internal/service", "host/docket", "internal/run")
	server, u := startService(t), newUser(t)
	good := readFile(t, filepath.Join(repositoryRoot(t), "examples", "dockets", "go-failures.jsonl"))
	good, _, _ = strings.Cut(good, "\n")
	folder := t.TempDir()
	in := func(name, text string) string {
		file := filepath.Join(folder, name)
		must.Do(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	bad := in("bad.jsonl", good+"\n{\"id\":\"b\"}\n"+good+"\n")
	all := in("all.jsonl", "{\"id\":\"all\"}\nno JSON\n")
	many := in("many.jsonl", strings.Repeat("{\"id\":\"many\"}\n", 30))
	other := in("other.pdf", "%PDF-1.4")
	right := in("right.jsonl", strings.Repeat(strings.Replace(good, `"light":{"classification":`, `"light":{"classification":"x`, 1)+"\n", 30))
	passed := in("passed.xml", `<testsuite name="s"><testcase name="a" classname="b"/></testsuite>`)
	cut := in("cut.xml", `<testsuite name="s"><testcase name="a" classname="b"><failure message="m">x</failure></testcase><testcase name=`)
	for _, files := range [][]string{{bad}, {cut}, {passed}, {all}, {many}, {right}, {other}, {all, bad}, {other, bad}, {other, all}} {
		here, there := u.run(t, "", append([]string{"try"}, files...)...), u.run(t, "", append([]string{"try", "--server", server}, files...)...)
		if here.out != there.out || here.code != there.code {
			t.Errorf("%s: exit code %d\n%s%s\nand of the service %d\n%s%s", files, here.code, here.out, here.errors, there.code, there.out, there.errors)
		}
		said := strings.ReplaceAll(here.errors, folder+string(filepath.Separator), "")
		if here.code == 2 && lastLine(said) != lastLine(there.errors) {
			t.Errorf("%s: it ends with\n%s\nand of the service\n%s", files, here.errors, there.errors)
		}
		for line := range strings.Lines(said) {
			for _, file := range files {
				if strings.HasPrefix(line, filepath.Base(file)) && !strings.Contains(there.errors, line) {
					t.Errorf("%s: %q is not in\n%s", files, line, there.errors)
				}
			}
		}
	}
}

// TestAccept_SV6_TokensOfLogin: a token is verified before it is kept, for its owner alone; without a valid one the service rejects
// dockets; and no output has it.
func TestAccept_SV6_TokensOfLogin(t *testing.T) {
	t.Parallel()
	data, u := t.TempDir(), newUser(t)
	server := startServiceOn(t, data, "0.0.0.0:0")
	server = "http://127.0.0.1:" + server[strings.LastIndex(server, ":")+1:]
	add := func(args ...string) string {
		t.Helper()
		made := u.run(t, "", append([]string{"serve", "token", "add", "--data", data}, args...)...)
		made.wants(t, 0)
		return strings.TrimSpace(made.out)
	}
	token, reader := add("ci"), add("people", "--scopes", "review")
	const wrong = "sct_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	run := func(stdin string, code int, args []string, texts ...string) said {
		t.Helper()
		got := u.run(t, stdin, args...)
		got.wants(t, code, texts...)
		for _, secret := range []string{token, reader, wrong} {
			if strings.Contains(got.out+got.errors, secret) {
				t.Errorf("a token is in\n%s%s", got.out, got.errors)
			}
		}
		return got
	}
	login, try := []string{"login", server}, []string{"try", "inputs/surefire.xml", "--server", server}
	run("", 2, try, "a token is needed", "(unauthenticated)", "`shadowcourt login "+server+"` keeps a token")
	run("", 2, login, "not a token")
	run("hunter2", 2, login, "not a token")
	run(wrong, 2, login, "the token is not valid here", "(unauthenticated)")
	if entries, err := os.ReadDir(u.config); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v: a wrong token is kept", entries, err)
	}
	run(reader, 0, login, "knows you as people, with the scopes review")
	run("", 2, try, "the token of people lacks the scope submit")
	run(token+"\n", 0, []string{"login", server + "/"}, "knows you as ci, with the scopes submit")
	ownerOnly(t, u.config)
	local := u.run(t, "", "try", "inputs/surefire.xml")
	if there := run("", 0, try); there.out != local.out {
		t.Errorf("%s\nwant\n%s", there.out, local.out)
	}
	u.env = []string{"SHADOWCOURT_TOKEN=" + wrong}
	run("", 2, try, "the token is not valid here")
	run(token, 0, login, "note: the variable SHADOWCOURT_TOKEN is set and comes first")
	u.env = []string{"SHADOWCOURT_TOKEN=nonsense"}
	run("", 2, try, "the variable SHADOWCOURT_TOKEN: not a token")
	u.env = nil
	u.run(t, "", "serve", "token", "revoke", "1", "--data", data).wants(t, 0)
	run("", 2, try, "the token is not valid here")
	run("", 0, []string{"login", "--remove", server}, "is removed")
	run("", 2, []string{"login", "--remove", server}, "no token is kept for "+server)
	run("", 2, try, "a token is needed")
	run("", 2, []string{"login", "court.example"}, "use the address of a service")
}

// ownerOnly checks that a folder has one file, which nobody else may read.
func ownerOnly(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if files++; err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o", name, info.Mode().Perm())
		}
		return err
	})
	if err != nil || files != 1 {
		t.Errorf("%d files, %v", files, err)
	}
}

// before is a server that stands before a service, and may do something else with a request.
func before(t *testing.T, service string, instead func(w http.ResponseWriter, r *http.Request, pass http.Handler)) string {
	t.Helper()
	target := must.Get(url.Parse(service))(t)
	own := must.Get(wire.FindOwn(service))(t)
	pass := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", "Bearer "+own.Token)
	}, FlushInterval: -1}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { instead(w, r, pass) }))
	t.Cleanup(s.Close)
	return s.URL
}

// cutting cuts an answer off after some bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) >= c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		_ = http.NewResponseController(c.ResponseWriter).Flush()
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

// TestAccept_SV6_ACutConnectionLosesNothing: a docket whose upload, whose answer and whose results are cut off is submitted once, and its
// table is whole.
func TestAccept_SV6_ACutConnectionLosesNothing(t *testing.T) {
	t.Parallel()
	service, u := startService(t), newUser(t)
	var submitted, read atomic.Int32
	server := before(t, service, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		switch {
		case r.Method == http.MethodPost:
			switch submitted.Add(1) {
			case 1: // the upload breaks off
				_, _ = r.Body.Read(make([]byte, 100))
				panic(http.ErrAbortHandler)
			case 2: // the docket is there, and its answer is lost
				pass.ServeHTTP(&cutting{w, 10}, r)
				return
			}
		case strings.HasSuffix(r.URL.Path, "/trials") && read.Add(1) <= 3:
			pass.ServeHTTP(&cutting{w, 1000}, r)
			return
		}
		pass.ServeHTTP(w, r)
	})
	want := u.run(t, "", "try", "godotenv.gotest.json")
	got := u.run(t, "", "try", "godotenv.gotest.json", "--server", server)
	got.wants(t, 0)
	if got.out != want.out || got.out == "" {
		t.Errorf("%s\nwant\n%s", got.out, want.out)
	}
	if submitted.Load() != 3 || read.Load() < 2 {
		t.Errorf("%d submissions and %d readings", submitted.Load(), read.Load())
	}
	if list := ask(t, http.MethodGet, service+"/api/v1/dockets", "").body; strings.Count(list, `"submitter"`) != 1 {
		t.Errorf("the dockets are %s", list)
	}
}

// omitting passes a stream of trials on without some of its lines.
type omitting struct {
	http.ResponseWriter
	lost func(line string) bool
	text string
}

func (o *omitting) Write(p []byte) (int, error) {
	o.text += string(p)
	for {
		line, rest, whole := strings.Cut(o.text, "\n")
		if !whole {
			return len(p), nil
		}
		if o.text = rest; !o.lost(line) {
			_, _ = io.WriteString(o.ResponseWriter, line+"\n")
		}
	}
}

// TestAccept_SV6_MissingResultsAreCounted: where a stream ends as if it was whole, and the docket is done, the missing results are asked for
// again, and an error if they do not come.
func TestAccept_SV6_MissingResultsAreCounted(t *testing.T) {
	t.Parallel()
	service, u := startService(t), newUser(t)
	lost := func(entry string, read *atomic.Int32, times int32) string {
		return before(t, service, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
			if strings.HasSuffix(r.URL.Path, "/trials") && read.Add(1) <= times {
				w = &omitting{ResponseWriter: w, lost: func(line string) bool { return strings.Contains(line, `"ordinal":`+entry+`,`) }}
			}
			pass.ServeHTTP(w, r)
		})
	}
	try := func(server string) said {
		return u.run(t, "", "try", "godotenv.gotest.json", "--format", "jsonl", "--server", server)
	}
	want := try(service)
	want.wants(t, 0)
	var first, last atomic.Int32
	if got := try(lost("2", &last, 1)); got.code != 0 || got.out != want.out || last.Load() != 2 {
		t.Errorf("exit code %d, %d streams\n%d bytes, want %d\n%s", got.code, last.Load(), len(got.out), len(want.out), got.errors)
	}
	try(lost("1", &first, 9)).wants(t, 1, "docket 1 is done, and 1 of its 2 results are missing\n")
	check.Equal(t, first.Load(), 1, "streams for an entry that was left out")
}

// TestAccept_SV6_OtherServersAreNamed shows that there is one clear message about a server that is no service, or that can't be trusted. Such a
// server gets neither a docket nor a token a second time.
func TestAccept_SV6_OtherServersAreNamed(t *testing.T) {
	t.Parallel()
	const token = "sct_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	u := newUser(t)
	u.env = []string{"SHADOWCOURT_TOKEN=" + token}
	var stolen atomic.Int32
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		stolen.Add(1)
	}))
	t.Cleanup(thief.Close)
	serve := func(h http.HandlerFunc) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, tc := range map[string]struct {
		server string
		code   int
		want   string
	}{
		"a redirect":    {serve(http.RedirectHandler(thief.URL+"/api/v1/me", http.StatusTemporaryRedirect).ServeHTTP), 2, "redirects to " + thief.URL},
		"a page":        {serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }), 1, "is not a Shadowcourt service"},
		"a certificate": {secure.URL, 1, "its certificate is not trusted"},
		"no TLS":        {strings.Replace(thief.URL, "http:", "https:", 1), 1, "it answers without TLS"},
		"TLS":           {strings.Replace(secure.URL, "https:", "http:", 1), 2, "this service speaks https; use https://127.0.0.1:"},
		"nobody":        {gone.URL, 1, "no connection"},
	} {
		for _, args := range [][]string{{"try", "inputs/surefire.xml", "--server", tc.server}, {"login", tc.server}} {
			got := u.run(t, token, args...)
			if got.wants(t, tc.code, tc.want); strings.Count(got.errors, "\n") != 1 || strings.Contains(got.errors, token) || got.out != "" {
				t.Errorf("%s: %s%s", name, got.out, got.errors)
			}
		}
	}
	check.Equal(t, stolen.Load(), 0, "another server", "requests")
}

// TestAccept_SV6_FlagsThatTheServiceDecidesAreRejected: all at once, and each flag of try either works with --server or is among them.
func TestAccept_SV6_FlagsThatTheServiceDecidesAreRejected(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	var try *cobra.Command
	for _, cmd := range cli.Root(commands(cli.Streams{})).Commands() {
		if cmd.Name() == "try" {
			try = cmd
		}
	}
	works := []string{
		"server", "format", "output", "report", "fail-on", "from", "remember", "repository", "revision",
	}
	args := []string{"try", "--server", "https://court.example"}
	var rejected []string
	try.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || regexp.MustCompile(`^(`+strings.Join(works, "|")+`)$`).MatchString(f.Name) {
			return
		}
		rejected = append(rejected, "--"+f.Name)
		value := f.DefValue
		if value == "" || value == "[]" {
			value = f.Name // no two files are the same
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	got := u.run(t, "", args...)
	got.wants(t, 2, append(rejected, "--server: the service decides how cases are tried", "the service has a page for each trial; leave out --explain",
		"leave out --source, or add --experiments")...)
	if len(rejected) < 12 || strings.Count(got.errors, "\n") > 4 {
		t.Errorf("%d flags\n%s", len(rejected), got.errors)
	}
	u.run(t, "", "try", "--server", "docket=1,key=k,repository=r,revision=v").wants(t, 2, "--server: name the URL before its options")
	u.run(t, "", "try", "--server", "court.example", "--docket", "0", "-", "-", "--from", "junit").wants(t, 2, "--server: use the address", "--server docket=0: use the ID",
		"leave out --from, the names of files", "use one -")
	u.run(t, "", "try", "--server", "https://court.example", "missing.xml", ".").wants(t, 2, "missing.xml", ". is a folder")
}
