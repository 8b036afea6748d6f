package abi

// IndictmentItem is one item of evidence as the prosecution weighs it. SourceRef, Content, Supports and Element repeat an item of the case
// unchanged; Weight in [0, 1] is the prosecution's own.
type IndictmentItem struct {
	SourceRef string `abi:"source_ref,nonempty"`
	Content   string `abi:"content"`
	// Weight for the label that the item supports, be it the charge or not.
	Weight   float64 `abi:"weight,min=0,max=1"`
	Supports string  `abi:"supports,opt"`
	Element  Element `abi:"element,opt"`
}

// Indictment (D0) charges the case with Light's classification.
type Indictment struct {
	ChargedDefectType    string           `abi:"charged_defect_type,nonempty"`
	ProsecutionNarrative string           `abi:"prosecution_narrative"`
	Evidence             []IndictmentItem `abi:"evidence,max=4096"`
	// Confidence is the prosecution's own estimate that the charge is right, from the evidence and not a repetition of Light's.
	Confidence float64 `abi:"confidence,min=0,max=1"`
}

// Finding is something that discovery read in a document. Quote stands word for word in the document of that name.
type Finding struct {
	Document    string  `abi:"document,nonempty"`
	Observation string  `abi:"observation"`
	Quote       string  `abi:"quote,nonempty"`
	Supports    string  `abi:"supports,opt"`
	Strength    float64 `abi:"strength,min=0,max=1"`
	// Source says whose reading it is where it is not the persona's own: "model:" and the name of a language model that has
	// answered this call. What it says counts as a statement of that source.
	Source string `abi:"source,opt"`
}

// Discovery (D1) is what the raw documents say, read without any conclusion of Light or of the prosecution.
type Discovery struct {
	Findings []Finding `abi:"findings,max=256"`
	// Missing names what was looked for and is not there.
	Missing []string `abi:"missing,max=256"`
}

// Challenge attacks one item of the Indictment.
type Challenge struct {
	// EvidenceIndex points into the Indictment's own list, from 0.
	EvidenceIndex int      `abi:"evidence_index,min=0"`
	Challenge     string   `abi:"challenge,nonempty"`
	Severity      Severity `abi:"severity"`
	// By is the persona's name. The host writes it; a module may leave it out,
	// and may not write another's but to repeat a challenge of the contest.
	By string `abi:"by,opt"`
}

// AlternativeHypothesis is the label that the defense proposes in place of the charge.
type AlternativeHypothesis struct {
	Label     string `abi:"label,nonempty"`
	Reasoning string `abi:"reasoning"`
	// Support points into the Indictment's list.
	Support []int `abi:"support,min=0,most=4096"`
}

// DefenseBrief (D2) answers the Indictment.
type DefenseBrief struct {
	Challenges            []Challenge            `abi:"challenges,max=4096"`
	AlternativeHypothesis *AlternativeHypothesis `abi:"alternative_hypothesis"`
	PleaDeal              bool                   `abi:"plea_deal"`
	MotionToDismiss       bool                   `abi:"motion_to_dismiss"`
	// Confidence is the defense's estimate that the charge is wrong.
	Confidence float64 `abi:"confidence,min=0,max=1"`
}

// HearingTurn is what one persona says in one round of the hearing.
type HearingTurn struct {
	Argument      string           `abi:"argument"`
	NewChallenges []Challenge      `abi:"new_challenges,max=256"`
	NewItems      []IndictmentItem `abi:"new_items,max=256"`
}

// RoundSpeakers names the three personas of a round.
type RoundSpeakers struct {
	Prosecution string `abi:"prosecution,nonempty"`
	Defense     string `abi:"defense,nonempty"`
	Bench       string `abi:"bench,nonempty"`
}

// HearingRound is one round: the prosecution argues, the defense rebuts, the bench notes.
type HearingRound struct {
	Round               int              `abi:"round,min=1"`
	ProsecutionArgument string           `abi:"prosecution_argument"`
	DefenseRebuttal     string           `abi:"defense_rebuttal"`
	JudgeNotes          string           `abi:"judge_notes"`
	By                  RoundSpeakers    `abi:"by"`
	NewChallenges       []Challenge      `abi:"new_challenges,max=768"`
	NewItems            []IndictmentItem `abi:"new_items,max=768"`
}

