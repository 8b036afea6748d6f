package promises_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// crossing is an answer that breaks a rule of §9.2, and the problem that the host finds.
type crossing struct {
	rule, code, path string
	try              func(t *testing.T) error
}

var between = []crossing{ //nolint:gochecknoglobals // a table
	{"the artifact is the one of the family (§4.1)", "wrong_artifact", "artifact", atNode(abi.FamilyIndict, func(a *abi.Artifact) {
		*a = abi.Artifact{Discovery: &abi.Discovery{}}
	})},
	{
		"an experiment is one of the offers", "not_offered", "experiment",
		func(t *testing.T) error {
			t.Helper()
			return inCourt(t, &cast{family: abi.FamilyIndict, asks: &abi.Experiment{
				Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5,
			}})
		},
	},
	{
		"a completion asks a model of the request for no more `answer_tokens` than it may give", "not_offered", "completion.model",
		func(t *testing.T) error {
			t.Helper()
			return inCourt(t, &cast{family: abi.FamilyIndict, completes: &abi.Completion{
				Model: "reader", AnswerTokens: 1, Samples: 1, Messages: []abi.ChatMessage{{Role: abi.ChatUser, Content: "why?"}},
			}})
		},
	},
	{
		"`source` of a finding is absent, or `model:` and the name of a model with an answer in `completions`", "identity", "artifact.discovery.findings[0].source",
		atNode(abi.FamilyDiscover, func(a *abi.Artifact) { a.Discovery.Findings[0].Source = "model:reader" }),
	},
	{"an indictment charges with Light's classification", "charge", "artifact.indictment.charged_defect_type", atNode(abi.FamilyIndict, func(a *abi.Artifact) {
		a.Indictment.ChargedDefectType = "flake"
	})},
	{
		"each item of an indictment repeats source_ref, content, supports and element of an item of the case, which no other item repeats",
		"not_in_case", "artifact.indictment.evidence[1]", atNode(abi.FamilyIndict, func(a *abi.Artifact) {
			a.Indictment.Evidence[1] = a.Indictment.Evidence[0]
		}),
	},
	{supports, "not_a_label", "artifact.discovery.findings[0].supports", atNode(abi.FamilyDiscover, func(a *abi.Artifact) {
		a.Discovery.Findings[0].Supports = "weather"
	})},
	{
		"the `document` of a finding is one of the case, and its `quote` stands in it (§4.4)", "not_in_documents", "artifact.discovery.findings[0].quote",
		atNode(abi.FamilyDiscover, func(a *abi.Artifact) { a.Discovery.Findings[0].Quote = "all is well" }),
	},
	{
		"a challenge is of one of the indictment's items (in a contest, of the request's)",
		"evidence_index", "artifact.defense_brief.challenges[0].evidence_index", atNode(abi.FamilyDefend, func(a *abi.Artifact) {
			a.DefenseBrief.Challenges = []abi.Challenge{{EvidenceIndex: 2, Challenge: "no", Severity: abi.Minor}}
		}),
	},
	{
		"a challenge is of one of the indictment's items (in a contest, of the request's)",
		"evidence_index", "challenges[0].evidence_index", atContest(abi.Challenge{EvidenceIndex: 7, Challenge: "no", Severity: abi.Minor}),
	},
	{
		"`by` of a challenge is absent, the persona's own name, or the challenge repeats one of `contested` in every field",
		"identity", "challenges[0].by", atContest(abi.Challenge{Challenge: "no", Severity: abi.Minor, By: "specter"}),
	},
	{
		"`by` of a challenge is absent, the persona's own name, or the challenge repeats one of `contested` in every field",
		"identity", "artifact.hearing_turn.new_challenges[0].by", atNode(abi.FamilyHearing, func(a *abi.Artifact) {
			a.HearingTurn.NewChallenges = []abi.Challenge{{Challenge: "no", Severity: abi.Minor, By: "specter"}}
		}),
	},
	{alternative, "not_a_label", "artifact.defense_brief.alternative_hypothesis.label", atBrief("weather")},
	{another, "charge", "artifact.defense_brief.alternative_hypothesis.label", atBrief("product")},
	{
		pointing, "evidence_index", "artifact.defense_brief.alternative_hypothesis.support[1]",
		atBrief("flake", 0, 2),
	},
	{supports, "not_a_label", "artifact.hearing_turn.new_items[0].supports", atNode(abi.FamilyHearing, func(a *abi.Artifact) {
		a.HearingTurn.NewItems = []abi.IndictmentItem{{SourceRef: "log", Content: logLine, Supports: "weather"}}
	})},
	{
		newItem, "not_in_documents", "artifact.hearing_turn.new_items[0]",
		atNode(abi.FamilyHearing, func(a *abi.Artifact) {
			a.HearingTurn.NewItems = []abi.IndictmentItem{{SourceRef: "log", Content: "a line that nobody wrote"}}
		}),
	},
	{
		newItem, "not_in_documents", "artifact.hearing_turn.new_items[0]",
		atNode(abi.FamilyHearing, func(a *abi.Artifact) {
			a.HearingTurn.NewItems = []abi.IndictmentItem{{SourceRef: "casebook:7", Content: logLine}}
		}),
	},
	{
		"affirm keeps the charge, amend names another label", "classification", "artifact.verdict.final_classification",
		atVerdict(abi.Verdict{Decision: abi.Affirm, FinalClassification: "flake"}),
	},
	{
		"affirm keeps the charge, amend names another label", "classification", "artifact.verdict.final_classification",
		atVerdict(abi.Verdict{Decision: abi.Amend, FinalClassification: "product"}),
	},
	{
		"the label that an amend names", "not_a_label", "artifact.verdict.final_classification",
		atVerdict(abi.Verdict{Decision: abi.Amend, FinalClassification: "weather"}),
	},
	{pointing, "evidence_index", "artifact.verdict.remand_feedback.challenged[0].evidence_index", atFeedback(abi.RemandFeedback{
		Challenged: []abi.ChallengedItem{{EvidenceIndex: 2, Why: "no"}},
	})},
	{alternative, "not_a_label", "artifact.verdict.remand_feedback.alternative_hypothesis.label", atFeedback(abi.RemandFeedback{
		AlternativeHypothesis: &abi.AlternativeHypothesis{Label: "weather"},
	})},
	{another, "charge", "artifact.verdict.remand_feedback.alternative_hypothesis.label", atFeedback(abi.RemandFeedback{
		AlternativeHypothesis: &abi.AlternativeHypothesis{Label: "product"},
	})},
	{"an edge_response has one answer for each question, in order, with its id", "wrong_answers", "answers", atEdges(func(r *abi.EdgeResponse) {
		r.Answers = r.Answers[1:]
	})},
	{"an edge_response has one answer for each question, in order, with its id", "wrong_answers", "answers[0].id", atEdges(func(r *abi.EdgeResponse) {
		r.Answers[0].ID = "HD99"
	})},
	{opinions, "wrong_answers", "opinions", atJudge(func(r *abi.JudgeResponse) { r.Opinions = r.Opinions[1:] })},
	{opinions, "wrong_answers", "opinions[1].criterion_id", atJudge(func(r *abi.JudgeResponse) { r.Opinions[1].CriterionID = "style" })},
	{opinions, "wrong_answers", "opinions[0].judge", atJudge(func(r *abi.JudgeResponse) { r.Opinions[0].Judge = "another" })},
	{labelOfLight, "not_a_label", "artifact.recall.classification", onLightPath(abi.Artifact{Recall: &abi.RecallResult{Classification: "weather"}}, nil)},
	{labelOfLight, "not_a_label", "artifact.investigate.classification", onLightPath(abi.Artifact{Investigate: &abi.InvestigateArtifact{Classification: "weather"}}, nil)},
	{labelOfLight, "not_a_label", "artifact.correlate.classification", onLightPath(abi.Artifact{Correlate: &abi.CorrelateResult{Classification: "weather"}}, nil)},
	{labelOfLight, "not_a_label", "artifact.report.classification", onLightPath(abi.Artifact{Report: &abi.LightReport{Classification: "weather"}}, nil)},
	{
		labelOfLight, "not_a_label", "artifact.triage.classification_hypothesis",
		onLightPath(abi.Artifact{Triage: &abi.TriageResult{SymptomCategory: abi.SymptomFlake, Severity: abi.GapLow, ClassificationHypothesis: "weather"}}, nil),
	},
	{supports, "not_a_label", "artifact.investigate.evidence[0].supports", onLightPath(abi.Artifact{Investigate: &abi.InvestigateArtifact{Evidence: stray()}}, nil)},
	{supports, "not_a_label", "artifact.report.remand.answers[0].evidence[0].supports", afterRemand(&abi.RemandAnswer{
		Answers:    []abi.RemandReply{{QuestionID: "q", Status: abi.Found, Evidence: stray()}},
		Challenged: []abi.ChallengedReply{{EvidenceIndex: 0, Status: abi.ItemStands}},
	})},
	{reserved, "identity", "artifact.investigate.evidence[0].source_ref", onLightPath(abi.Artifact{Investigate: &abi.InvestigateArtifact{
		Evidence: []abi.Evidence{{SourceRef: "casebook:7", Content: logLine}},
	}}, nil)},
	{"a report has `remand` if the case came back from the court", "unanswered", "artifact.report.remand", afterRemand(nil)},
	{
		"a report has no `remand` unless the case came back from the court", "wrong_answers", "artifact.report.remand",
		onLightPath(abi.Artifact{Report: &abi.LightReport{Classification: "product", Remand: &abi.RemandAnswer{}}}, nil),
	},
	{accounts, "unanswered", "artifact.report.remand.answers", afterRemand(&abi.RemandAnswer{
		Challenged: []abi.ChallengedReply{{EvidenceIndex: 0, Status: abi.ItemStands}},
	})},
	{accounts, "unanswered", "artifact.report.remand.challenged", afterRemand(&abi.RemandAnswer{
		Answers: []abi.RemandReply{{QuestionID: "q", Status: abi.NotFound}},
	})},
	{nothingElse, "wrong_answers", "artifact.report.remand.answers[1].question_id", afterRemand(&abi.RemandAnswer{
		Answers:    []abi.RemandReply{{QuestionID: "q", Status: abi.NotFound}, {QuestionID: "r", Status: abi.NotFound}},
		Challenged: []abi.ChallengedReply{{EvidenceIndex: 0, Status: abi.ItemStands}},
	})},
	{nothingElse, "wrong_answers", "artifact.report.remand.challenged[1].evidence_index", afterRemand(&abi.RemandAnswer{
		Answers:    []abi.RemandReply{{QuestionID: "q", Status: abi.NotFound}},
		Challenged: []abi.ChallengedReply{{EvidenceIndex: 0, Status: abi.ItemStands}, {EvidenceIndex: 1, Status: abi.ItemStands}},
	})},
}

