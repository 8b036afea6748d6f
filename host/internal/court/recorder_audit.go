package court

import (
	"maps"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// branch begins the recorder of a branch. What it records comes before the next merge, in the order in which branches were
// begun, whichever ends first.
func (r *Recorder) branch(who string) *Recorder {
	if r == nil {
		return nil
	}
	b := NewRecorder(r.contents)
	if r.script != nil {
		b.script = r.script.branch(branchKey{r.merge, who})
	}
	r.branches = append(r.branches, b)
	return b
}

// join takes what branches noted, which have all ended.
func (r *Recorder) join() {
	for _, b := range r.branches {
		r.events = append(r.events, b.events...)
		maps.Copy(r.kept, b.kept)
	}
	r.branches = nil
}

// endAudit puts the record of an audit into that of its trial.
func (r *Recorder) endAudit(trial *record.Trial, court string, modules []record.Part, result *trial.Audit) error {
	text, err := result.MarshalJSON()
	if err != nil {
		return err
	}
	a := &record.Audit{Court: court, Events: r.events, ResultDigest: record.DigestOf(text), Modules: modules}
	if r.contents != record.ContentsDigests {
		a.Result = text
	}
	trial.Attach(a, r.keptContents())
	return nil
}

// branchKey says which branch of a recorded audit it is: whose, and after how
// many merges.
type branchKey struct {
	merges int
	who    string
}

// newAuditScript is that of the audit of a trial.
func newAuditScript(trial *record.Trial) *script {
	var own []*record.Call
	branches := make(map[branchKey][]*record.Call)
	merges := 0
	for i := range trial.Audit.Events {
		e := &trial.Audit.Events[i]
		switch {
		case e.Merge != "":
			merges++
		case e.Call != nil && e.Call.Persona == "": // about edges, which no branch asks
			own = append(own, e.Call)
		case e.Call != nil:
			key := branchKey{merges, e.Call.Persona}
			branches[key] = append(branches[key], e.Call)
		}
	}
	s := scriptOf(trial, own)
	s.branches = branches
	return s
}

// branch is the script of one branch; one that the record does not have has no calls.
func (s *script) branch(key branchKey) *script { return scriptOf(s.trial, s.branches[key]) }
