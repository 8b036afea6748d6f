package testlog

import "strings"

// pytestFile ends the file in a node id of pytest.
const pytestFile = ".py"

// PytestName gives the class and the name of a test of pytest in one form, that of its own reports: tests.test_cart.TestTotal
// and test_sum[1-2]. Others take over its node ids, as tests/test_cart.py::TestTotal::test_sum[1-2], as the name or cut
// somewhere. What is no node id stays as it is.
func PytestName(class, name string) (string, string) {
	if base, _, _ := strings.Cut(name, "["); strings.Contains(base, pytestFile+"::") {
		path, rest, _ := strings.Cut(base, "::")
		parameters := name[len(base):]
		module := dotted(path)
		if i := strings.LastIndex(rest, "::"); i >= 0 {
			return module + "." + strings.ReplaceAll(rest[:i], "::", "."), rest[i+2:] + parameters
		}
		return module, rest + parameters
	}
	if path, rest, found := strings.Cut(class, "::"); strings.HasSuffix(path, pytestFile) {
		class = dotted(path)
		if found {
			class += "." + strings.ReplaceAll(rest, "::", ".")
		}
	}
	return class, name
}

// dotted is the module of a file.
func dotted(path string) string {
	path = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(path, pytestFile), `\`, "/"), "./")
	return strings.ReplaceAll(strings.Trim(path, "/"), "/", ".")
}
