package publish

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// ItemAction is what is done with an item.
type ItemAction string

// The actions.
const (
	ItemSet    ItemAction = "set"    // nobody has decided yet
	ItemUpdate ItemAction = "update" // this program wrote another answer before
	ItemKeep   ItemAction = "keep"   // it is there already
	itemLeave  ItemAction = "leave"  // Why says why
	ItemFailed ItemAction = "failed" // Err says why
)

// ItemStep is what is done with one item, or would be.
type ItemStep struct {
	ID string // of the case
	// Name of the item; empty where it was not read.
	Name       string
	Type       string // the defect type to set; empty for none
	Confidence float64
	Action     ItemAction
	Why        string
	Err        error
	// Written says that it was written.
	Written bool

	item    int64
	comment string
}

func (s *ItemStep) fail(err error) { s.Action, s.Err = ItemFailed, err }

// Plan reads the items of results, and says for each what is to be done, and why not. An item that can't be read is a step that failed; only
// where the project itself can't be read there is no plan.
func (p *Project) Plan(ctx context.Context, rule ItemRule, results []trial.Result) ([]ItemStep, error) {
	names, err := p.types(ctx)
	if err != nil {
		return nil, err
	}
	var steps []ItemStep
	var failures failureCount
	for i := range results {
		r := &results[i]
		f := rule.finding(r)
		if _, known := names[f.label]; f.whyNot == "" && !known {
			f.whyNot = "the project has no defect type " + f.label
		}
		for _, id := range append([]string{r.ID}, r.Members...) {
			s := ItemStep{ID: id, Type: f.label, Confidence: f.confidence, Action: itemLeave, Why: f.whyNot}
			number, ok := itemID(id)
			switch {
			case f.whyNot != "":
			case !ok:
				s.Why = "its id is not the number of an item"
			default:
				s.item, s.comment = number, itemComment(r, &f, names)
				p.look(ctx, &s, &failures)
			}
			steps = append(steps, s)
		}
	}
	return steps, nil
}

// look reads the item of a step, and decides what is to be done.
func (p *Project) look(ctx context.Context, s *ItemStep, failures *failureCount) {
	if err := failures.stopped(ctx); err != nil {
		s.fail(err)
		return
	}
	i, err := p.read(ctx, s.item)
	if failures.count(err); err != nil {
		s.fail(err)
		return
	}
	s.Name = sanitize.Cut(i.Name, maxItemName)
	switch s.Why = i.taken(); {
	case s.Why != "":
		s.Action = itemLeave
	case i.Issue.Type == toInvestigate:
		s.Action = ItemSet
	case i.Issue.Type == s.Type && plain(i.Issue.Comment) == s.comment:
		s.Action = ItemKeep
	default:
		s.Action = ItemUpdate
	}
}

// Write carries out a plan. It reads each item again before it writes, since somebody may have decided meanwhile, and goes on behind a failure.
// ReportPortal has no conditional writes: a decision between that reading and the writing, some milliseconds, is lost.
func (p *Project) Write(ctx context.Context, steps []ItemStep) {
	var failures failureCount
	for i := range steps {
		s := &steps[i]
		if s.Action != ItemSet && s.Action != ItemUpdate {
			continue
		}
		if p.look(ctx, s, &failures); s.Action != ItemSet && s.Action != ItemUpdate {
			continue
		}
		err := p.define(ctx, s.item, s.Type, s.comment)
		if failures.count(err); err != nil {
			s.fail(err)
		}
		s.Written = err == nil
	}
}

// Bound is the confidence from which on answers are written.
type Bound struct {
	From float64
	// Words say in a sentence where it comes from.
	Words string
}

// ItemRule says which answers are written; nil stands for none of that kind.
type ItemRule struct {
	// Court is about answers that were affirmed or amended, by their final confidence; Light about those that stand without a trial.
	Court, Light *Bound
}

// locator is how ReportPortal names a defect type that a court may set.
var locator = regexp.MustCompile(`^(pb|ab|si|nd)(\d{3}|_[0-9A-Za-z]{1,64})$`)

// itemFinding is what a result says of its items, or why nothing of it is written.
type itemFinding struct {
	label      string
	confidence float64
	bound      *Bound
	whyNot     string
}

