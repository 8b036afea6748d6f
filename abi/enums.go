package abi

// Element is the Wuxing-like element of a persona, a zone, a node or an item of evidence. It decides who contests an item: see the
// destructive cycle in SPEC.md.
type Element string

// The elements. Lightning belongs to the arbiter alone: no item carries it in the shipped pipelines, but the contract allows it.
const (
	Fire      Element = "fire"
	Water     Element = "water"
	Earth     Element = "earth"
	Air       Element = "air"
	Diamond   Element = "diamond"
	Lightning Element = "lightning"
)

// Family selects what the court does at a node; the node's name never does.
type Family string

// The families of the Shadow path, of the Light path and of the audit.
const (
	FamilyIndict   Family = "indict"
	FamilyDiscover Family = "discover"
	FamilyDefend   Family = "defend"
	FamilyHearing  Family = "hearing"
	FamilyVerdict  Family = "verdict"

	FamilyRecall      Family = "recall"
	FamilyTriage      Family = "triage"
	FamilyResolve     Family = "resolve"
	FamilyInvestigate Family = "investigate"
	FamilyCorrelate   Family = "correlate"
	FamilyReview      Family = "review"
	FamilyReport      Family = "report"

	FamilyCollect    Family = "collect"
	FamilyJudge      Family = "judge"
	FamilySynthesize Family = "synthesize"
)

// Severity says how much of an item's weight a challenge takes: fatal all of it; how much the others take is each persona's own.
type Severity string

// The severities, the strongest first.
const (
	Fatal     Severity = "fatal"
	Weakening Severity = "weakening"
	Minor     Severity = "minor"
)

// Decision is what a verdict decides.
type Decision string

// The decisions.
const (
	Affirm   Decision = "affirm"
	Amend    Decision = "amend"
	Acquit   Decision = "acquit"
	Remand   Decision = "remand"
	Mistrial Decision = "mistrial"
)

// Side is a party of the hearing.
type Side string

// The sides, in the order in which they speak.
const (
	Prosecution Side = "prosecution"
	Defense     Side = "defense"
	Bench       Side = "bench"
)

// QuoteStatus is what the host found when it looked an item's content up in the documents of the case. It is a fact, computed once a trial,
// and no module can influence it.
type QuoteStatus string

// The quote statuses.
const (
	// QuoteStands: a line of the content stands word for word in the document.
	QuoteStands QuoteStatus = "stands"
	// QuoteAbsent: source_ref names a document and no line of the content stands in it.
	QuoteAbsent QuoteStatus = "absent"
	// QuoteUnclaimed: the item does not claim to quote a document.
	QuoteUnclaimed QuoteStatus = "unclaimed"
)

// AnswerStatus is how Light answers a question of a remand.
type AnswerStatus string

// The answer statuses.
const (
	Found     AnswerStatus = "found"
	NotFound  AnswerStatus = "not_found"
	Withdrawn AnswerStatus = "withdrawn"
)

// ChallengedStatus is what Light says of an item that the court challenged.
type ChallengedStatus string

// The statuses of a challenged item.
const (
	ItemStands    ChallengedStatus = "stands"
	ItemWithdrawn ChallengedStatus = "withdrawn"
)

// GapSeverity says how badly a missing piece of evidence is needed.
type GapSeverity string

// The gap severities.
const (
	GapHigh   GapSeverity = "high"
	GapMedium GapSeverity = "medium"
	GapLow    GapSeverity = "low"
)

// SymptomCategory is triage's coarse view of a failure.
type SymptomCategory string

// The symptom categories.
const (
	SymptomProduct        SymptomCategory = "product"
	SymptomAutomation     SymptomCategory = "automation"
	SymptomInfrastructure SymptomCategory = "infrastructure"
	SymptomFlake          SymptomCategory = "flake"
	SymptomUnknown        SymptomCategory = "unknown"
)

// ReviewOutcome is what Light's review decides.
type ReviewOutcome string

// The review outcomes.
const (
	Approve  ReviewOutcome = "approve"
	Reassess ReviewOutcome = "reassess"
	Overturn ReviewOutcome = "overturn"
)

// Call is a kind of call that a module serves.
type Call string

// The call kinds. Each is one export of the direct binding.
const (
	CallNode    Call = "node"
	CallContest Call = "contest"
	CallEdges   Call = "edges"
	CallJudge   Call = "judge"
)

// Capability is what a module may ask of the host. All are denied unless the pipeline grants them.
type Capability string

// The capabilities.
const (
	CapLog        Capability = "log"
	CapRecall     Capability = "recall"
	CapCorrelate  Capability = "correlate"
	CapSource     Capability = "source"
	CapExperiment Capability = "experiment"
	CapComplete   Capability = "complete"
)
