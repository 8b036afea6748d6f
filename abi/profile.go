package abi

// LabelWeight gives a label a number; the field that contains it defines the
// meaning. The limits are odds of e^20 to 1: no measurement supports more.
type LabelWeight struct {
	Label  string  `abi:"label,nonempty"`
	Weight float64 `abi:"weight,min=-20,max=20"`
}

// ElementLikelihood is the likelihood, under each true label, that a statement is made by an item of one element.
type ElementLikelihood struct {
	Element Element `abi:"element"`
	// Given holds P(an item of this element says it | the source says it, the label is true), in (0, 1].
	Given []LabelWeight `abi:"given"`
}

// SourceStatement is the likelihood of one statement of a source under each true label.
type SourceStatement struct {
	// Says is the label that the source names; empty when it names none.
	Says string `abi:"says,opt"`
	// Given holds P(source says Says | the label is true), in (0, 1].
	Given []LabelWeight `abi:"given"`
	// Elements are what it tells beside that by items of which element the source says it; each counts once. Those that are not listed change nothing.
	Elements []ElementLikelihood `abi:"elements,opt"`
}

// SourceReliability describes how reliable one source of evidence is. Each statement of a source counts once, however often it is repeated:
// by the highest confidence that is stated with it.
type SourceReliability struct {
	// Source is matched against an item's source_ref up to its first ':' or '#', that of a language model up to the second: "model:NAME".
	Source string `abi:"source,nonempty"`
	// Statements that are not listed change nothing.
	Statements []SourceStatement `abi:"statements"`
	// Share of the log-likelihoods that counts: below 1 for a source that repeats others.
	Share float64 `abi:"share,min=0,max=2"`
	// Stated maps the confidence that the source states to nats for the label that it names.
	Stated *LogitMap `abi:"stated"`
	// Cap limits how far all items of the source together may move the log-odds between two labels, in nats.
	Cap float64 `abi:"cap,min=0,max=20"`
}

// Signal is a phrase whose presence is evidence for or against labels.
type Signal struct {
	// Phrase is matched literally; ASCII letters match in any case. Where it
	// begins or ends with an ASCII letter or digit, no other may be adjacent.
	Phrase string `abi:"phrase,nonempty"`
	// Weights are log-likelihoods in nats; a label that is not listed has 0.
	Weights []LabelWeight `abi:"weights"`
}

// SignalPassage limits how far the different signals in so many bytes of a text may move the log-odds between two labels, in nats. The
// signals of a passage that exceeds it count nothing, nor do those that no word separates from it, nor those within half as many bytes of
// it. One signal, with those that overlap it, exceeds nothing.
type SignalPassage struct {
	Bytes int     `abi:"bytes,min=1,max=65536"`
	Nats  float64 `abi:"nats,min=0,max=1000"`
}

// LogitMap gives nats for a stated confidence: Offset + Slope*logit(stated), the confidence taken within [0.001, 0.999].
type LogitMap struct {
	Offset float64 `abi:"offset,min=-20,max=20"`
	Slope  float64 `abi:"slope,min=0,max=20"`
	// Range is what the source stated while it was measured; nil for any.
	Range *ConfidenceRange `abi:"range"`
}

// ConfidenceRange holds the confidences whose worth was measured. One below Least counts as Least, one above Most as Most.
type ConfidenceRange struct {
	Least float64 `abi:"least,min=0,max=1"`
	Most  float64 `abi:"most,min=0,max=1"`
}

// OutcomeModel says what the runs of a failing test look like under each way in which a label comes true. Package odds says what they
// are worth.
type OutcomeModel struct {
	// Alone: nothing but runs speaks for a label, neither items nor texts nor Light.
	Alone    bool             `abi:"alone"`
	Shapes   []RateShape      `abi:"shapes"`
	Patterns []OutcomePattern `abi:"patterns"`
}

// RateShape is a distribution of rates: the parameters of a Dirichlet distribution over runs that pass, that fail as the case did, and
// that fail otherwise. Parameters below 0.001 count as that.
type RateShape struct {
	Name   string  `abi:"name,nonempty"`
	Passed float64 `abi:"passed,min=0,max=100000"`
	Same   float64 `abi:"same,min=0,max=100000"`
	Other  float64 `abi:"other,min=0,max=100000"`
}

// OutcomePattern is one way in which labels come true, such as a change of the product that makes a test fail each time.
type OutcomePattern struct {
	Name string `abi:"name,nonempty"`
	// Labels that may come true so, with how often each does: P(pattern | label), up to a factor for each label.
	Labels []LabelWeight `abi:"labels"`
	// Rates are tried in their order: the first that has a cell gives its runs their rate. A cell that no pattern has tells nothing;
	// one that a pattern has, all have.
	Rates []OutcomeRate `abi:"rates"`
	// Absent is the probability that the base lacks the test or does not build.
	Absent float64 `abi:"absent,min=0,max=1"`
	// Changed is the probability that the change touched the test, where the base has it. 0: that tells nothing.
	Changed float64 `abi:"changed,min=0,max=1"`
	// Executed was the probability that a test executes code that the change touched. It tells nothing, since no run measures that.
	Executed float64 `abi:"executed,min=0,max=1"`
}

// OutcomeRate is a rate that cells have in common. A field that is absent has any, but a rate without trees has no mixtures of them.
type OutcomeRate struct {
	// Name is for Above.
	Name        string         `abi:"name,opt"`
	Product     TreeRevision   `abi:"product,opt"`
	Tests       TreeRevision   `abi:"tests,opt"`
	Environment RunEnvironment `abi:"environment,opt"`
	Order       RunOrder       `abi:"order,opt"`
	Shape       string         `abi:"shape,nonempty"`
	// Above is the Name of another rate of the pattern: the odds of failure are at least twice those of that. Absent for none.
	Above string `abi:"above,opt"`
}

// Profile describes a domain. It is fitted from labelled cases or hand-tuned, and the host passes it to the personas. A field that is
// absent or empty has no effect.
type Profile struct {
	Name string `abi:"name,nonempty"`
	// BaseRates are P(label) before any evidence.
	BaseRates []LabelWeight       `abi:"base_rates"`
	Sources   []SourceReliability `abi:"sources"`
	// Seen are sources of which nothing could be learned: they count as without a profile. Where sources are listed here or were
	// measured, all others together count little.
	Seen []string `abi:"seen,opt"`
	// Signals are searched in the documents, in the subject, and in the contents of items that name no label.
	Signals []Signal `abi:"signals"`
	// SignalCap limits how far all signals together may move the log-odds, in nats.
	SignalCap float64 `abi:"signal_cap,min=0,max=20"`
	// SignalPassage tells passages that were written to hold signals.
	SignalPassage *SignalPassage `abi:"signal_passage"`
	// Light describes the reliability of Light inside the court; its Source is "light".
	Light *SourceReliability `abi:"light"`
	// Temperature divides the log-odds that base rates, Light, items and texts give together, so that the court is less sure of the same
	// answer. Absent it is 1. What experiments show is not divided.
	Temperature *float64 `abi:"temperature,min=1,max=10"`
	// Outcomes says what runs tell. Without it experiments change nothing.
	Outcomes *OutcomeModel `abi:"outcomes"`
}
