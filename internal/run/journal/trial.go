package journal

import (
	"encoding/json"
	"fmt"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// EncodeTrial gives a trial as JSON, in two parts: its result, and its story, which is all that a report shows beside. The story
// has no case and no members, which the caller keeps: cases are large, and many trials have the same.
func EncodeTrial(t *trial.Trial) (result, story []byte, err error) {
	l := newLine(withoutCases(t), true)
	if result, err = encode(l.Result); err != nil {
		return nil, nil, err
	}
	story, err = encode(l.Story)
	return result, story, err
}

func withoutCases(t *trial.Trial) *trial.Trial {
	if t == nil {
		return nil
	}
	without := *t
	without.Case, without.Members = abi.Case{}, nil
	without.Beside = withoutCases(t.Beside)
	return &without
}

// DecodeTrial reads what EncodeTrial gave. Without a story the trial has a result alone.
func DecodeTrial(result, told []byte) (*trial.Trial, error) {
	l := &line{Result: &trial.Result{}}
	if err := json.Unmarshal(result, l.Result); err != nil {
		return nil, fmt.Errorf("the result of a trial: %w", err)
	}
	if l.Result.ID == "" || l.Result.Final.Status == "" {
		return nil, fmt.Errorf("the result of a trial: %w", errNoTrial)
	}
	if len(told) > 0 {
		l.Story = &story{}
		if err := json.Unmarshal(told, l.Story); err != nil { //nolint:musttag // see decode
			return nil, fmt.Errorf("the story of a trial: %w", err)
		}
	}
	return l.trial(), nil
}
