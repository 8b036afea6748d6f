package runtime

import (
	"maps"

	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// auditSession plays what an audit asks outside of its branches, and forks the
// sessions of these. One goroutine uses it.
type auditSession struct {
	*session
	branches []*session
}

// Fork gives the session of a branch, with a trail and answers of its own: what
// another branch did before it changes nothing.
func (s *auditSession) Fork(who string) invoker.JudgeModules {
	branch := &session{host: s.host, generation: s.generation, subject: s.subject, graph: s.graph, account: newAccount()}
	branch.trail = s.trail.branch(who)
	s.branches = append(s.branches, branch)
	return branch
}

// spent is the fuel of all, nil where it is not metered.
func (s *auditSession) spent() *uint64 {
	for _, b := range s.branches {
		s.spend(b.fuel)
		b.fuel = nil
	}
	return s.fuel
}

// branch begins the trail of a branch. What is on it stands before the next
// merge, in the order in which branches were begun, whichever ends first.
func (t *trail) branch(who string) *trail {
	if t == nil {
		return nil
	}
	b := newTrail(t.contents)
	if t.script != nil {
		b.script = t.script.branch(branchKey{t.merges, who})
	}
	t.branches = append(t.branches, b)
	return b
}

// join takes what branches noted, which have all ended.
func (t *trail) join() {
	for _, b := range t.branches {
		t.events = append(t.events, b.events...)
		maps.Copy(t.kept, b.kept)
	}
	t.branches = nil
}

// endAudit puts the record of an audit into that of its trial.
func (t *trail) endAudit(trial *record.Trial, court string, modules []record.Part, result *trial.Audit) error {
	text, err := result.MarshalJSON()
	if err != nil {
		return err
	}
	a := &record.Audit{Court: court, Events: t.events, ResultDigest: record.DigestOf(text), Modules: modules}
	if t.contents != record.ContentsDigests {
		a.Result = text
	}
	trial.Attach(a, t.keptContents())
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

// RecordHeader gives what records of trials with audits by this Auditor need to
// have in their header beside what [Host.RecordHeader] gives.
func (a *Auditor) RecordHeader() (*record.AuditHeader, error) {
	graph, rubric, err := a.texts()
	if err != nil {
		return nil, err
	}
	return &record.AuditHeader{Pipeline: string(graph), Rubric: string(rubric), Limits: a.host.callLimits()}, nil
}

// texts are pipeline and rubric in YAML.
func (a *Auditor) texts() (graph, rubric []byte, err error) {
	if graph, err = pipeline.Marshal(a.host.graph.Definition()); err != nil {
		return nil, nil, err
	}
	rubric, err = audit.Marshal(a.rubric)
	return graph, rubric, err
}
