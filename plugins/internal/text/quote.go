package text

import (
	"strings"
	"unicode/utf8"
)

// maxQuoteBytes bounds a quote: enough for a long line of a log, little
// enough that many quotes fit an artifact.
const maxQuoteBytes = 300

// QuoteAround returns the line of document in which [start, end) begins, word
// for word, without the blanks around it. Of a line that is longer than 300
// bytes it returns a part around start, cut between characters.
func QuoteAround(document string, start, end int) string {
	from := strings.LastIndexByte(document[:start], '\n') + 1
	to := len(document)
	if i := strings.IndexByte(document[start:], '\n'); i >= 0 {
		to = start + i
	}
	if to-from > maxQuoteBytes {
		end = min(end, to)
		margin := max(0, (maxQuoteBytes-(end-start))/2)
		from = max(from, start-margin)
		to = min(to, from+maxQuoteBytes)
		for from < start && !utf8.RuneStart(document[from]) {
			from++
		}
		for to > from && to < len(document) && !utf8.RuneStart(document[to]) {
			to--
		}
	}
	return strings.TrimSpace(document[from:to])
}
