package experiment_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// TestAccept_AK6_OtherDependencies: the base runs with the installation of head. Where it asks for another one it shows nothing of its own.
func TestAccept_AK6_OtherDependencies(t *testing.T) {
	needPytest(t)
	whole := tier.Whole("host/experiment")
	for i, c := range []struct {
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
		if i%3 != 0 && !whole {
			continue
		}
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
