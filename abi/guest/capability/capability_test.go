package capability

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// giving is a host that has one answer, and writes it only where it fits.
func giving(answer []byte, calls *int) hostFunc {
	return func(_, room []byte) int {
		*calls++
		if len(answer) <= len(room) {
			copy(room, answer)
		}
		return len(answer)
	}
}

func TestAskGivesMoreRoomOnce(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		bytes int
		calls int
	}{
		{"nothing", 0, 1}, {"all that fits", answerBytes, 1}, {"one byte more", answerBytes + 1, 2}, {"much", 1 << 20, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			answer := bytes.Repeat([]byte{7}, tc.bytes)
			calls := 0
			got, failure := ask(giving(answer, &calls), nil)
			if failure != nil || !bytes.Equal(got, answer) || calls != tc.calls {
				t.Errorf("%d bytes in %d calls, failure %+v", len(got), calls, failure)
			}
		})
	}
}

func TestAskRejectsALengthThatGrows(t *testing.T) {
	t.Parallel()
	length := answerBytes
	if _, failure := ask(func(_, _ []byte) int { length += 10; return length }, nil); failure == nil || failure.Code != BadAnswer {
		t.Errorf("failure %+v", failure)
	}
	if _, failure := ask(func(_, _ []byte) int { return -1 }, nil); failure == nil {
		t.Error("a negative length is no answer")
	}
}

func TestPriorCases(t *testing.T) {
	t.Parallel()
	calls := 0
	prior := abi.PriorCases{Cases: []abi.PriorCase{{CaseID: "c", Status: "affirmed", Subject: strings.Repeat("x", answerBytes), Seen: 1}}}
	got, failure := priorCases(giving(codec.AppendPriorCases(nil, &prior), &calls), nil)
	if failure != nil || len(got) != 1 || got[0].CaseID != "c" {
		t.Errorf("%d cases, failure %+v", len(got), failure)
	}
	if _, failure := priorCases(giving([]byte{0x90}, &calls), nil); failure == nil || failure.Code != BadAnswer {
		t.Errorf("failure %+v", failure)
	}
}
