package abi

// Position places an entry of an append channel: Sequence counts within one visit of a node, Pass counts the visits. A retry gives the same
// position and so doubles nothing.
type Position struct {
	Node     string `abi:"node,nonempty"`
	Pass     int    `abi:"pass,min=0"`
	Sequence int    `abi:"sequence,min=0"`
}

// ArtifactEntry is an artifact with its place.
type ArtifactEntry struct {
	At       Position `abi:"at"`
	Persona  string   `abi:"persona,opt"`
	Artifact Artifact `abi:"artifact"`
}

// ContestEntry holds the challenges of one contest call with its place.
type ContestEntry struct {
	At         Position    `abi:"at"`
	Persona    string      `abi:"persona,opt"`
	Challenges []Challenge `abi:"challenges"`
}

// OpinionEntry is a text under audit with its place.
type OpinionEntry struct {
	At      Position        `abi:"at"`
	Opinion JudicialOpinion `abi:"opinion"`
}

// NodeError is a failure that a node had, with its place.
type NodeError struct {
	At      Position `abi:"at"`
	Persona string   `abi:"persona,opt"`
	Digest  string   `abi:"digest,opt"`
	Cause   string   `abi:"cause,nonempty"`
	Detail  string   `abi:"detail"`
}

// Update is what one node adds to the state. Every channel may be empty.
type Update struct {
	Evidences        map[string][]Evidence                  `abi:"evidences,opt"`
	Opinions         []OpinionEntry                         `abi:"opinions,opt"`
	Judgements       map[string]map[string]CriterionOpinion `abi:"judgements,opt"`
	CriterionResults map[string]CriterionResult             `abi:"criterion_results,opt"`
	Artifacts        []ArtifactEntry                        `abi:"artifacts,opt"`
	Contests         []ContestEntry                         `abi:"contests,opt"`
	Errors           []NodeError                            `abi:"errors,opt"`
	Metadata         map[string]string                      `abi:"metadata,opt"`
	Report           *AuditReport                           `abi:"report"`
}

// Snapshot is the whole state at one moment, every list in its canonical order.
type Snapshot struct {
	Evidences        map[string][]Evidence                  `abi:"evidences"`
	Opinions         []OpinionEntry                         `abi:"opinions"`
	Judgements       map[string]map[string]CriterionOpinion `abi:"judgements"`
	CriterionResults map[string]CriterionResult             `abi:"criterion_results"`
	Artifacts        []ArtifactEntry                        `abi:"artifacts"`
	Contests         []ContestEntry                         `abi:"contests"`
	Errors           []NodeError                            `abi:"errors"`
	Metadata         map[string]string                      `abi:"metadata"`
	Report           *AuditReport                           `abi:"report"`
}
