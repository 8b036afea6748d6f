package main

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

func traced(t *testing.T, documents ...abi.Document) *abi.Discovery {
	t.Helper()
	a, failure := collect(&abi.NodeRequest{Family: abi.FamilyCollect, Case: abi.CaseView{Documents: documents}})
	if failure != nil {
		t.Fatal(failure)
	}
	return a.Discovery
}

func TestEachClaimGetsItsLine(t *testing.T) {
	t.Parallel()
	log := "12:00 write failed\n  12:01 quota exceeded for volume data-7 \n12:02 service restarted by the operator\n"
	d := traced(t,
		abi.Document{Name: "opinion", Text: "The log says \"quota exceeded\". The operator restarted the service at noon. Martians were seen near the building."},
		abi.Document{Name: "log", Text: log})
	if len(d.Findings) != 2 || len(d.Missing) != 1 || !strings.Contains(d.Missing[0], "Martians") {
		t.Fatalf("%+v", d)
	}
	for i, want := range []string{"12:01 quota exceeded for volume data-7", "12:02 service restarted by the operator"} {
		if f := d.Findings[i]; f.Quote != want || f.Document != "log" || f.Strength <= 0 || f.Strength > 1 || !strings.Contains(log, f.Quote) {
			t.Errorf("%+v", f)
		}
	}
	if d := traced(t, abi.Document{Name: "log", Text: log}); len(d.Missing) != 1 {
		t.Errorf("without an opinion: %+v", d)
	}
}

const depot = "06:00 start\n  06:10 belt 4 stopped: 1250 parcels waiting\nscanner north restarted\nwith 64 lanes\n\n06:40 belt 4 running again, delay 0.75 s\n"

// quotesOf are the quotes of a discovery in the depot's log, and what it misses.
func quotesOf(t *testing.T, opinion string) (quotes, missing []string) {
	t.Helper()
	d := traced(t, abi.Document{Name: "opinion", Text: opinion}, abi.Document{Name: "depot.log", Text: depot})
	for _, f := range d.Findings {
		quotes = append(quotes, f.Quote)
		if !strings.Contains(depot, f.Quote) {
			quotes = append(quotes, "MADE UP")
		}
	}
	return quotes, d.Missing
}

func TestEachQuotationIsFoundByItself(t *testing.T) {
	t.Parallel()
	quotes, missing := quotesOf(t, `It says "BELT 4 stopped" and then "scanner north restarted with 64", then "running again", and "the roof fell in".`)
	for _, want := range []string{"06:10 belt 4 stopped: 1250 parcels waiting", "scanner north restarted\nwith 64 lanes", "06:40 belt 4 running again, delay 0.75 s"} {
		if !slices.Contains(quotes, want) {
			t.Errorf("%q is not in %q", want, quotes)
		}
	}
	if len(quotes) != 3 || len(missing) != 1 || !strings.Contains(missing[0], "the roof fell in") {
		t.Errorf("%q, missing %q", quotes, missing)
	}
}

func TestLinesThatAreNamedAreFound(t *testing.T) {
	t.Parallel()
	for opinion, want := range map[string]string{
		"Martians came, as depot.log:L2 tells everybody.":           "06:10 belt 4 stopped: 1250 parcels waiting",
		"Line 6 of depot.log is of use to the other party.":         "06:40 belt 4 running again, delay 0.75 s",
		"The lanes came back in the morning (L4).":                  "with 64 lanes",
		"See depot.log, lines 3 and 6, for the whole of the truth.": "scanner north restarted",
	} {
		if quotes, _ := quotesOf(t, opinion); !slices.Contains(quotes, want) {
			t.Errorf("%q: %q", opinion, quotes)
		}
	}
	if quotes, missing := quotesOf(t, "Martians came, as depot.log:L77 and depot.log:L5 tell."); len(quotes) > 0 || len(missing) != 3 {
		t.Errorf("%q, missing %q", quotes, missing)
	}
}

func TestFindingsAreBounded(t *testing.T) {
	t.Parallel()
	var log, opinion strings.Builder
	for i := range 1000 {
		line := "event " + strconv.Itoa(i) + " of that sort happened"
		log.WriteString(line + "\n")
		opinion.WriteString("The log says \"" + line + "\" as depot:L" + strconv.Itoa(i) + " tells. ")
	}
	d := traced(t, abi.Document{Name: "opinion", Text: opinion.String()}, abi.Document{Name: "depot", Text: log.String()})
	if len(d.Findings) != maxFindings || len(d.Missing) > maxMissing {
		t.Fatalf("%d findings, %d missing", len(d.Findings), len(d.Missing))
	}
	for i := range reading.MaxQuotations { // all that judges look up are there
		if !slices.ContainsFunc(d.Findings, func(f abi.Finding) bool { return f.Quote == "event "+strconv.Itoa(i)+" of that sort happened" }) {
			t.Errorf("quotation %d is not there", i)
		}
	}
}

func TestALongLineIsQuotedWhereTheQuotationStands(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("x ", 400) + "the needle is here" + strings.Repeat(" y", 400)
	d := traced(t, abi.Document{Name: "opinion", Text: `It says "The needle is here".`}, abi.Document{Name: "log", Text: log})
	if len(d.Findings) != 1 || !strings.Contains(d.Findings[0].Quote, "the needle is here") || len(d.Findings[0].Quote) > maxQuoteBytes {
		t.Errorf("%+v", d)
	}
}
