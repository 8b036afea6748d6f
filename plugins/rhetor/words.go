package main

// Words of an argument, in any domain. A star stands for any ending.
//
//nolint:gochecknoglobals // constants that Go has no syntax for
var (
	concluding = []string{"conclude*", "conclusion", "verdict", "decision", "decid*", "affirm*", "amend*", "acquit*", "dismiss*", "hold*", "held", "rul*", "finds", "find", "therefore", "order*"}
	reasoning  = []string{"because", "since", "therefore", "thus", "hence", "given", "follows", "due", "reason*", "consequently", "shows", "indicat*", "explain*"}
	opposing   = []string{"however", "although", "though", "but", "despite", "against", "challeng*", "object*", "alternative*", "doubt*", "nevertheless", "contrary", "unless", "rebut*", "missing", "weak*"}
	hedging    = []string{"likely", "probably", "probability", "may", "might", "could", "perhaps", "suggest*", "appear*", "seem*", "possibl*", "uncertain*", "doubt*", "unclear"}
	certain    = []string{"certain", "certainly", "certainty", "undoubtedly", "clearly", "obviously", "prove*", "proven", "definite*", "always", "never", "must", "conclusive*", "unquestionabl*"}
	accusing   = []string{"prosecut*", "accus*", "charge*", "indict*", "plaintiff*", "claimant*", "applicant*", "petitioner*", "appellant*"}
	defending  = []string{"defense", "defence", "defend*", "respondent*", "accused", "appellee*", "rebut*", "alternative*"}
	answering  = []string{"however", "although", "but", "nevertheless", "reject*", "rebut*", "answer*", "outweigh*", "concede*", "repl*", "struck", "fatal", "weakening", "overcome*", "persuad*", "unpersuasive"}
)
