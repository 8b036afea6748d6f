package servers

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Defect is the issue of a test item.
type Defect struct {
	Type           string           `json:"issueType"`
	Comment        string           `json:"comment,omitempty"`
	AutoAnalyzed   bool             `json:"autoAnalyzed"`
	IgnoreAnalyzer bool             `json:"ignoreAnalyzer"`
	Tickets        []map[string]any `json:"externalSystemIssues,omitempty"`
}

// ReportPortal has the project cart.
type ReportPortal struct {
	Server

	mu    sync.Mutex
	items map[int64]*Defect
}

// NewReportPortal begins a server with items that failed, for a token.
func NewReportPortal(t testing.TB, token string, items map[int64]*Defect) *ReportPortal {
	t.Helper()
	p := &ReportPortal{items: items}
	p.serve(t, "reportportal.json", "/api", "Bearer "+token,
		func(r *http.Request, path string, body []byte) reply { return p.answer(t, r, path, body) })
	return p
}

// Item is the defect of an item.
func (p *ReportPortal) Item(id int64) Defect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.items[id]
}

// Decide sets the defect of an item, as a person does.
func (p *ReportPortal) Decide(id int64, d Defect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items[id] = &d
}

func (p *ReportPortal) answer(t testing.TB, r *http.Request, path string, body []byte) reply {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case path == "/v1/cart/settings":
		sub := func(locator, group, name string) object {
			return object{"id": 1, "locator": locator, "typeRef": group, "longName": name}
		}
		return answer(http.StatusOK, object{"project": 1, "subTypes": object{
			"PRODUCT_BUG":    []object{sub("pb001", "PRODUCT_BUG", "Product Bug"), sub("pb_1h7", "PRODUCT_BUG", "Rounding")},
			"AUTOMATION_BUG": []object{sub("ab001", "AUTOMATION_BUG", "Automation Bug")},
			"SYSTEM_ISSUE":   []object{sub("si001", "SYSTEM_ISSUE", "System Issue")},
			"NO_DEFECT":      []object{sub("nd001", "NO_DEFECT", "No Defect")},
			"TO_INVESTIGATE": []object{sub("ti001", "TO_INVESTIGATE", "To Investigate"), sub("ti_9", "TO_INVESTIGATE", "With the vendor")},
		}})
	case r.Method == http.MethodPut:
		var in struct {
			Issues []struct {
				ID    int64  `json:"testItemId"`
				Issue Defect `json:"issue"`
			} `json:"issues"`
		}
		decode(t, body, &in)
		written := []Defect{}
		for i := range in.Issues {
			d := in.Issues[i].Issue
			d.Comment = strings.TrimSpace(d.Comment) // as the server does
			p.items[in.Issues[i].ID] = &d
			written = append(written, d)
		}
		return answer(http.StatusOK, written)
	}
	id, err := strconv.ParseInt(path[strings.LastIndexByte(path, '/')+1:], 10, 64)
	if d := p.items[id]; err == nil && d != nil {
		return answer(http.StatusOK, object{"id": id, "name": "test " + strconv.FormatInt(id, 10), "status": "FAILED", "type": "STEP", "hasChildren": false, "hasStats": true, "issue": d})
	}
	return fault(http.StatusNotFound, "Test Item not found")
}
