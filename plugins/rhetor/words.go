package main

// Words of an argument, in any domain. A star stands for any ending, a blank for words behind each other.
//
//nolint:gochecknoglobals // constants that Go has no syntax for
var (
	concluding = []string{
		"conclude*", "conclusion", "verdict", "decision", "decid*", "affirm*", "amend*", "acquit*", "dismiss*", "hold*", "held", "rul*", "finds", "find",
		"therefore", "order*",
	}
	reasoning = []string{
		"because", "since", "therefore", "thus", "hence", "given", "follows", "due", "reason*", "consequently", "shows", "indicat*", "explain*", "so that",
	}
	opposing = []string{
		"however", "although", "though", "but", "despite", "against", "challeng*", "object*", "alternative*", "doubt*", "nevertheless", "contrary",
		"unless", "rebut*", "missing", "weak*", "on the other hand", "counter*",
	}
	hedging = []string{
		"likely", "probably", "may", "might", "could", "perhaps", "suggest*", "appear*", "seem*", "possibl*", "uncertain*", "doubt*", "unclear",
		"nobody has shown", "cannot be sure",
	}
	certain = []string{
		"certain", "certainly", "certainty", "undoubtedly", "clearly", "obvious*", "proven", "proves", "definite*", "always", "never", "must",
		"conclusive*", "unquestionabl*", "everyone knows", "everybody knows", "no doubt", "beyond doubt", "without doubt", "no need",
	}
	accusing = []string{
		"prosecut*", "accus*", "charge*", "indict*", "plaintiff*", "claimant*", "applicant*", "petitioner*", "appellant*",
		"for it", "speaks for", "speak for", "in favour", "in favor", "arguments for", "on the one hand",
	}
	defending = []string{
		"defense", "defence", "defend*", "respondent*", "accused", "appellee*", "rebut*", "alternative*", "against it", "against this", "against that",
		"against the charge", "speaks against", "speak against", "arguments against", "on the other hand", "counterargument*",
	}
	answering = []string{
		"however", "although", "but", "nevertheless", "reject*", "rebut*", "answer*", "outweigh*", "concede*", "repl*", "struck", "fatal",
		"weakening", "overcome*", "persuad*", "unpersuasive", "weak point", "unless",
	}
)
