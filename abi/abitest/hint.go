package abitest

import (
	"bytes"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// hint says what a response may be that is rejected, and empty if it is nothing
// that authors are known to send.
func hint(call abi.Call, response []byte) string {
	switch text := bytes.TrimLeft(response, " \t\r\n"); {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return "; it begins with `" + string(text[:1]) + "`: is it JSON? §3 asks for MessagePack"
	case len(text) == 0:
		return ""
	}
	if n := swapped(call, response); n > 0 {
		return "; its last " + strconv.Itoa(n) + " bytes are a message: are pointer and length of the result swapped? §2.4 asks for pointer << 32 | length"
	}
	return ""
}

// mostSwapped is the longest message that swapped looks for.
const mostSwapped = 4096

// swapped gives the length of the message at the end of a response, and 0 if
// there is none. Who swaps pointer p and length n returns the p bytes from n on,
// the last n of which are the message.
func swapped(call abi.Call, response []byte) int {
	responses := map[abi.Call]string{
		abi.CallNode: "node_response", abi.CallContest: "contest_response",
		abi.CallEdges: "edge_response", abi.CallJudge: "judge_response",
	}
	t, _ := codec.Lookup(responses[call])
	for n := 2; n <= min(mostSwapped, len(response)-1); n++ {
		end := response[len(response)-n:]
		if end[0]&0xf0 != 0x80 || end[0] == 0x80 {
			continue
		}
		if _, err := t.Canonical(end, 0); err == nil {
			return n
		}
	}
	return 0
}
