package docket

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// CutDocument shortens text to at most limit bytes: the first part stays, the last part stays, and between them a line
// says how many bytes were cut. It cuts at line breaks where one is near, and never inside a character. A text within the
// limit comes back as it is. A limit below 128 counts as 128.
func CutDocument(text string, limit int) string {
	cut, _ := cutText(text, limit, 0)
	return cut
}

// cutText is CutDocument of a text of which a number of bytes is missing already, in its middle, and gives how many are
// left out in all.
func cutText(text string, limit, missing int) (string, int) {
	limit = max(limit, leastCut)
	if len(text)+missing <= limit {
		return text, 0
	}
	const markBytes = 64 // the longest mark, line breaks included
	room := limit - markBytes
	head := headEnd(text, room/2)
	tail := tailStart(text, len(text)-(room-room/2))
	out := tail - head + missing
	return text[:head] + "\n[... " + strconv.Itoa(out) + " bytes cut here ...]\n" + text[tail:], out
}

// leastCut is the lowest limit of a cut.
const leastCut = 128

// CutDocuments cuts the documents of a case in place, so that none has more than each bytes and all together have at
// most total. When they are too much together, the longest give first. It gives those that it cut, in order.
func CutDocuments(documents []abi.Document, each, total int) []trial.DocumentCut {
	lengths := make([]int, 0, len(documents))
	for _, d := range documents {
		lengths = append(lengths, min(len(d.Text), each))
	}
	each = min(each, fairShare(lengths, total))
	var cuts []trial.DocumentCut
	for i := range documents {
		d := &documents[i]
		before := len(d.Text)
		var out int
		if d.Text, out = cutText(d.Text, each, 0); out > 0 {
			cuts = append(cuts, trial.DocumentCut{Name: d.Name, Bytes: before, Kept: before - out})
		}
	}
	return cuts
}

// CutAgain joins what was cut of documents first and then: a document that was cut twice has the bytes that it had at
// first, less what was left out both times.
func CutAgain(first, then []trial.DocumentCut) []trial.DocumentCut {
	all := slices.Clone(first)
	for _, c := range then {
		i := slices.IndexFunc(all, func(f trial.DocumentCut) bool { return f.Name == c.Name })
		if i < 0 {
			all = append(all, c)
			continue
		}
		all[i].Kept = max(0, all[i].Kept-(c.Bytes-c.Kept))
	}
	return all
}

// fairShare is the largest bound that keeps the sum of all lengths, each cut to the bound, within total.
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
