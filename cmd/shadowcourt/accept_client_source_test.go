package main

import (
	"encoding/json"
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

// TestAccept_SV6_TryServerReadsTheSource: what the Light path finds in the source and its diff goes with the docket, so that the service
// answers what a run on this machine does. Experiments, which it can't send, are rejected with what to do, and the command that would
// settle a case names the revision.
func TestAccept_SV6_TryServerReadsTheSource(t *testing.T) {
	t.Parallel()
	folder, report := changedProject(t)
	server, u := startService(t), newUser(t)
	type result struct {
		ID    string `json:"id"`
		Final struct {
			Status         string  `json:"status"`
			Classification string  `json:"classification"`
			Confidence     float64 `json:"confidence"`
		} `json:"final"`
	}
	try := func(args ...string) (r result, text string) {
		t.Helper()
		s := u.run(t, "", append([]string{"try", report, "--format", "jsonl"}, args...)...)
		if err := json.Unmarshal([]byte(s.out), &r); err != nil || s.code != 0 || r.Final.Classification == "" {
			t.Fatalf("%q: %v\n%+v", args, err, s)
		}
		return r, s.out
	}
	source := []string{"--source", folder, "--since", "green"}
	here, _ := try(source...)
	there, text := try(append([]string{"--server", server}, source...)...)
	without, _ := try("--server", server)
	if there.Final != here.Final || there.ID != here.ID {
		t.Errorf("the service says %+v, a run on this machine %+v", there.Final, here.Final)
	}
	if !strings.Contains(text, "seeker-source:diff") || without.Final == here.Final {
		t.Errorf("the source makes no difference: without it %+v\n%s", without.Final, text)
	}
	// The command for a case that is not certain.
	u.run(t, "", "try", report, "--server", server).wants(t, 0, "--source DIR --since REVISION")
	u.run(t, "", append([]string{"try", report, "--server", server}, source...)...).wants(t, 0, "--since green --source "+folder)
	// With experiments it is tried here, and the results are sent.
	u.run(t, "", append([]string{"try", report, "--server", server, "--experiments", "all,budget=1m"}, source...)...).wants(t, 0,
		"the base passes, and the test did not change", "docket 5: "+server+"/dockets/5")
	u.run(t, "", append([]string{"try", "--server", server, "--docket", "5", "--experiments", "all"}, source...)...).wants(t, 2, "leave out --experiments")
	// What can't be sent.
	u.run(t, "", "try", "go-failures.jsonl", "--server", server, "--source", folder).wants(t, 2, "go-failures.jsonl", "leave out --source")
	u.run(t, "", "try", report, "--server", server, "--since", "green").wants(t, 2, "--since needs --source")
	u.run(t, "", append([]string{"try", report, "--server", server, "--remember"}, source...)...).wants(t, 2, "--remember with --server and --source")
}