const (
	newItem      = "a new item is an item of the case, or its `source_ref` names a document, or a place in it, in which its whole content stands (§4.7)"
	reserved     = "`source_ref` of an item of `evidence` in investigate and remand_answer is not reserved (§4.18), or the item is one of the case"
	supports     = "these are labels of the case, where present: `supports` of a finding, a new item and an item of `evidence`"
	alternative  = "the label of an alternative"
	another      = "the label of an alternative is another"
	pointing     = "the support of an alternative, and `challenged` of feedback, point at items of the indictment"
	opinions     = "a judge_response one opinion for each criterion, in order, by the judge asked (citations are checked later, §4.16)"
	labelOfLight = "`classification` and `classification_hypothesis` on the Light path"
	accounts     = "each question, and each item that was challenged, has exactly one answer in it"
	nothingElse  = "a remand_answer accounts for nothing that was not asked or challenged"
)

// An answer that breaks a rule of §9.2 is rejected by the court, the Light path or who asks
// judges, by its code and path; without the fault it is taken.
func TestAccept_FX4_Section9_2_AnswersAndTheirRequests(t *testing.T) {
	t.Parallel()
	for _, c := range between {
		t.Run(c.rule+" "+c.path, func(t *testing.T) {
			t.Parallel()
			err := c.try(t)
			got := problemsOf(t, err)
			if len(got) != 1 || string(got[0].Code) != c.code || got[0].Path != c.path {
				t.Errorf("problems are %v, want one %s at %s", got, c.code, c.path)
			}
		})
	}
	t.Run("honest", func(t *testing.T) {
		t.Parallel()
		must.Do(t, inCourt(t, &cast{}))
	})
}

