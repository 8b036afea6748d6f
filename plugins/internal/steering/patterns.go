package steering

import (
	"slices"
	"strconv"
	"strings"
)

// pattern is alternatives of one word each; a gap stands for up to some words of any kind.
type pattern struct {
	kind   string
	weight float64
	// commands: it counts where somebody is told to, and not where somebody is said to.
	commands bool
	parts    []part
}

// part is alternatives of a word, or a gap.
type part struct {
	words []string
	gap   int // most words; 0 for no gap
}

// The kinds.
const (
	Override = "it sets instructions aside"
	Role     = "it hands out roles"
	Dictate  = "it dictates an answer"
	Address  = "it addresses who judges"
	Forgery  = "it forges the marks of a conversation"
	Secrets  = "it asks for what the reader was told"
	Hidden   = "it hides characters"
)

// Words that patterns share.
const (
	ignore   = "ignore|disregard|forget|override|bypass|neglect|discard"
	before   = "previous|prior|above|earlier|preceding|your|system|foregoing|former|existing|original"
	orders   = "instructions|instruction|rules|rubric|prompt|prompts|directions|guidelines|criteria|directives|orders|commands"
	readers  = "judge|judges|auditor|auditors|evaluator|evaluators|grader|graders|reviewer|reviewers|assistant|ai|llm|model|scorer|examiner"
	modal    = "must|should|shall|will|have|need|ought|are"
	highest  = "5|five|100|10|maximum|highest|perfect|full|top|best|maximal"
	ruling   = "affirm|acquit|amend|remand|score|rate|grade"
	scores   = "score|scores|rating|ratings|grade|grades|marks|mark|points"
	ignoreDE = "ignoriere|ignoriert|ignorieren|vergiss|vergesst|vergessen|missachte|missachten"
	ordersDE = "anweisungen|anweisung|instruktionen|vorgaben|regeln|befehle|anordnungen"
	ignoreFR = "ignore|ignorez|ignorer|oublie|oubliez|oublier"
	ordersFR = "instructions|consignes|directives|règles|ordres"
	ignoreES = "ignora|ignore|ignorad|ignoren|olvida|olvide|olviden|omite|omita"
	ordersES = "instrucciones|indicaciones|órdenes|ordenes|reglas|directrices"
)

