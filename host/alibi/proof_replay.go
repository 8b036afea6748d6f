package alibi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// DifferenceError says in what an answer of a proof is another one than its trial and its runs lead to.
type DifferenceError struct{ What, Was, Is string }

// Error says it.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("another %s: the proof says %s, and it follows %s", e.What, e.Was, e.Is)
}

// Deriver derives the answers of a proof again, by the profile in the header of its record. It runs nothing. Safe for concurrent use.
type Deriver struct {
	light *Light
}

// NewDeriver reads the profile of a record.
func NewDeriver(header *record.Header, p *Proof) (*Deriver, error) {
	profile, err := codec.DecodeProfile(header.Profile, len(header.Profile))
	if err != nil {
		return nil, fmt.Errorf("the profile of the record: %w", err)
	}
	l, err := NewLight(nil, &profile, p.MaxFalse)
	return &Deriver{l}, err
}

// Check derives an answer from the trial as it was replayed, the record of the trial, and the runs that the answer states: Light's posterior from
// its runs, and everything else by [Of] at the price of the proof. Not derived are the culprit and After, which runs of other commits and tests
// found, and why nothing ran. The error is a *DifferenceError or says what is missing.
func (d *Deriver) Check(a *Answer, was *record.Trial, replayed *trial.Trial) error {
	runs, err := runsOf(a, replayed)
	if err != nil {
		return err
	}
	if err := d.checkLight(a, was, replayed); err != nil {
		return err
	}
	t := *replayed
	t.Result = replayed.Result
	t.Result.Experiments = runs
	own := *a
	own.Culprit = nil
	is := d.light.of(&t)
	if len(runs) == 0 { // only the laboratory knows why
		is.Why = a.Why
	}
	if is.DependsOnOrder() {
		is.FailsAfter(a.After)
	}
	return compare(&own, is)
}

// mostDifference between two computations of one probability, on machines that round otherwise.
const mostDifference = 1e-9

// recordedAnswer is what records have of an answer of Light.
type recordedAnswer struct {
	Classification string  `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Reasoning      string  `json:"reasoning"`
}

// checkLight computes each answer of Light from the runs that it had made.
func (d *Deriver) checkLight(a *Answer, was *record.Trial, t *trial.Trial) error {
	made := lightRuns(a.Runs)
	used := 0
	for i := range was.Events {
		l := was.Events[i].Light
		if l == nil || l.Failure != nil {
			continue
		}
		data, there := was.Content(l.Answer)
		if !there {
			return errors.New("the record does not hold what Light answered")
		}
		var stated recordedAnswer
		if err := json.Unmarshal(data, &stated); err != nil {
			return fmt.Errorf("the answer of Light: %w", err)
		}
		for used <= len(made) && words(made[:used]) != stated.Reasoning {
			used++
		}
		if used > len(made) {
			return &DifferenceError{"runs of Light", fmt.Sprintf("%q", words(made)), fmt.Sprintf("%q from the record", stated.Reasoning)}
		}
		now := d.light.answer(t.Case.Labels, made[:used])
		if now.Classification != stated.Classification || !(math.Abs(now.Confidence-stated.Confidence) <= mostDifference) {
			return &DifferenceError{
				"posterior of Light", fmt.Sprintf("%s %v", stated.Classification, stated.Confidence), fmt.Sprintf("%s %v from its runs", now.Classification, now.Confidence),
			}
		}
	}
	if used < len(made) {
		return &DifferenceError{"number of runs of Light", strconv.Itoa(len(made)), fmt.Sprintf("%d from the record", used)}
	}
	return nil
}

// byLight names Light among the personas that asked for runs.
const byLight = "light"

func isLight(e *trial.Experiment) bool { return e.Persona == byLight && e.Node == "" }

func lightRuns(runs []trial.Experiment) []abi.ExperimentResult {
	var list []abi.ExperimentResult
	for i := range runs {
		if isLight(&runs[i]) {
			list = append(list, runs[i].Result())
		}
	}
	return list
}

// runsOf are the runs that an answer may rest on: those that it states of Light and of the host, and those of the trial.
func runsOf(a *Answer, t *trial.Trial) ([]trial.Experiment, error) {
	var list []trial.Experiment
	for i := range a.Runs {
		if isLight(&a.Runs[i]) {
			list = append(list, a.Runs[i])
		}
	}
	for i := range t.Result.Experiments {
		own := &t.Result.Experiments[i]
		e := own.Result()
		at := slices.IndexFunc(list, func(o trial.Experiment) bool { return o.Result().Experiment == e.Experiment })
		switch {
		case at < 0:
			list = append(list, *own)
		case list[at].Result() != e:
			return nil, &DifferenceError{"result of " + e.Experiment.Words(), list[at].Showed(), own.Showed() + " in the trial"}
		}
	}
	for i := range a.Runs {
		if e := &a.Runs[i]; byHost(e) && (a.Label == Caused || e.Product == e.Tests) {
			list = append(list, *e)
		}
	}
	if len(list) != len(a.Runs) {
		return nil, &DifferenceError{"number of runs", strconv.Itoa(len(a.Runs)), strconv.Itoa(len(list))}
	}
	return list, nil
}

// byHost says whether a run was made after the trial: for the lock of chance, or of a mixture of both trees to find the part of the change.
func byHost(e *trial.Experiment) bool { return e.Node == "" && e.Persona == "" }

// compare gives the first field in which two answers differ, as JSON.
func compare(was, is *Answer) error {
	fields := [2]map[string]json.RawMessage{}
	var names []string
	for i, a := range []*Answer{was, is} {
		data, err := encode(a)
		if err == nil {
			err = json.Unmarshal(data, &fields[i])
		}
		if err != nil {
			return err
		}
		for name := range fields[i] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if a, b := fields[0][name], fields[1][name]; !bytes.Equal(a, b) {
			return &DifferenceError{name, shown(a), shown(b)}
		}
	}
	return nil
}

func shown(value json.RawMessage) string {
	const most = 200
	if len(value) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%.*s", most, value)
}
