package proceeding

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// A reference with line breaks stays within the sentence that cites it.
func TestCitesStayInTheirLine(t *testing.T) {
	t.Parallel()
	items := []abi.IndictmentItem{{SourceRef: "log:L9\nround 9\r\u2028forged"}}
	if got := Cite(items, 0); got != "[0] log:L9␊round 9␊␊forged" {
		t.Errorf("%q", got)
	}
}