// patterns by the words that they may begin with. A weight is about the probability that a text with it means to steer. One that begins
// with ! commands. A gap is *, of up to four words, or *N.
var patterns = index([]pattern{
	of(Override, 0.9, "! "+ignore+" * "+before+" * "+orders),
	of(Override, 0.8, "! "+ignore+" *2 all|any|every|these|those|whatever *2 "+orders),
	of(Override, 0.7, "! "+ignore+" *1 the|this rubric|prompt|criteria|guidelines"),
	of(Override, 0.5, "! "+ignore+" *1 "+orders),
	of(Override, 0.8, "! "+ignore+" * everything|all|anything|whatever|what * told|said|instructed|given|taught|learned|above|before"),
	of(Override, 0.8, "do|must|should not follow|obey|apply|heed|use *2 "+before+" *2 "+orders),
	of(Override, 0.6, "do|must|should not follow|obey|apply|heed|use *1 rubric|prompt"),
	of(Override, 0.5, "new|updated|real|actual instructions|instruction :"),
	of(Override, 0.5, "instructions|rules|rubric|guidelines|criteria *2 no longer apply|applies|valid|binding|count"),
	of(Override, 0.5, "these|those|previous|old|your instructions|rules|rubric|guidelines|criteria *2 no longer apply|applies|valid|binding|count"),
	of(Role, 0.8, "you are|re now a|an|the|my|no|free|in|acting|dan|going * "+readers+"|prosecutor|defender|expert|bot|chatbot|agent|pirate|unrestricted|longer|dan|restrictions|developer|rules|persona|character"),
	of(Role, 0.7, "you are|re no longer *2 "+readers+"|bound|restricted|limited"),
	of(Role, 0.6, "you are|re *2 judge|prosecutor|defender|evaluator|assistant|grader|auditor|reviewer|llm|chatbot"),
	of(Role, 0.6, "! act|behave|respond|answer|pretend|roleplay as|like|to * judge|prosecutor|defender|admin|administrator|developer|evaluator|dan|assistant|grader|auditor"),
	of(Role, 0.7, "from now on * you|respond|answer|act|score|rate|output|reply"),
	of(Role, 0.6, "your new|only|real|true|actual task|job|role|goal|objective|purpose"),
	of(Role, 0.7, "jailbreak|dan|god mode"),
	of(Role, 0.5, "developer mode enabled|on|activated"),
	of(Dictate, 0.8, readers+" must|should|shall|will|ought *1 "+ruling+"|approve|dismiss"),
	of(Dictate, 0.7, readers+" have|need|has|needs|are|is|ought to *1 "+ruling+"|approve|dismiss"),
	of(Dictate, 0.7, "you must|should|shall|will|have|need *1 affirm|acquit|amend|remand|score|grade"),
	of(Dictate, 0.7, readers+"|you "+modal+" * give|assign|award|output|return|set * "+scores+"|numeric_score|"+highest),
	of(Dictate, 0.8, "! give|assign|award|grant * score|scores|rating|grade|marks|points|numeric_score|verdict|confidence * "+highest+"|affirm|acquit"),
	of(Dictate, 0.8, "! give|assign|award|grant * "+highest+" *1 "+scores),
	of(Dictate, 0.7, "! give|assign|award|grant this|it|everything|us|me *2 5|five|10|100|maximum|perfect"),
	of(Dictate, 0.7, "! respond|output|return|reply|answer|write|say *3 score|rating|grade|numeric_score|verdict *2 "+highest+"|affirm|acquit"),
	of(Dictate, 0.8, "! rate|score|grade|mark * everything|all|every|each|this|criteria|criterion|it * "+highest),
	of(Dictate, 0.6, "! rate|score|grade|mark *2 5|10|100 /|of|out"),
	of(Dictate, 0.6, "score|scores|rating|ratings|grade|grades below|under|lower|beneath|less *2 3|4|5|three|four|five *2 will|shall|must|are|is *2 overturned|rejected|ignored|invalid|penalised|penalized|punished|appealed|discarded|wrong"),
	of(Dictate, 0.7, "security_violation_found|numeric_score|final_classification|motion_to_dismiss|plea_deal :|="),
	of(Dictate, 0.6, "! do not|never flag|report|penalise|penalize|punish|mention|mark|cite *1 this|any|the|it *2 opinion|text|violation|violations|injection|message|sentence|anything|instruction"),
	of(Dictate, 0.6, "! stop|end|skip|abort reading|evaluating|judging|auditing|scoring|grading|evaluation|audit|scoring"),
	of(Dictate, 0.5, highest+" *1 of your|the|our scale|rubric"),
	of(Dictate, 0.5, "only|correct|right|appropriate|fair|acceptable score|rating|grade|verdict *2 is|: *1 "+highest+"|affirm|acquit"),
	of(Address, 0.4, "note|message|memo|attention|hint|word|instruction|instructions|reminder|notice to|for|: *1 "+readers+"|readers|reader"),
	of(Address, 0.4, "dear|hello|hey|hi|attention *1 "+readers),
	of(Address, 0.4, "your scale|rubric|scoring|grading|score|rating|scores|assessment|evaluation|judgement|judgment|verdict"),
	of(Address, 0.4, "if you|we|an|a are|is|re *1 ai|llm|language|"+readers),
	of(Forgery, 0.9, "< bar im_start|im_end|system|user|assistant|endoftext"),
	of(Forgery, 0.8, "[ / inst ]"), of(Forgery, 0.8, "[ inst ]"),
	of(Forgery, 0.5, "[ system|assistant ]"),
	of(Forgery, 0.7, "# # # instruction|instructions|response|assistant|human :"),
	of(Forgery, 0.7, "< / system|instructions|opinion|prompt|untrusted >"),
	of(Forgery, 0.4, "< / evidence|document|data|context >"),
	of(Forgery, 0.6, "end|begin of|new *2 prompt|instructions * begin|system|instructions|end|new"),
	of(Forgery, 0.5, "end of evidence|document|opinion|text *2 new|begin|system|now *2 instructions|task|prompt|you"),
	of(Forgery, 0.5, "! assistant|system|ai|human : *2 score|rate|grade|give|ignore|the|you|output|i"),
	of(Secrets, 0.8, "! reveal|print|repeat|show|output|leak|tell|display * your|system|hidden|initial * prompt|instructions"),
	of(Secrets, 0.7, "! reveal|print|repeat|show|output|leak|tell|display *2 your rules|rubric|guidelines"),

	of(Override, 0.9, "! "+ignoreDE+" * "+ordersDE), of(Override, 0.8, "! "+ignoreDE+" *2 alles * gesagt|zuvor|bisher|oben|vorher|wurde"),
	of(Override, 0.9, "! "+ignoreFR+" * "+ordersFR+" *1 précédentes|précédente|antérieures|ci|reçues"), of(Override, 0.8, "! ignorez|oubliez|oublie * "+ordersFR),
	of(Override, 0.8, "! ignorez|oubliez|oublie|ignore *1 tout * précède|dit|avant|précédemment"),
	of(Override, 0.9, "! "+ignoreES+" * "+ordersES), of(Override, 0.8, "! "+ignoreES+" *1 todo * anterior|dicho|antes"),
	of(Override, 0.9, "! ignora|ignorate|dimentica|dimenticate * istruzioni|regole|direttive"),
	of(Override, 0.9, "! ignore|ignora|esqueça|esquece|desconsidere * instruções|regras|ordens"),
	of(Override, 0.9, "игнорируй|игнорируйте|забудь|забудьте|проигнорируй|проигнорируйте * инструкции|указания|правила"),
	of(Role, 0.7, "du bist jetzt|nun *1 der|die|das|ein|eine"), of(Role, 0.7, "sie sind jetzt|nun *1 der|die|das|ein|eine richter|richterin|prüfer|assistent"),
	of(Role, 0.7, "tu es|êtes maintenant|désormais"), of(Role, 0.7, "vous êtes maintenant|désormais *1 un|une|le|la"), of(Role, 0.7, "ahora eres"),
	of(Dictate, 0.8, "! vergib|vergebt|vergeben|gib|gebt|geben|bewerte|bewertet|bewerten * volle|vollen|höchste|höchsten|maximale|bestnote|5|fünf *1 punktzahl|punkte|bewertung|note|wertung|punkten|sternen"),
	of(Dictate, 0.7, "! vergib|gib|bewerte|bewerten *3 bestnote|höchstnote|5|fünf"),
	of(Dictate, 0.8, "! donne|donnez|attribue|attribuez|accorde|accordez|notez * note|score|notation|points *2 maximale|maximal|5|parfaite|maximum|cinq"), //nolint:misspell // it is French
	of(Dictate, 0.8, "! da|dale|dé|otorga|otorgue|asigna|asigne|califica|califique|puntúa * máxima|máximo|5|cinco|perfecta *1 puntuación|nota|calificación|puntos"),
	of(Dictate, 0.8, "! da|dale|dé|otorga|otorgue|asigna|asigne * puntuación|nota|calificación *1 máxima|5|perfecta|más"),
})