// problemsOf gives the problems that an error carries.
func problemsOf(t *testing.T, err error) []trial.Problem {
	t.Helper()
	if f, ok := errors.AsType[*trial.Failure](err); ok {
		return f.Problems
	}
	if v, ok := errors.AsType[*abi.ValidationError](err); ok {
		return trial.NewProblems(v.Problems)
	}
	t.Errorf("got %v, want problems", err)
	return nil
}

func atNode(family abi.Family, spoil func(*abi.Artifact)) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		return inCourt(t, &cast{family: family, spoil: spoil})
	}
}

func atContest(c abi.Challenge) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		return inCourt(t, &cast{challenge: &c})
	}
}

func atBrief(label string, support ...int) func(*testing.T) error {
	return atNode(abi.FamilyDefend, func(a *abi.Artifact) {
		a.DefenseBrief.AlternativeHypothesis = &abi.AlternativeHypothesis{Label: label, Support: support}
	})
}

func atVerdict(v abi.Verdict) func(*testing.T) error {
	return atNode(abi.FamilyVerdict, func(a *abi.Artifact) { a.Verdict = &v })
}

func atFeedback(f abi.RemandFeedback) func(*testing.T) error {
	return atVerdict(abi.Verdict{Decision: abi.Remand, RemandFeedback: &f})
}

