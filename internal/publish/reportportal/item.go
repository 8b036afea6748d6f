package reportportal

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// toInvestigate is the defect type of what nobody has decided. A project's own ones of this kind are decisions.
const toInvestigate = "ti001"

// item is what is read of a test item.
type item struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	HasChildren bool   `json:"hasChildren"`
	Issue       *issue `json:"issue"`
}

// issue is the defect of an item.
type issue struct {
	Type           string            `json:"issueType"`
	Comment        string            `json:"comment,omitempty"`
	AutoAnalyzed   bool              `json:"autoAnalyzed"`
	IgnoreAnalyzer bool              `json:"ignoreAnalyzer"`
	Tickets        []json.RawMessage `json:"externalSystemIssues,omitempty"`
}

// taken says why an item is left as it is; empty where its defect may be written.
func (i *item) taken() string {
	switch {
	case i.Status != "FAILED" && i.Status != "INTERRUPTED":
		return "its status is " + i.Status
	case i.HasChildren:
		return "it has items below it"
	case i.Issue == nil || i.Issue.Type == "":
		return "it has no defect"
	case i.Issue.IgnoreAnalyzer:
		return "somebody keeps it from analysis"
	case len(i.Issue.Tickets) > 0:
		return "somebody linked a ticket"
	}
	switch owner := ownerOf(i.Issue.Type, i.Issue.Comment); {
	case owner == changed:
		return "somebody changed what was written: " + i.Issue.Type
	case owner == ours && !i.Issue.AutoAnalyzed:
		return "somebody confirmed what was written: " + i.Issue.Type
	case owner == ours:
		return ""
	case i.Issue.AutoAnalyzed:
		return "ReportPortal's analyzer decided: " + i.Issue.Type
	case i.Issue.Type != toInvestigate:
		return "somebody decided: " + i.Issue.Type
	case i.Issue.Comment != "":
		return "somebody commented on it"
	}
	return ""
}

// Project is a project of a ReportPortal server.
type Project struct {
	API  *publish.API
	Name string
}

var projectName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_.-]{0,255}$`)

// NewProject is the project of a name, such as team_personal.
func NewProject(api *publish.API, name string) (*Project, error) {
	if !projectName.MatchString(name) {
		return nil, fmt.Errorf("%q is not the name of a project: it has letters, digits, dots, _ and -", sanitize.Line(name))
	}
	return &Project{api, name}, nil
}

func (p *Project) path(rest ...string) []string { return append([]string{"v1", p.Name}, rest...) }

// types are the defect types of the project that a court may set, with their names.
func (p *Project) types(ctx context.Context) (map[string]string, error) {
	var settings struct {
		SubTypes map[string][]struct {
			Locator string `json:"locator"`
			Name    string `json:"longName"`
		} `json:"subTypes"`
	}
	if err := p.API.Call(ctx, publish.Request{Method: http.MethodGet, Path: p.path("settings")}, &settings); err != nil {
		return nil, fmt.Errorf("read the project's defect types: %w", err)
	}
	const most = 500
	names := map[string]string{}
	for _, list := range settings.SubTypes {
		for _, t := range list {
			if locator.MatchString(t.Locator) && len(names) < most {
				names[t.Locator] = sanitize.Line(sanitize.Cut(t.Name, maxName))
			}
		}
	}
	return names, nil
}

// read reads an item.
func (p *Project) read(ctx context.Context, id int64) (*item, error) {
	var i item
	if err := p.API.Call(ctx, publish.Request{Method: http.MethodGet, Path: p.path("item", strconv.FormatInt(id, 10))}, &i); err != nil {
		return nil, err
	}
	if i.Status = sanitize.Cut(i.Status, maxName); i.Issue != nil {
		i.Issue.Type = sanitize.Cut(i.Issue.Type, maxName)
	}
	if i.ID != id {
		return nil, fmt.Errorf("read item %d: the server answered with item %d", id, i.ID)
	}
	return &i, nil
}

type definition struct {
	ID    int64  `json:"testItemId"`
	Issue *issue `json:"issue"`
}

// define writes the defect of an item. It is marked as set by a machine, so that nobody takes it for a person's decision.
func (p *Project) define(ctx context.Context, id int64, issueType, comment string) error {
	send := map[string][]definition{"issues": {{id, &issue{Type: issueType, Comment: comment, AutoAnalyzed: true}}}}
	var written []issue
	if err := p.API.Call(ctx, publish.Request{Method: http.MethodPut, Path: p.path("item"), Send: send}, &written); err != nil {
		return err
	}
	if len(written) != 1 || written[0].Type != issueType {
		return fmt.Errorf("write item %d: the server answered without the defect type that was sent", id)
	}
	return nil
}