func (rule ItemRule) finding(r *trial.Result) itemFinding {
	f := itemFinding{label: r.Final.Classification, confidence: r.Final.Confidence}
	who := "the court's answers"
	switch r.Final.Status {
	case trial.Affirmed, trial.Amended:
		f.bound = rule.Court
	case trial.Accepted, trial.Unreviewed:
		who, f.bound = "answers without a trial", rule.Light
	default: // a status of another version, too
		f.label, f.whyNot = "", "undecided: "+string(r.Final.Status)
		return f
	}
	switch {
	case !locator.MatchString(f.label):
		f.whyNot = "not a defect type of ReportPortal: " + strconv.Quote(f.label)
	case f.bound == nil:
		f.whyNot = "no threshold is certified for " + who
	case f.confidence < f.bound.From:
		f.whyNot = "below the threshold " + strconv.FormatFloat(f.bound.From, 'f', -1, 64)
	}
	return f
}

// itemID reads the id of a case as that of an item: digits. A docket marks the second case of one id with a sign behind it, and an item without
// a number has a UUID.
func itemID(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == id
}

// toInvestigate is the defect type of what nobody has decided. A project's own ones of this kind are decisions.
const toInvestigate = "ti001"

// item is what is read of a test item.
type item struct {
	ID          int64      `json:"id"`
	Name        string     `json:"name"`
	Status      string     `json:"status"`
	HasChildren bool       `json:"hasChildren"`
	Issue       *itemIssue `json:"issue"`
}

// itemIssue is the defect of an item.
type itemIssue struct {
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

// Project is a project of a ReportPortal server. It gets what the court found: the defect type of a test item, with a comment. Nobody's decision is
// written over, and nothing twice.
type Project struct {
	api  *api
	name string
}

var projectName = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_.-]{0,255}$`)

// NewProject is the project of a name, such as team_personal.
func NewProject(s *Server, name string) (*Project, error) {
	if !projectName.MatchString(name) {
		return nil, fmt.Errorf("%q is not the name of a project: it has letters, digits, dots, _ and -", sanitize.Line(name))
	}
	return &Project{newAPI(s), name}, nil
}

func (p *Project) path(rest ...string) []string { return append([]string{"v1", p.name}, rest...) }

// types are the defect types of the project that a court may set, with their names.
func (p *Project) types(ctx context.Context) (map[string]string, error) {
	var settings struct {
		SubTypes map[string][]struct {
			Locator string `json:"locator"`
			Name    string `json:"longName"`
		} `json:"subTypes"`
	}
	if err := p.api.call(ctx, apiRequest{Method: http.MethodGet, Path: p.path("settings")}, &settings); err != nil {
		return nil, fmt.Errorf("read the project's defect types: %w", err)
	}
	const most = 500
	names := map[string]string{}
	for _, list := range settings.SubTypes {
		for _, t := range list {
			if locator.MatchString(t.Locator) && len(names) < most {
				names[t.Locator] = sanitize.Line(sanitize.Cut(t.Name, maxItemName))
			}
		}
	}
	return names, nil
}

// read reads an item.
func (p *Project) read(ctx context.Context, id int64) (*item, error) {
	var i item
	if err := p.api.call(ctx, apiRequest{Method: http.MethodGet, Path: p.path("item", strconv.FormatInt(id, 10))}, &i); err != nil {
		return nil, err
	}
	if i.Status = sanitize.Cut(i.Status, maxItemName); i.Issue != nil {
		i.Issue.Type = sanitize.Cut(i.Issue.Type, maxItemName)
	}
	if i.ID != id {
		return nil, fmt.Errorf("read item %d: the server answered with item %d", id, i.ID)
	}
	return &i, nil
}

type definition struct {
	ID    int64      `json:"testItemId"`
	Issue *itemIssue `json:"issue"`
}

// define writes the defect of an item. It is marked as set by a machine, so that nobody takes it for a person's decision.
func (p *Project) define(ctx context.Context, id int64, issueType, comment string) error {
	send := map[string][]definition{"issues": {{id, &itemIssue{Type: issueType, Comment: comment, AutoAnalyzed: true}}}}
	var written []itemIssue
	if err := p.api.call(ctx, apiRequest{Method: http.MethodPut, Path: p.path("item"), Send: send}, &written); err != nil {
		return err
	}
	if len(written) != 1 || written[0].Type != issueType {
		return fmt.Errorf("write item %d: the server answered without the defect type that was sent", id)
	}
	return nil
}
