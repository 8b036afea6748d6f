package abi

// LabelWeight gives a label a number, whose meaning the field that holds it states.
type LabelWeight struct {
	Label  string  `abi:"label,nonempty"`
	Weight float64 `abi:"weight"`
}

// SourceSaying is how likely a source says Says, given each true label.
type SourceSaying struct {
	// Says is a label, or empty where the source names none.
	Says string `abi:"says,opt"`
	// Given holds P(source says Says | the label is true), in (0, 1].
	Given []LabelWeight `abi:"given"`
}

// SourceReliability is what is known of one source of evidence.
type SourceReliability struct {
	// Source is matched against an item's source_ref up to its first ':' or '#'.
	Source  string         `abi:"source,nonempty"`
	Sayings []SourceSaying `abi:"sayings"`
	// Cap is the most that all items of the source together may move the
	// log-odds between two labels, in nats.
	Cap float64 `abi:"cap,min=0,max=20"`
}

// Signal is a phrase whose presence speaks for or against labels.
type Signal struct {
	// Phrase is looked for as it stands, ASCII letters in any case.
	Phrase string `abi:"phrase,nonempty"`
	// Weights are log-likelihoods in nats; a label that is not listed has 0.
	Weights []LabelWeight `abi:"weights"`
}

// LogitMap corrects a stated confidence: logit(p) = Offset + Slope*logit(stated).
type LogitMap struct {
	Offset float64 `abi:"offset,min=-20,max=20"`
	Slope  float64 `abi:"slope,min=0,max=20"`
}

// Profile is what is known of a domain: data, fitted from labelled cases or
// laid by hand, that the host hands to the personas. A field that is absent
// or empty says nothing.
type Profile struct {
	Name string `abi:"name,nonempty"`
	// BaseRates are P(label) before any evidence.
	BaseRates []LabelWeight       `abi:"base_rates"`
	Sources   []SourceReliability `abi:"sources"`
	Signals   []Signal            `abi:"signals"`
	// SignalCap is the most that all signals together may move the log-odds, in nats.
	SignalCap float64 `abi:"signal_cap,min=0,max=20"`
	// Light corrects Light's stated confidence for use inside the court.
	Light *LogitMap `abi:"light"`
}
