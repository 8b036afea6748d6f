package text

import "strings"

// InLine shows characters that end a line as ␊, so that no text of a case begins a line of its own in a sentence, an account or a list.
func InLine(s string) string { return lineEnds.Replace(s) }

var lineEnds = strings.NewReplacer("\r\n", "␊", "\n", "␊", "\r", "␊", "\v", "␊", "\f", "␊", "\u0085", "␊", "\u2028", "␊", "\u2029", "␊")
