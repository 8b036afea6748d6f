package open

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestExperimentCommand(t *testing.T) {
	t.Parallel()
	rerun := trial.Factors{Product: abi.Head, Tests: abi.Head, Runs: 5}
	green := trial.Factors{Product: abi.Base, Tests: abi.Base, Runs: 2}
	for _, tc := range []struct {
		name, id string
		args     []string
		proposal trial.Proposal
		want     string
	}{
		{"nothing is known", "a.T", nil, trial.Proposal{Factors: green}, "shadowcourt try DOCKET --explain a.T --experiments all --source DIR --since REVISION"},
		{"a rerun needs no revision", "a.T", []string{"--source", "."}, trial.Proposal{Factors: rerun}, "shadowcourt try DOCKET --explain a.T --experiments all --source ."},
		{
			"words that a shell would read", "a.T/it's $(x)",
			[]string{"--source=my code", "--experiments", "off,network", "--runner", "a.yaml", "--experiments=runner=b c.yaml"},
			trial.Proposal{Factors: rerun},
			`shadowcourt try DOCKET --explain 'a.T/it'\''s $(x)' --experiments 'all,network,runner=a.yaml,runner=b c.yaml' --source 'my code'`,
		},
		{
			"what a terminal does not show", "a.T/one\n  two's\\\x1b\xff ä",
			[]string{"--source", "."},
			trial.Proposal{Factors: rerun},
			`shadowcourt try DOCKET --explain $'a.T/one\x0a\x20 two\'s\\\x1b\xff ä' --experiments all --source .`,
		},
		{"flags that look like a case", "--help", []string{"--source", "."}, trial.Proposal{Factors: rerun}, "shadowcourt try DOCKET --explain=--help --experiments all --source ."},
		{"the same again", "a.T", []string{"--source", ".", "--since", "v1", "--experiments=all"}, trial.Proposal{Factors: green, WhyNot: "no git"}, ""},
		{"the same rerun again", "a.T", []string{"--source", ".", "--experiments=reruns"}, trial.Proposal{Factors: rerun, WhyNot: "the tree does not build"}, ""},
		{
			"the same with the home", "a.T",
			[]string{"--source", ".", "--experiments=reruns", "--experiment-home=false"},
			trial.Proposal{Factors: rerun, Allow: "home"},
			"shadowcourt try DOCKET --explain a.T --experiments all,home --source .",
		},
		{
			"the same with the network", "a.T",
			[]string{"--source", ".", "--since=v1", "--experiments=all", "--experiment-home"},
			trial.Proposal{Factors: rerun, Allow: "network"},
			"shadowcourt try DOCKET --explain a.T --experiments all,home=true,network --since v1 --source .",
		},
		{"with a budget of its own", "a.T", []string{"--source", ".", "--since", "v1", "--experiments=all", "--budget", "1s"}, trial.Proposal{Factors: green, WhyNot: "the budget of 1s is used up"}, "shadowcourt try DOCKET --explain a.T --experiments all --since v1 --source ."},
		{"a revision that was missing", "a.T", []string{"--source", ".", "--experiments=all"}, trial.Proposal{Factors: green, WhyNot: "no green revision is named"}, "shadowcourt try DOCKET --explain a.T --experiments all --source . --since REVISION"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var o Flags
			cmd := &cobra.Command{}
			o.LightFlags(cmd, "")
			o.ExperimentFlags(cmd, experimentsOff)
			must.Do(t, cmd.ParseFlags(tc.args))
			check.Equal(t, o.ExperimentCommand("DOCKET", tc.id, &tc.proposal, strings.Contains(tc.proposal.WhyNot, "used up")), tc.want)
		})
	}
}

func TestSayExperiments(t *testing.T) {
	t.Parallel()
	check.Equal(t, SayExperiments(experiment.Progress{Budget: time.Minute}), "", "nothing runs")
	got := SayExperiments(experiment.Progress{
		Running: []string{"TestA: this tree, 5 times", "Test\x1b[2J: this tree, once"}, Waiting: 2, Expected: 12*time.Second + 400*time.Millisecond, Budget: 9 * time.Minute,
	})
	if want := "about 12s to go, running TestA: this tree, 5 times, Test"; !strings.HasPrefix(got, want) || strings.Contains(got, "\x1b") || !strings.HasSuffix(got, " and 2 more; 9m0s of the budget left") {
		t.Errorf("%q", got)
	}
}
