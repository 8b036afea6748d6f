package main

import "github.com/shadowcourt/shadowcourt/plugins/internal/reading"

// Words of an argument, in any domain. A star stands for any ending, a blank
// for words behind each other.
//
//nolint:gochecknoglobals // constants that Go has no syntax for
var (
	concluding = byLanguage{
		reading.English: {"conclude*", "conclusion", "verdict", "decision", "decid*", "affirm*", "amend*", "acquit*", "dismiss*", "hold*", "held", "rul*", "finds", "find", "therefore", "order*"},
		reading.German:  {"schluss", "ergebnis", "urteil*", "entscheid*", "daher", "folglich", "somit", "stelle fest", "weise ab", "abgewiesen", "bestätigt"},
		reading.French:  {"conclu*", "verdict", "décision", "décid*", "jugement", "donc", "retenir", "retient", "rejette"},
		reading.Spanish: {"conclu*", "veredicto", "decisión", "decid*", "fallo", "sentencia", "por lo tanto", "por tanto", "rechaza"},
	}
	reasoning = byLanguage{
		reading.English: {"because", "since", "therefore", "thus", "hence", "given", "follows", "due", "reason*", "consequently", "shows", "indicat*", "explain*", "so that"},
		reading.German:  {"weil", "da", "denn", "daher", "deshalb", "darum", "folglich", "somit", "aufgrund", "wegen", "zeigt", "spricht", "grund", "gründe*"},
		reading.French:  {"parce", "car", "puisque", "donc", "ainsi", "en raison", "grâce", "montre", "indique", "explique", "raison*"},
		reading.Spanish: {"porque", "pues", "ya que", "puesto que", "por lo tanto", "por tanto", "debido", "muestra", "indica", "explica", "razón", "razones"},
	}
	opposing = byLanguage{
		reading.English: {
			"however", "although", "though", "but", "despite", "against", "challeng*", "object*", "alternative*", "doubt*", "nevertheless", "contrary",
			"unless", "rebut*", "missing", "weak*", "on the other hand", "counter*",
		},
		reading.German:  {"aber", "jedoch", "dagegen", "hingegen", "obwohl", "trotz", "dennoch", "allerdings", "gegen", "einwand", "einwände", "zweifel", "es sei denn", "andererseits", "schwach*", "schwäche*"},
		reading.French:  {"mais", "cependant", "toutefois", "pourtant", "bien que", "quoique", "malgré", "contre", "objection*", "doute*", "en revanche", "faible*"},
		reading.Spanish: {"pero", "sin embargo", "aunque", "no obstante", "a pesar", "contra", "objeción*", "duda*", "en cambio", "débil*"},
	}
	hedging = byLanguage{
		reading.English: {"likely", "probably", "may", "might", "could", "perhaps", "suggest*", "appear*", "seem*", "possibl*", "uncertain*", "doubt*", "unclear", "nobody has shown", "cannot be sure"},
		reading.German:  {"wahrscheinlich", "vermutlich", "vielleicht", "möglich*", "könnte*", "dürfte", "scheint", "unklar", "unsicher"},
		reading.French:  {"probable*", "probablement", "peut-être", "peut être", "pourrait", "semble*", "possible*", "incertain*"},
		reading.Spanish: {"probable*", "probablemente", "quizá*", "tal vez", "podría", "parece*", "posible*", "incierto*"},
	}
	certain = byLanguage{
		reading.English: {
			"certain", "certainly", "certainty", "undoubtedly", "clearly", "obvious*", "proven", "proves", "definite*", "always", "never", "must",
			"conclusive*", "unquestionabl*", "everyone knows", "everybody knows", "no doubt", "beyond doubt", "without doubt", "no need",
		},
		reading.German:  {"sicherlich", "zweifellos", "offensichtlich", "eindeutig", "bewiesen", "definitiv", "immer", "niemals", "selbstverständlich", "jeder weiß"},
		reading.French:  {"certainement", "évident*", "évidemment", "clairement", "prouvé*", "toujours", "jamais", "sans aucun doute", "indiscutable*"},
		reading.Spanish: {"ciertamente", "obvi*", "evidente*", "claramente", "demostrado", "siempre", "nunca", "sin duda", "indiscutible*"},
	}
	accusing = byLanguage{
		reading.English: {
			"prosecut*", "accus*", "charge*", "indict*", "plaintiff*", "claimant*", "applicant*", "petitioner*", "appellant*",
			"for it", "speaks for", "speak for", "in favour", "in favor", "arguments for", "on the one hand",
		},
		reading.German:  {"anklage*", "ankläger*", "kläger*", "vorwurf", "dafür", "spricht für", "einerseits"},
		reading.French:  {"accusation*", "procureur*", "plaignant*", "demandeur*", "en faveur", "une part"},
		reading.Spanish: {"acusación*", "fiscal*", "demandante*", "cargo*", "a favor", "por un lado"},
	}
	defending = byLanguage{
		reading.English: {
			"defense", "defence", "defend*", "respondent*", "accused", "appellee*", "rebut*", "alternative*",
			"against it", "against this", "against that", "against the charge", "speaks against", "speak against", "arguments against", "on the other hand", "counterargument*",
		},
		reading.German:  {"verteidig*", "angeklagte*", "beklagte*", "dagegen", "spricht gegen", "alternative*", "andererseits"},
		reading.French:  {"défense", "défend*", "accusé*", "défendeur*", "contre cela", "alternative*", "autre part"},
		reading.Spanish: {"defensa", "defiend*", "acusado*", "demandado*", "en contra", "alternativa*", "por otro lado"},
	}
	answering = byLanguage{
		reading.English: {
			"however", "although", "but", "nevertheless", "reject*", "rebut*", "answer*", "outweigh*", "concede*", "repl*", "struck", "fatal",
			"weakening", "overcome*", "persuad*", "unpersuasive", "weak point", "unless",
		},
		reading.German:  {"jedoch", "aber", "allerdings", "obwohl", "erwider*", "entgegn*", "überwieg*", "zurückgewiesen", "antwort*"},
		reading.French:  {"cependant", "toutefois", "mais", "bien que", "répond*", "réplique*", "rejet*", "emporte*"},
		reading.Spanish: {"sin embargo", "pero", "aunque", "no obstante", "responde*", "replica*", "rechaz*", "prevalece*"},
	}
)

// byLanguage are words of each language that is read.
type byLanguage map[string][]string
