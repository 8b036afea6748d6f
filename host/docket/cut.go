package docket

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// CutDocument shortens text to at most limit bytes: the first part stays, the last part stays, and between them a line
// says how many bytes were cut. It cuts at line breaks where one is near, and never inside a character. A text within the
// limit comes back as it is. A limit below 128 counts as 128.
func CutDocument(text string, limit int) string {
	limit = max(limit, 128)
	if len(text) <= limit {
		return text
	}
	const markBytes = 64 // the longest mark, line breaks included
	room := limit - markBytes
	head := headEnd(text, room/2)
	tail := tailStart(text, len(text)-(room-room/2))
	return text[:head] + "\n[... " + strconv.Itoa(tail-head) + " bytes cut here ...]\n" + text[tail:]
}

// CutDocuments cuts the documents of a case in place, so that none has more than each bytes and all together have at
// most total. When they are too much together, the longest give first.
func CutDocuments(documents []abi.Document, each, total int) {
	lengths := make([]int, 0, len(documents))
	for _, d := range documents {
		lengths = append(lengths, min(len(d.Text), each))
	}
	each = min(each, fairShare(lengths, total))
	for i := range documents {
		documents[i].Text = CutDocument(documents[i].Text, each)
	}
}

// fairShare is the largest bound that keeps the sum of all lengths, each held to the bound, within total.
func fairShare(lengths []int, total int) int {
	slices.Sort(lengths)
	for i, n := range lengths {
		left := len(lengths) - i
		if n > total/left {
			return total / left
		}
		total -= n
	}
	return math.MaxInt
}

// headEnd is where the head ends: at a line break in its last eighth, or else at a character's end.
func headEnd(text string, end int) int {
	if i := strings.LastIndexByte(text[end-end/8:end], '\n'); i >= 0 {
		return end - end/8 + i
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return end
}

func tailStart(text string, start int) int {
	if i := strings.IndexByte(text[start:start+(len(text)-start)/8], '\n'); i >= 0 {
		return start + i + 1
	}
	for start < len(text) && !utf8.RuneStart(text[start]) {
		start++
	}
	return start
}
