package reading

// Languages whose most frequent connectives are read.
const (
	English = "English"
	German  = "German"
	French  = "French"
	Spanish = "Spanish"
	// Unread is any other; the empty language that of a text too short to tell.
	Unread = "another language"
)

// function words of the languages: those that hardly a sentence does without.
var functionWords = map[string]map[string]bool{
	English: set("the of and to in is that it was for on are with as be by this which at from or an not has have had but its were their"),
	German:  set("der die das und ist nicht ein eine einer eines dem den des mit auf für von im zu dass sich auch als wird wurde war hat am aus bei nach sind ich"),
	French:  set("le la les des du et est une un que qui dans pour par sur pas avec au aux ce cette sont il elle ne se été mais ou je"),
	Spanish: set("el la los las de que en y es un una por con para del se no al lo como más fue son su pero este esta ha"),
}

// minTokens tell a language, of which leastFunction at least are function
// words; a text of fewer than manyTokens may do without them.
const minTokens, manyTokens, leastFunction = 8, 30, 0.12

// Language of the statements, outside of what they quote.
func Language(statements []Statement) string {
	count := make(map[string]int)
	all, unspaced := 0, 0
	for i := range statements {
		for _, c := range statements[i].Outside {
			if c >= 0x80 && unparted(c) {
				unspaced++
			}
		}
		words := statements[i].tokens
		if len(statements[i].Quotations) > 0 {
			words = tokens(statements[i].Outside)
		}
		for _, token := range words {
			all++
			for language, words := range functionWords {
				if words[token] {
					count[language]++
				}
			}
		}
	}
	if unspaced > 2*all {
		return Unread
	}
	if all < minTokens {
		return ""
	}
	best := English
	for _, language := range []string{German, French, Spanish} {
		if count[language] > count[best] {
			best = language
		}
	}
	switch {
	case float64(count[best]) >= leastFunction*float64(all):
		return best
	case all < manyTokens:
		return ""
	default:
		return Unread
	}
}
