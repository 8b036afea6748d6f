package source

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Role says what a file is for.
type Role string

// The roles. What is no fixture and no test is product code.
const (
	RoleProduct Role = "product"
	RoleTest    Role = "test"
	RoleFixture Role = "fixture" // data of tests
)

var testNames = regexp.MustCompile(`_test\.(?:go|py|rs|exs|cc|cpp|c|dart|ts|js)$|^test_.*\.py$|^conftest\.py$` +
	`|[.-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|_(?:spec|test)\.rb$|^(?:Test.*|.*(?:Test|Tests|TestCase|IT|Spec))\.(?:java|kt|scala|groovy|cs|php|swift)$` +
	`|\.(?:bats|feature)$`)

// RoleOf tells from a slash-separated path, by what languages and their tools agree on, whether a file is product code, a
// test or a fixture.
func RoleOf(name string) Role {
	dirs := strings.Split(strings.ToLower(path.Dir(name)), "/")
	base := path.Base(name)
	has := func(names ...string) bool {
		return slices.ContainsFunc(dirs, func(dir string) bool { return slices.Contains(names, dir) })
	}
	switch ext := strings.ToLower(path.Ext(base)); {
	case has("testdata", "fixtures", "fixture", "__fixtures__", "__snapshots__", "cassettes", "golden"),
		ext == ".golden", ext == ".snap", strings.Contains("/"+strings.ToLower(name), "/src/test/resources/"):
		return RoleFixture
	case testNames.MatchString(base),
		has("test", "tests", "__tests__", "spec", "specs", "e2e", "__mocks__", "androidtest", "testing"):
		return RoleTest
	}
	return RoleProduct
}