func atEdges(spoil func(*abi.EdgeResponse)) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		return inCourt(t, &cast{edges: spoil})
	}
}

// inCourt tries a case in the shipped court, and gives what ended the trial.
func inCourt(t *testing.T, modules *cast) error {
	t.Helper()
	return tried(t, court.Config{}, subject(), modules)
}

// tried tries a case, and gives what ended the trial.
func tried(t *testing.T, config court.Config, subject *abi.Case, modules *cast) error {
	t.Helper()
	config.Now = func() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }
	c := must.Get(court.New(config))(t)
	out := must.Get(c.Try(t.Context(), *subject, court.Options{Modules: modules}))(t)
	if out.Trial.Result.Error == nil {
		return nil
	}
	return out.Trial.Result.Error
}

// atJudge audits an opinion, and gives the problem that the log has of a judge's answer.
func atJudge(spoil func(*abi.JudgeResponse)) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		rubric := must.Get(audit.Parse("rubric.yaml", []byte("rubric: r\njudges:\n  warden: {module: warden}\ncriteria:\n"+
			"  - {id: law, category: Law, description: d, judges: [warden]}\n  - {id: facts, category: Law, description: d, judges: [warden]}\n")))(t)
		var log bytes.Buffer
		a := must.Get(court.NewAudit(court.AuditConfig{Rubric: rubric, Services: court.Services{Now: time.Now, Logger: slog.New(slog.NewJSONHandler(&log, nil))}}))(t)
		subject := audit.Subject{Opinion: abi.JudicialOpinion{Text: "x"}, Documents: subject().Documents}
		must.Get(a.Try(t.Context(), &cast{judge: spoil}, subject))(t)
		var rejected struct {
			Path     string `json:"path"`
			Code     string `json:"code"`
			Problems int    `json:"problems"`
		}
		if err := json.Unmarshal(log.Bytes(), &rejected); err != nil || rejected.Problems != 1 {
			t.Fatalf("%v: %s", err, &log)
		}
		return &trial.Failure{Problems: []trial.Problem{{Path: rejected.Path, Code: abi.Code(rejected.Code)}}}
	}
}

// onLightPath lets a Light path of one node answer with an artifact, or after a remand with feedback.
func onLightPath(answer abi.Artifact, feedback *abi.RemandFeedback) func(*testing.T) error {
	return func(t *testing.T) error {
		t.Helper()
		family := string(answer.Family())
		path := must.Get(pipeline.Parse("p.yaml", []byte("pipeline: p\nnodes:\n  - {name: look, family: "+family+", persona: herald}\n"+
			"edges:\n  - {id: E, from: look, to: _done, evaluator: always}\nstart: look\n")))(t)
		modules := &cast{family: abi.Family(family), spoil: func(a *abi.Artifact) { *a = answer }}
		if feedback != nil {
			modules.again, modules.feedback = &answer, feedback
		}
		return tried(t, court.Config{LightPath: path}, subject(), modules)
	}
}

func afterRemand(answer *abi.RemandAnswer) func(*testing.T) error {
	return onLightPath(abi.Artifact{Report: &abi.LightReport{Classification: "product", Remand: answer}}, &abi.RemandFeedback{
		Challenged: []abi.ChallengedItem{{EvidenceIndex: 0, Why: "no"}}, Questions: []abi.Question{{ID: "q", Question: "why"}},
	})
}

func stray() []abi.Evidence {
	return []abi.Evidence{{SourceRef: "log", Content: "x", Supports: "weather"}}
}
