package experiment_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_AK6_OtherDependencies: the base runs with the installation of head. Where it asks for another one it shows nothing of its own.
func TestAccept_AK6_OtherDependencies(t *testing.T) {
	tier.Long(t, "host/experiment")
	needPytest(t)
	for _, c := range []struct {
		name  string
		files map[string]string // beside the project
		head  replaced
		named string // empty: the base is certified
	}{
		{"a pin", map[string]string{"requirements.txt": "shop-rates==1.0\n"}, replaced{"requirements.txt": {"1.0", "2.0"}}, "requirements.txt is not"},
		{"a file that another one names", map[string]string{"requirements.txt": "-r deps/base.in\n", "deps/base.in": "shop-rates\n"}, replaced{"deps/base.in": {"rates", "rates<2"}}, "deps/base.in is not"},
		{"a project", map[string]string{"pyproject.toml": "[project]\nname = \"shop\"\nversion = \"1\"\ndependencies = [\n  \"rates\",\n]\n"}, replaced{"pyproject.toml": {"\"rates\"", "\"rates>2\""}}, "pyproject.toml is not"},
		{"a list and its lock", map[string]string{"Pipfile": "a\n", "Pipfile.lock": "x"}, replaced{"Pipfile": {"a", "b"}, "Pipfile.lock": {"x", "y"}}, "Pipfile, Pipfile.lock are not"},
		{"the project's own version", map[string]string{"pyproject.toml": "[project]\nname = \"shop\"\nversion = \"1\"\n[tool.black]\nline-length = 80\n"}, replaced{"pyproject.toml": {"version = \"1\"\n[tool.black]\nline-length = 80", "version = \"2\"\n[tool.black]\nline-length = 100"}}, ""},
		{"a comment", map[string]string{"requirements.txt": "# old\nshop-rates==1.0\n"}, replaced{"requirements.txt": {"old", "new"}}, ""},
		{"another project's", map[string]string{"other/requirements.txt": "a\n"}, replaced{"other/requirements.txt": {"a", "b"}}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			project := map[string]string{}
			for _, files := range []map[string]string{pyProject, c.files} {
				maps.Copy(project, files)
			}
			l := open(t, experiment.Config{Source: changedBy(t, project, c.head), Base: "green", Mode: experiment.All, Budget: time.Hour})
			r, err := l.Run(t.Context(), pyCase(), parse(t, onlyGreen))
			want := abi.Certified
			if c.named != "" {
				want = abi.NotCertified
			}
			if err != nil || r.Outcome != abi.OutcomeSame || r.Loaded != want || !strings.Contains(r.Detail, c.named) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

// modeOf is what a new file has that is made with a mode, as a literal of Go.
func modeOf(t *testing.T, mode os.FileMode) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, mode))
	return fmt.Sprintf("%#o", must.Get(os.Stat(file))(t).Mode().Perm())
}

// TestAccept_AK5_Permissions that git does not keep are those of the checkout, where it has what the tree has; else as git makes them.
func TestAccept_AK5_Permissions(t *testing.T) {
	dir := t.TempDir()
	test := "package shop\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestModes(t *testing.T) {\n\tfor name, want := range map[string]os.FileMode{WANT} {\n" +
		"\t\tif i, err := os.Stat(name); err != nil || i.Mode().Perm() != want {\n\t\t\tt.Errorf(\"%s: %v, %v\", name, i, err)\n\t\t}\n\t}\n}\n"
	modes := strings.NewReplacer("WRITTEN", modeOf(t, 0o644), "NEW", modeOf(t, 0o666)) // by the umask
	write := func(text, want string) {
		must.Write(t, dir, map[string]string{"keys/changed.key": text, "shop_test.go": strings.ReplaceAll(test, "WANT", modes.Replace(`".": 0o751, "keys": 0o775, "keys/id.key": 0o600, "run.sh": 0o700, "plain": WRITTEN, `+want))})
	}
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"go.mod": "module example.com/shop\n\ngo 1.26\n", "keys/id.key": "secret", "run.sh": "", "plain": ""})
	must.Do(t, os.Chmod(filepath.Join(dir, "run.sh"), 0o755))
	write("old", `"keys/changed.key": NEW`)
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	write("new", `"keys/changed.key": 0o640, "keys/new.key": 0o600`)
	must.Write(t, dir, map[string]string{"keys/new.key": ""})
	for name, mode := range map[string]os.FileMode{"": 0o751, "keys": 0o775 | os.ModeSetgid, "keys/id.key": 0o400, "keys/changed.key": 0o640, "keys/new.key": 0o600, "run.sh": 0o700 | os.ModeSetuid} {
		must.Do(t, os.Chmod(filepath.Join(dir, name), mode))
	}
	config := experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour, CacheDir: t.TempDir()}
	subject := &abi.Case{Group: "example.com/shop", Subject: "TestModes fails in example.com/shop", Documents: []abi.Document{{Name: "log", Text: "    shop_test.go:1: x\n"}}}
	l := open(t, config)
	run := func(want abi.ExperimentOutcome, names ...string) {
		t.Helper()
		for _, name := range names {
			if r := must.Get(l.Run(t.Context(), subject, parse(t, name)))(t); r.Outcome != want {
				t.Errorf("%s: got %+v", name, r)
			}
		}
	}
	run(abi.OutcomePassed, again, onlyGreen)
	without := open(t, config)
	without.WithoutOverlays()
	digest := l.Digest()
	l = without
	run(abi.OutcomePassed, again, onlyGreen)
	must.Do(t, os.Chmod(filepath.Join(dir, "keys", "id.key"), 0o644))
	if l = open(t, config); l.Digest() == digest {
		t.Error("the digest does not tell permissions")
	}
	run(abi.OutcomeOther, onlyGreen)
}