// HearingRecord (D3) is written by the host from the turns of three modules.
type HearingRecord struct {
	Rounds    []HearingRound `abi:"rounds,max=1000"`
	MaxRounds int            `abi:"max_rounds,min=1"`
	// Converged: the last round brought no new challenge and no new item.
	Converged bool `abi:"converged"`
}

// Question is what a remand asks Light.
type Question struct {
	ID       string `abi:"id,nonempty"`
	Question string `abi:"question,nonempty"`
}

// ChallengedItem is an item that Light must account for.
type ChallengedItem struct {
	EvidenceIndex int    `abi:"evidence_index,min=0"`
	Why           string `abi:"why,nonempty"`
}

// RemandFeedback tells Light what to reinvestigate.
type RemandFeedback struct {
	Challenged            []ChallengedItem       `abi:"challenged,max=4096"`
	AlternativeHypothesis *AlternativeHypothesis `abi:"alternative_hypothesis"`
	Questions             []Question             `abi:"questions,max=1000"`
}

// RemandReply answers one question.
type RemandReply struct {
	QuestionID string       `abi:"question_id,nonempty"`
	Status     AnswerStatus `abi:"status"`
	Evidence   []Evidence   `abi:"evidence,max=4096"`
}

// ChallengedReply accounts for one challenged item.
type ChallengedReply struct {
	EvidenceIndex int              `abi:"evidence_index,min=0"`
	Status        ChallengedStatus `abi:"status"`
}

// RemandAnswer is Light's answer to a RemandFeedback.
type RemandAnswer struct {
	Answers    []RemandReply     `abi:"answers,max=1000"`
	Challenged []ChallengedReply `abi:"challenged,max=4096"`
}

// Verdict (D4) decides the case.
type Verdict struct {
	Decision Decision `abi:"decision"`
	// FinalClassification is the charge for affirm, another label of the case for amend, and absent otherwise.
	FinalClassification string `abi:"final_classification,opt"`
	// Confidence: of affirm and amend, the probability that the classification is right; of the others, that of the nearest label.
	Confidence float64 `abi:"confidence,min=0,max=1"`
	Reasoning  string  `abi:"reasoning"`
	// RemandFeedback comes with remand and only with remand.
	RemandFeedback *RemandFeedback `abi:"remand_feedback"`
}

// CourtEvidenceGap is one piece of evidence that would settle the case.
type CourtEvidenceGap struct {
	Description     string      `abi:"description,nonempty"`
	Source          string      `abi:"source"`
	Severity        GapSeverity `abi:"severity"`
	SuggestedAction string      `abi:"suggested_action"`
	CourtPhase      Family      `abi:"court_phase,opt"`
}

// EvidenceGapBrief comes with every acquittal and mistrial.
type EvidenceGapBrief struct {
	CaseID          string             `abi:"case_id,nonempty"`
	Cause           string             `abi:"cause,nonempty"`
	FinalConfidence float64            `abi:"final_confidence,min=0,max=1"`
	Gaps            []CourtEvidenceGap `abi:"gaps,nonempty"`
	Summary         string             `abi:"summary"`
}

// CourtConfig bounds the court.
type CourtConfig struct {
	Enabled bool `abi:"enabled"`
	// TTL of a whole trial, in nanoseconds; the host takes no 0.
	TTL int64 `abi:"ttl,min=0"`
	// MaxHandoffs of a whole trial, remands included.
	MaxHandoffs int `abi:"max_handoffs,min=0"`
	MaxRemands  int `abi:"max_remands,min=0"`
	// ActivationThreshold: a confidence at or above it stands unreviewed.
	ActivationThreshold float64 `abi:"activation_threshold,min=0,max=1"`
	// RejectionThreshold: a confidence below it is rejected.
	RejectionThreshold float64 `abi:"rejection_threshold,min=0,max=1"`
	// MaxRounds of the hearing.
	MaxRounds int `abi:"max_rounds,min=1"`
}
