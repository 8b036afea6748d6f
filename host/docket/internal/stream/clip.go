package stream

import (
	"strconv"
	"strings"
)

// The most of one log that is kept. What lies between head and tail is cut, and a line says how many bytes were.
const (
	DefaultHeadBytes = 256 << 10
	DefaultTailBytes = 256 << 10
)

// Clip is a log of which the head and the tail are kept. It holds at most head + 2 tail bytes, and less while the log is
// short. Not safe for concurrent use.
type Clip struct {
	// MaxHead and MaxTail are the most bytes that are kept.
	MaxHead, MaxTail int

	head, tail []byte
	dropped    int
}

// NewClip makes an empty log; a size of 0 or less is the default.
func NewClip(head, tail int) Clip {
	if head <= 0 {
		head = DefaultHeadBytes
	}
	if tail <= 0 {
		tail = DefaultTailBytes
	}
	return Clip{MaxHead: head, MaxTail: tail}
}

// Empty says whether nothing was written.
func (c *Clip) Empty() bool { return len(c.head) == 0 && len(c.tail) == 0 }

// Write appends to the log.
func (c *Clip) Write(text string) {
	if room := c.MaxHead - len(c.head); room > 0 && c.dropped == 0 && len(c.tail) == 0 {
		n := min(room, len(text))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
	}
	if over := len(text) - c.MaxTail; over >= max(1, c.MaxTail) { // nothing but its end can stay
		c.dropped += len(c.tail) + over
		c.tail = append(c.tail[:0], text[over:]...)
		return
	}
	c.tail = append(c.tail, text...)
	if over := len(c.tail) - c.MaxTail; over >= max(1, c.MaxTail) {
		c.drop(over)
	}
}

func (c *Clip) drop(n int) {
	c.dropped += n
	c.tail = c.tail[:copy(c.tail, c.tail[n:])]
}

// Text is the log as far as it was kept, as valid UTF-8. Where something was cut, whole lines are, if head and tail have
// line breaks.
func (c *Clip) Text() string {
	if over := len(c.tail) - c.MaxTail; over > 0 {
		c.drop(over)
	}
	if c.dropped == 0 {
		return strings.ToValidUTF8(string(c.head)+string(c.tail), "\uFFFD")
	}
	head, tail, dropped := string(c.head), string(c.tail), c.dropped
	if i := strings.LastIndexByte(head, '\n'); i >= 0 {
		dropped += len(head) - i - 1
		head = head[:i+1]
	} else if head != "" {
		head += "\n"
	}
	if i := strings.IndexByte(tail, '\n'); i >= 0 && i < len(tail)-1 {
		dropped += i + 1
		tail = tail[i+1:]
	}
	mark := "[... " + strconv.Itoa(dropped) + " bytes cut here ...]\n"
	return strings.ToValidUTF8(head, "\uFFFD") + mark + strings.ToValidUTF8(tail, "\uFFFD")
}
