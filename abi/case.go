package abi

// Evidence is one item of evidence, from Light, from an outside witness or from the hearing.
type Evidence struct {
	SourceRef           string  `abi:"source_ref,nonempty"`
	Content             string  `abi:"content"`
	RelevanceConfidence float64 `abi:"relevance_confidence,min=0,max=1"`
	// Supports is the label that the item speaks for; empty when it names none.
	Supports string `abi:"supports,opt"`
	// Element of the Light node the item came from; empty counts as earth.
	Element Element `abi:"element,opt"`
}

// Document is raw data of a case: a log, a diff, a page.
type Document struct {
	Name string `abi:"name,nonempty"`
	Text string `abi:"text"`
}

// LightAnswer is the classification that the court reviews.
type LightAnswer struct {
	Classification string  `abi:"classification,nonempty"`
	Confidence     float64 `abi:"confidence,min=0,max=1"`
	Reasoning      string  `abi:"reasoning"`
}

// Case is what is tried. ID and Group stay with the host: no module sees them.
type Case struct {
	ID        string       `abi:"id,nonempty"`
	Group     string       `abi:"group,opt"`
	Subject   string       `abi:"subject"`
	Labels    []string     `abi:"labels,min=2"`
	Light     *LightAnswer `abi:"light"`
	Evidence  []Evidence   `abi:"evidence"`
	Documents []Document   `abi:"documents"`
}

// Persona is an identity of the court. It comes from the pipeline, never from the module that plays it.
type Persona struct {
	Name      string  `abi:"name,nonempty"`
	Colour    string  `abi:"colour,opt"`
	Element   Element `abi:"element"`
	Role      string  `abi:"role"`
	Alignment string  `abi:"alignment,nonempty"`
}
