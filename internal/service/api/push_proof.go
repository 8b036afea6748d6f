package api

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// verify reads the proof behind the trials, if there is one: its signatures and its chain must hold, and it must be of these trials. keys are
// those whose signatures are accepted; nil for every key. The text is nil where nothing is signed.
func (p *push) verify(ctx context.Context, keys []*record.Key) ([]byte, error) {
	text, err := p.Record()
	if err != nil {
		return nil, pushError(p.Line()+1, err)
	}
	if p.Key == "" {
		if len(text) > 0 {
			p.fault(onLine(p.Line()+1, ""), abi.CodeUnknownField, "stands behind the last trial, and line 1 has no key for a record")
		}
		return nil, nil
	}
	key, err := record.ParseKey([]byte(p.Key))
	switch {
	case err != nil:
		p.fault(onLine(1, "key"), abi.CodeInvalidValue, "%s", err)
	case key.Signs():
		p.fault(onLine(1, "key"), abi.CodeInvalidValue, "is a private key, which others have seen now: make a new one, and send the public one")
	case len(keys) > 0 && !slices.ContainsFunc(keys, func(k *record.Key) bool { return k.ID() == key.ID() }):
		p.fault(onLine(1, "key"), abi.CodeInvalidValue, "is %s, which is no key that this service accepts", key.ID())
	default:
		p.key = key.ID()
		return text, p.checkRecord(ctx, text, key)
	}
	return nil, nil
}

// checkRecord verifies a record, and compares its trials and its proof with those that were pushed.
func (p *push) checkRecord(ctx context.Context, text []byte, key *record.Key) error {
	first := p.Line() + 1
	recorded := map[string]*record.Trial{}
	var verifier alibi.Verifier
	var header *record.Header
	stop := false
	report, err := record.Verify(ctx, bytes.NewReader(text), key, func(e *record.Entry, head record.Digest) {
		if e.Header != nil {
			header = e.Header
		}
		if e.Trial != nil {
			recorded[e.Trial.ID] = e.Trial
		}
		if err := verifier.Add(e, head); err != nil && !stop {
			stop = true
			p.fault(onLine(first+e.Sequence, ""), abi.CodeInvalidValue, "%s", err)
		}
	})
	switch {
	case err != nil:
		return err
	case report.Fault != nil:
		p.fault(onLine(first+report.Fault.Entry, ""), abi.CodeInvalidValue, "%s", report.Fault.Err)
	case stop:
	case !report.Closed || verifier.Proof == nil:
		p.fault(onLine(first, ""), abi.CodeMissingField, "the record has no proof, or does not end")
	case header.Pipeline != p.Pipeline:
		p.fault(onLine(1, "pipeline"), abi.CodeInvalidValue, "is another one than that of the record")
	case !sameJSON(verifier.Proof.Change, *p.Change):
		p.fault(onLine(1, "change"), abi.CodeInvalidValue, "is another one than that of the proof")
	case len(verifier.Proof.Answers) != len(p.trials):
		p.fault(onLine(1, "trials"), abi.CodeBadCount, "the proof has %d answers", len(verifier.Proof.Answers))
	default:
		for _, a := range verifier.Proof.Answers {
			p.checkProved(a, recorded[a.ID])
		}
	}
	return nil
}

// checkProved compares a trial with what the record and the proof have of it.
func (p *push) checkProved(a *alibi.Answer, was *record.Trial) {
	i := slices.IndexFunc(p.trials, func(t pushed) bool { return t.trial.Case.ID == a.ID })
	if i < 0 {
		p.fault(onLine(1, "trials"), abi.CodeMissingField, "the answer to %q of the proof is missing", cut(a.ID, 80))
		return
	}
	t := &p.trials[i]
	switch {
	case was == nil || !sameCase(was, t.trial.Case):
		p.fault(onLine(t.line, "encoded"), abi.CodeInvalidValue, "the case has another digest than in the record")
	case !sameResult(was.Result, &t.trial.Result):
		p.fault(onLine(t.line, "result"), abi.CodeInvalidValue, "is another one than in the record")
	case !sameJSON(a, t.answer):
		p.fault(onLine(t.line, "answer"), abi.CodeInvalidValue, "is another one than in the proof")
	}
}

// sameCase says whether a case is the recorded one, but for the answer of Light and the evidence that it gathered behind that of the case.
func sameCase(was *record.Trial, is abi.Case) bool {
	message, _ := was.Content(was.Case)
	recorded, err := codec.DecodeCase(message, len(message))
	if err != nil || len(recorded.Evidence) > len(is.Evidence) {
		return false
	}
	is.Light, is.Evidence = recorded.Light, is.Evidence[:len(recorded.Evidence)]
	return record.DigestOf(codec.AppendCase(nil, &is)) == was.Case
}

// sameResult compares results but for the experiments: those of Light stand in the answer alone.
func sameResult(was json.RawMessage, is *trial.Result) bool {
	var recorded trial.Result
	if err := json.Unmarshal(was, &recorded); err != nil {
		return false
	}
	own := *is
	recorded.Experiments, own.Experiments = nil, nil
	return sameJSON(recorded, own)
}
