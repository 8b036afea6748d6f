package junit_test

import (
	"encoding/xml"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// FuzzRead holds that every case is one that the contract allows, that every excerpt stands in its document, and that
// what the standard library rejects is rejected here, but for characters that become U+FFFD.
func FuzzRead(f *testing.F) {
	for _, name := range reports(f) {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data), 300)
	}
	f.Add("<testsuite><testcase name='\xff'><failure>&#x1b;<!-- > --><![CDATA[]]]]></failure></testcase></testsuite>", 1)
	f.Fuzz(func(t *testing.T, report string, keep int) {
		keep = 1 + (keep&0xffff)%4096
		reader := junit.Reader{HeadBytes: keep, TailBytes: keep}
		seen := map[string]bool{}
		rejected := false
		for entry, err := range reader.Read("report.xml", strings.NewReader(report)) {
			if rejected {
				t.Fatal("something follows an error")
			}
			if err != nil {
				rejected = true
				continue
			}
			if seen[entry.Case.ID] {
				t.Errorf("case id %q was given before", entry.Case.ID)
			}
			seen[entry.Case.ID] = true
			readers.Check(t, &entry.Case)
		}
		if !rejected && utf8.ValidString(report) && strings.Contains(report, "<") && wellFormed(report) != nil {
			if syntax := wellFormed(report).Error(); !strings.Contains(syntax, "illegal character code") {
				t.Errorf("taken though %s", syntax)
			}
		}
	})
}

func wellFormed(report string) error {
	decoder := xml.NewDecoder(strings.NewReader(report))
	for {
		switch _, err := decoder.Token(); {
		case err == nil:
		case err.Error() == "EOF" || strings.Contains(err.Error(), "encoding"):
			return nil
		default:
			return err
		}
	}
}
