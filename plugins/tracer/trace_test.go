package main

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestEachClaimGetsItsLine(t *testing.T) {
	t.Parallel()
	log := "12:00 write failed\n  12:01 quota exceeded for volume data-7 \n12:02 service restarted by the operator\n"
	d := trace([]abi.Document{
		{Name: "opinion", Text: "The log says \"quota exceeded\". The operator restarted the service at noon. Martians were seen near the building."},
		{Name: "log", Text: log},
	}, nil)
	if len(d.Findings) != 2 || len(d.Missing) != 1 || !strings.Contains(d.Missing[0], "Martians") {
		t.Fatalf("%+v", d)
	}
	for i, want := range []string{"12:01 quota exceeded for volume data-7", "12:02 service restarted by the operator"} {
		if f := d.Findings[i]; f.Quote != want || f.Document != "log" || f.Strength <= 0 || f.Strength > 1 || !strings.Contains(log, f.Quote) {
			t.Errorf("%+v", f)
		}
	}
	if d := trace([]abi.Document{{Name: "log", Text: log}}, nil); len(d.Missing) != 1 {
		t.Errorf("without an opinion: %+v", d)
	}
}
