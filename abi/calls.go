package abi

// CaseView is the part of a case that a mask lets a persona see. What is hidden is not in the bytes.
type CaseView struct {
	Subject   string       `abi:"subject,opt"`
	Labels    []string     `abi:"labels"`
	Light     *LightAnswer `abi:"light"`
	Evidence  []Evidence   `abi:"evidence,opt"`
	Documents []Document   `abi:"documents,opt"`
	// Experiments that were run in this trial, in their order.
	Experiments []ExperimentResult `abi:"experiments,opt"`
	// Signals are those of the profile that the host found in the case's documents: ascending indexes into the request's
	// Profile.Signals. Absent where the documents themselves are here.
	Signals []int `abi:"signals,opt,min=0"`
}

// Exhibit is what the host knows of an item of the Indictment.
type Exhibit struct {
	EvidenceIndex int         `abi:"evidence_index,min=0"`
	Quote         QuoteStatus `abi:"quote"`
	// Document in which the content stands, or that source_ref names.
	Document string `abi:"document,opt"`
	// RelevanceConfidence is what the item's own source states.
	RelevanceConfidence float64 `abi:"relevance_confidence,min=0,max=1"`
}

// TurnRequest says whose turn it is in a hearing and what was said before in this round. Earlier rounds are in the HearingRecord.
type TurnRequest struct {
	Round               int              `abi:"round,min=1"`
	MaxRounds           int              `abi:"max_rounds,min=1"`
	Speaker             Side             `abi:"speaker"`
	ProsecutionArgument string           `abi:"prosecution_argument,opt"`
	DefenseRebuttal     string           `abi:"defense_rebuttal,opt"`
	NewChallenges       []Challenge      `abi:"new_challenges"`
	NewItems            []IndictmentItem `abi:"new_items"`
}

// Param is one parameter of a node or an edge, from the pipeline's `with`. Exactly one of Number, Text and Flag is there.
type Param struct {
	Name   string   `abi:"name,nonempty"`
	Number *float64 `abi:"number"`
	Text   *string  `abi:"text"`
	Flag   *bool    `abi:"flag"`
}

// NodeRequest asks a persona for the artifact of a node. What Family needs is there, the rest is absent: see the table in SPEC.md.
type NodeRequest struct {
	// Node is the node's name in the pipeline: a label, nothing to decide by.
	Node    string   `abi:"node,nonempty"`
	Family  Family   `abi:"family"`
	Persona Persona  `abi:"persona"`
	Case    CaseView `abi:"case"`
	Params  []Param  `abi:"params,opt"`
	Profile *Profile `abi:"profile"`

	Indictment   *Indictment    `abi:"indictment"`
	Exhibits     []Exhibit      `abi:"exhibits,opt"`
	Discovery    *Discovery     `abi:"discovery"`
	Contested    []Challenge    `abi:"contested,opt"`
	DefenseBrief *DefenseBrief  `abi:"defense_brief"`
	Hearing      *HearingRecord `abi:"hearing"`
	Turn         *TurnRequest   `abi:"turn"`
	// RemandsLeft: how often the verdict may still remand. 0 when Light cannot answer again.
	RemandsLeft int `abi:"remands_left,min=0"`
	// File is there in the families of the Light path.
	File *LightFile `abi:"file"`
	// Offers are experiments that the persona may ask for, the cheapest first, without those that were run in this trial.
	Offers []ExperimentOffer `abi:"offers,opt"`
	// Prompt is the text of the prompt file that the pipeline gives the persona at this node.
	Prompt string `abi:"prompt,opt"`
	// Models are language models that the persona may ask.
	Models []ModelOffer `abi:"models,opt"`
	// Completions that this call has asked for, in their order.
	Completions []CompletionResult `abi:"completions,opt"`
	// Prepared: what the request leaves out, since the module was prepared with it.
	Prepared *Prepared `abi:"prepared"`
}

// LightFile is what the Light path has gathered so far. Of each artifact it holds the latest.
type LightFile struct {
	Recall      *RecallResult        `abi:"recall"`
	Triage      *TriageResult        `abi:"triage"`
	Resolve     *ResolveResult       `abi:"resolve"`
	Investigate *InvestigateArtifact `abi:"investigate"`
	Correlate   *CorrelateResult     `abi:"correlate"`
	Review      *ReviewDecision      `abi:"review"`
	// Feedback of the court, when the case comes back from it. Then the case's
	// light is Light's answer before, and its evidence all that the court had.
	Feedback *RemandFeedback `abi:"feedback"`
	// LoopsLeft: how often the traversal may still go back to an earlier node.
	LoopsLeft int `abi:"loops_left,min=0"`
}

// NodeResponse holds the artifact, or says why there is none. An experiment in place of both is one of the offers, which the
// host is to run first; a completion asks one of the models. The host then makes the call again, with the result.
type NodeResponse struct {
	Artifact   *Artifact   `abi:"artifact"`
	Failure    *Failure    `abi:"failure"`
	Experiment *Experiment `abi:"experiment"`
	Completion *Completion `abi:"completion"`
}

