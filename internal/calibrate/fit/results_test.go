package fit_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
)

var rerun = abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}

func TestReadResults(t *testing.T) {
	t.Parallel()
	line, err := json.Marshal(trial.Result{ID: "a", Experiments: []trial.Experiment{
		trial.NewExperiment("verdict", "specter", &abi.ExperimentResult{Experiment: rerun, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	of, err := fit.ReadResults(strings.NewReader(string(line) + "\n\n{\"id\":\"b\"}\n"))
	if err != nil || len(of.Experiments) != 2 || len(of.Experiments["a"]) != 1 {
		t.Fatalf("%+v, %v", of, err)
	}
	if a := of.Experiments["a"][0]; a.Experiment != rerun || a.Outcome != abi.OutcomeMixed || a.Passed != 1 {
		t.Errorf("%+v", a)
	}
	for name, text := range map[string]string{
		"no JSON":             "{}\nx\n",
		"a second result":     "{\"id\":\"a\"}\n{\"id\":\"a\"}\n",
		"no outcome":          strings.Replace(string(line), `"mixed"`, `"odd"`, 1),
		"no number of runs":   strings.Replace(string(line), `"runs":5`, `"runs":0`, 1),
		"a number that is no": strings.Replace(string(line), `"runs":5`, `"runs":"5"`, 1),
	} {
		if _, err := fit.ReadResults(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadResults(f *testing.F) {
	f.Add([]byte(`{"id":"a","experiments":[{"product":"head","tests":"base","environment":"clean","order":"alone","runs":1,"outcome":"passed","passed":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		of, err := fit.ReadResults(bytes.NewReader(data))
		if err != nil {
			return
		}
		for _, list := range of.Experiments {
			for _, r := range list {
				if r.Experiment.Runs < 1 || r.Outcome == "" {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}
