package gotest

import (
	"strconv"
	"strings"
)

// The most of one log that is kept. What lies between head and tail is cut, and a line says how many bytes were.
const (
	DefaultHeadBytes = 256 << 10
	DefaultTailBytes = 256 << 10
)

// clip is a log of which the head and the tail are kept. It holds at most head + 2 tail bytes, and less while the log is
// short.
type clip struct {
	maxHead, maxTail int
	head, tail       []byte
	dropped          int
}

func (c *clip) write(text string) {
	if room := c.maxHead - len(c.head); room > 0 && c.dropped == 0 && len(c.tail) == 0 {
		n := min(room, len(text))
		c.head = append(c.head, text[:n]...)
		text = text[n:]
	}
	for len(text) > 0 {
		n := min(len(text), max(1, c.maxTail))
		c.tail = append(c.tail, text[:n]...)
		text = text[n:]
		if over := len(c.tail) - c.maxTail; over >= max(1, c.maxTail) {
			c.drop(over)
		}
	}
}

func (c *clip) drop(n int) {
	c.dropped += n
	c.tail = c.tail[:copy(c.tail, c.tail[n:])]
}

// text is the log as far as it was kept, as valid UTF-8. Where something was cut, whole lines are, if head and tail have
// line breaks.
func (c *clip) text() string {
	if over := len(c.tail) - c.maxTail; over > 0 {
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
