package abi

// LabelWeight gives a label a number, whose meaning the field that holds it
// states. Beyond odds of e^20 to 1 no figure is a measurement.
type LabelWeight struct {
	Label  string  `abi:"label,nonempty"`
	Weight float64 `abi:"weight,min=-20,max=20"`
}

// SourceSaying is how likely a source says Says, given each true label.
type SourceSaying struct {
	// Says is a label, or empty where the source names none.
	Says string `abi:"says,opt"`
	// Given holds P(source says Says | the label is true), in (0, 1].
	Given []LabelWeight `abi:"given"`
}

// SourceReliability is what is known of one source of evidence. What it says
// counts once, however often it says it.
type SourceReliability struct {
	// Source is matched against an item's source_ref up to its first ':' or '#'.
	Source string `abi:"source,nonempty"`
	// Sayings that are not listed tell nothing.
	Sayings []SourceSaying `abi:"sayings"`
	// Share of the log-likelihoods that counts: below 1 for a source that repeats what others say.
	Share float64 `abi:"share,min=0,max=2"`
	// Stated is what the confidence that the source states adds to the label that it names.
	Stated *LogitMap `abi:"stated"`
	// Cap is the most that all items of the source together may move the
	// log-odds between two labels, in nats.
	Cap float64 `abi:"cap,min=0,max=20"`
}

// Signal is a phrase whose presence speaks for or against labels.
type Signal struct {
	// Phrase is looked for as it stands, ASCII letters in any case. Where it
	// begins or ends with an ASCII letter or digit, no other may stand beside it.
	Phrase string `abi:"phrase,nonempty"`
	// Weights are log-likelihoods in nats; a label that is not listed has 0.
	Weights []LabelWeight `abi:"weights"`
}

// LogitMap gives nats for a stated confidence: Offset + Slope*logit(stated),
// the confidence taken within [0.001, 0.999].
type LogitMap struct {
	Offset float64 `abi:"offset,min=-20,max=20"`
	Slope  float64 `abi:"slope,min=0,max=20"`
}

// Profile is what is known of a domain: data, fitted from labelled cases or
// hand-tuned, that the host hands to the personas. A field that is absent
// or empty says nothing.
type Profile struct {
	Name string `abi:"name,nonempty"`
	// BaseRates are P(label) before any evidence.
	BaseRates []LabelWeight       `abi:"base_rates"`
	Sources   []SourceReliability `abi:"sources"`
	// Signals are looked for in the documents, in the subject, and in the
	// contents of items that name no label.
	Signals []Signal `abi:"signals"`
	// SignalCap is the most that all signals together may move the log-odds, in nats.
	SignalCap float64 `abi:"signal_cap,min=0,max=20"`
	// Light is what is known of Light, for use inside the court; its Source is "light".
	Light *SourceReliability `abi:"light"`
}