// ContestItem is an item that a persona is asked to contest.
type ContestItem struct {
	EvidenceIndex int            `abi:"evidence_index,min=0"`
	Item          IndictmentItem `abi:"item"`
	Exhibit       Exhibit        `abi:"exhibit"`
}

// ContestRequest asks a persona to contest items whose element its own challenges. Only these items are in the request.
type ContestRequest struct {
	Persona           Persona       `abi:"persona"`
	ChargedDefectType string        `abi:"charged_defect_type,nonempty"`
	Labels            []string      `abi:"labels"`
	Items             []ContestItem `abi:"items"`
	Params            []Param       `abi:"params,opt"`
	Profile           *Profile      `abi:"profile"`
	// Prepared: what the request leaves out, since the module was prepared with it.
	Prepared *Prepared `abi:"prepared"`
}

// PrepareRequest gives a module what the requests that follow leave out: the profile of a generation, or a part of a case.
type PrepareRequest struct {
	// Digest names all that the module is prepared with: the requests that follow have the same one.
	Digest string `abi:"digest,nonempty"`
	// Profile is whole.
	Profile *Profile `abi:"profile"`
	// Case is a part of what a mask lets the persona see of the case.
	Case *CaseView `abi:"case"`
}

// PrepareResponse is an empty map, or has the failure with which the trial ends. A module that can play without its preparation gives none.
type PrepareResponse struct {
	Failure *Failure `abi:"failure"`
}

// Prepared says what belongs to a request although it is not in it: the module was prepared with it.
type Prepared struct {
	// Digest of the last preparation.
	Digest string `abi:"digest,nonempty"`
	// Profile: the request has these parts of the prepared profile. Absent where it has no profile.
	Profile *ProfileParts `abi:"profile"`
	// Case: what the request's own case lacks is that of the prepared one.
	Case bool `abi:"case"`
}

// ProfileParts are the parts of a prepared profile that a request has: all fields, but of some lists only these elements.
type ProfileParts struct {
	// All: every signal and every source. Then Signals and Sources are empty.
	All bool `abi:"all"`
	// Signals and Sources are ascending indexes into the lists of the prepared profile.
	Signals []int `abi:"signals,opt,min=0"`
	Sources []int `abi:"sources,opt,min=0"`
	// Outcomes: with the model of outcomes, if the profile has one.
	Outcomes bool `abi:"outcomes"`
}

// ContestResponse holds challenges of items in the request, none of others.
type ContestResponse struct {
	Challenges []Challenge `abi:"challenges,max=4096"`
	Failure    *Failure    `abi:"failure"`
}

// EdgeQuestion asks whether one edge fires.
type EdgeQuestion struct {
	ID string `abi:"id,nonempty"`
	// Evaluator is the name of the rule that decides; the clerk's default is the edge's id.
	Evaluator string `abi:"evaluator,nonempty"`
	// Any: the edge leaves from `_any`; its rule may look only at Limits.
	Any    bool    `abi:"any"`
	Params []Param `abi:"params,opt"`
}

// Limits is all that the rules of `_any` edges see.
type Limits struct {
	TTLExceeded bool `abi:"ttl_exceeded"`
	// Handoffs as they would be after a move to another node.
	Handoffs    int `abi:"handoffs,min=0"`
	MaxHandoffs int `abi:"max_handoffs,min=0"`
}

// EdgeRequest puts all edges of a node, and those from `_any`, in one call.
type EdgeRequest struct {
	Node      string         `abi:"node,nonempty"`
	Family    Family         `abi:"family"`
	Questions []EdgeQuestion `abi:"questions,nonempty"`
	Limits    Limits         `abi:"limits"`
	// Artifact is the node's own, the HearingRecord so far at a hearing.
	Artifact   *Artifact `abi:"artifact"`
	Remands    int       `abi:"remands,min=0"`
	MaxRemands int       `abi:"max_remands,min=0"`
	// LoopsLeft of the Light path; 0 in the court.
	LoopsLeft int `abi:"loops_left,min=0"`
}

// EdgeAnswer says whether an edge fires, and why. It cannot name a target.
type EdgeAnswer struct {
	ID    string `abi:"id,nonempty"`
	Fires bool   `abi:"fires"`
	Why   string `abi:"why"`
}

// EdgeResponse answers every question, in the order of the request.
type EdgeResponse struct {
	Answers []EdgeAnswer `abi:"answers,max=1000"`
	Failure *Failure     `abi:"failure"`
}

// Criterion is one criterion of a rubric, as a judge sees it.
type Criterion struct {
	CriterionID string `abi:"criterion_id,nonempty"`
	Category    string `abi:"category,opt"`
	Description string `abi:"description"`
}

// JudgeRequest asks a judge for its opinion on criteria.
type JudgeRequest struct {
	Judge    string          `abi:"judge,nonempty"`
	Opinion  JudicialOpinion `abi:"opinion"`
	Criteria []Criterion     `abi:"criteria,nonempty"`
	Evidence []Evidence      `abi:"evidence"`
	Params   []Param         `abi:"params,opt"`
}

// JudgeResponse holds one opinion for each criterion asked for.
type JudgeResponse struct {
	Opinions []CriterionOpinion `abi:"opinions,max=1000"`
	Failure  *Failure           `abi:"failure"`
}
