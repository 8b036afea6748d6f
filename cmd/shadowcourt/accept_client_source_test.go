package main

import (
	"strings"
	"testing"
)

// changedProject makes a git repository whose product was changed since the tag green, and the report of its failing tests.
func changedProject(t *testing.T) (folder, report string) {
	t.Helper()
	product := "package cart\n\n// Total adds prices.\nfunc Total(prices []int) int {\n\tsum := 0\n\tfor _, p := range prices {\n\t\tsum += p\n\t}\n\treturn sum\n}\n"
	p := &project{
		green: map[string]string{
			"go.mod": "module example.com/cart\n\ngo 1.24\n", "cart.go": product,
			"cart_test.go": "package cart\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) {\n\tif got := Total([]int{1, 2, 3}); got != 6 {\n\t\tt.Errorf(\"Total = %d, want 6\", got)\n\t}\n}\n",
		},
		head: map[string]string{"cart.go": strings.Replace(product, "sum := 0", "sum := 1", 1)},
	}
	p.write(t)
	return p.dir, p.report(t)
}

// TestAccept_SV6_TryServerSendsResults: with experiments a case is tried here, where the source is, and the service gets the results. Without,
// the command that would settle a case is named.
func TestAccept_SV6_TryServerSendsResults(t *testing.T) {
	t.Parallel()
	folder, report := changedProject(t)
	server, u := startService(t), newUser(t)
	u.run(t, "", "try", report, "--server", server).wants(t, 0, "--source DIR --since REVISION")
	u.run(t, "", "try", report, "--server", server, "--experiments", "all,budget=1m", "--source", folder, "--since", "green").wants(t, 0,
		"the base passes, and the test did not change", "docket 2: "+server+"/dockets/2")
	u.run(t, "", "try", "--server", server, "--docket", "2", "--experiments", "all", "--source", folder).wants(t, 2, "leave out --experiments")
	u.run(t, "", "try", report, "--server", server, "--since", "green").wants(t, 2, "leave out --since")
}