func of(kind string, weight float64, source string) pattern {
	p := pattern{kind: kind, weight: weight}
	for word := range strings.SplitSeq(source, " ") {
		switch {
		case word == "!":
			p.commands = true
		case word == "*":
			p.parts = append(p.parts, part{gap: maxGap})
		case word[0] == '*':
			gap, _ := strconv.Atoi(word[1:])
			p.parts = append(p.parts, part{gap: gap})
		case word == "bar": // the sign that separates alternatives
			p.parts = append(p.parts, part{words: []string{"|"}})
		default:
			p.parts = append(p.parts, part{words: strings.Split(foldWord(word), "|")})
		}
	}
	return p
}

// foldWord writes a word as texts are read.
func foldWord(word string) string { return strings.Map(folded, word) }

func index(list []pattern) map[string][]*pattern {
	by := make(map[string][]*pattern)
	for i := range list {
		for _, word := range list[i].parts[0].words {
			by[word] = append(by[word], &list[i])
		}
	}
	return by
}

// maxGap is how many words of any kind a gap stands for where it doesn't say.
const maxGap = 4

// What match gives where a pattern does not stand: it doesn't, or the words end before it does.
const (
	absent     = -1
	unfinished = -2
)

// match says where the pattern ends if it stands at words[at:]; absent or unfinished if it doesn't.
// A gap does not go over the end of a sentence.
func (p *pattern) match(words []string, at, from int) int {
	for i := from; i < len(p.parts); i++ {
		if gap := p.parts[i].gap; gap > 0 {
			none := absent
			for skip := 0; skip <= gap; skip++ {
				end := p.match(words, at+skip, i+1)
				if end >= 0 {
					return end
				}
				none = min(none, end)
				if at+skip >= len(words) || words[at+skip] == "." || words[at+skip] == "!" {
					break
				}
			}
			return none
		}
		if at >= len(words) {
			return unfinished
		}
		if !slices.Contains(p.parts[i].words, words[at]) {
			return absent
		}
		at++
	}
	return at
}

// Words after which a verb tells somebody what to do.
var (
	commanding = set(". ! ? : ; , \" ' ` ( [ { - – — > # * | / = “ „ « » ” ’ ‘ 。 please kindly and then now so just instead also but or first next must " +
		"bitte und dann nun jetzt et puis veuillez donc y luego ahora favor e poi ora então agora и пожалуйста")
	modals = set("must should shall will to can may need")
	reader = set(strings.ReplaceAll(readers, "|", " ") + " you reader readers")
)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		m[word] = true
	}
	return m
}

// telling are words after which a verb tells what somebody does, and commands nothing.
var telling = set("not never we they i he she it which that who could would might may did does cannot")

// commands says whether a verb at words[at] tells somebody what to do: at the
// beginning, behind a sign, or with the reader for its subject. Anywhere: also behind any other word but those with which it tells.
func commands(words []string, starts []bool, at int, anywhere bool) bool {
	if at == 0 {
		return true
	}
	previous := words[at-1]
	if !modals[previous] {
		return starts[at] || commanding[previous] || anywhere && !telling[previous]
	}
	for k := at - 2; k >= max(0, at-5) && words[k] != "." && words[k] != ","; k-- {
		if reader[words[k]] {
			return true
		}
	}
	return false
}
