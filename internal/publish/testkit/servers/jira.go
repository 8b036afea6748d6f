package servers

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Jira has the project CART. Descriptions and comments are kept as the JSON of their documents.
type Jira struct {
	Server

	mu     sync.Mutex
	issues []*Issue
}

// NewJira begins a server. authorization is the whole header.
func NewJira(t testing.TB, authorization string) *Jira {
	t.Helper()
	j := &Jira{}
	j.serve(t, "jira.json", "", authorization, []string{"/rest/api/3/search/jql"},
		func(r *http.Request, path string, body []byte) reply { return j.answer(t, r, path, body) })
	return j
}

// Issues are copies of all issues.
func (j *Jira) Issues() (all []Issue) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, i := range j.issues {
		all = append(all, *i)
	}
	return all
}

// Change changes an issue, as a person does.
func (j *Jira) Change(number int, by func(*Issue)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	by(j.issues[number-1])
}

func (j *Jira) answer(t testing.TB, r *http.Request, path string, body []byte) reply {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch rest := strings.TrimPrefix(path, "/rest/api/3/"); {
	case rest == "search/jql":
		return j.search(t, body)
	case rest == "issue":
		return j.create(t, body)
	case strings.HasPrefix(rest, "issue/CART-"):
		number, of, _ := strings.Cut(strings.TrimPrefix(rest, "issue/CART-"), "/")
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > len(j.issues) {
			break
		}
		return j.one(t, r, j.issues[n-1], of, body)
	}
	return fault(http.StatusNotFound, "Issue does not exist or you do not have permission to see it.")
}

// search gives one issue a page.
func (j *Jira) search(t testing.TB, body []byte) reply {
	t.Helper()
	var in struct {
		JQL  string `json:"jql"`
		Next string `json:"nextPageToken"`
	}
	decode(t, body, &in)
	if !strings.HasPrefix(in.JQL, `project = "CART" AND labels IN ("sc-`) {
		t.Errorf("the search is %s", in.JQL)
	}
	skip, _ := strconv.Atoi(in.Next)
	page := object{"issues": []object{}, "isLast": true}
	for n, i := range j.issues {
		if n < skip || !slices.ContainsFunc(i.Labels, func(l string) bool { return strings.Contains(in.JQL, strconv.Quote(l)) }) {
			continue
		}
		page["issues"] = []object{j.issue(i)}
		if n+1 < len(j.issues) {
			page["nextPageToken"], page["isLast"] = strconv.Itoa(n+1), false
		}
		break
	}
	return answer(http.StatusOK, page)
}

func (j *Jira) create(t testing.TB, body []byte) reply {
	t.Helper()
	var in struct {
		Fields struct {
			Project     object            `json:"project"`
			Kind        object            `json:"issuetype"`
			Summary     string            `json:"summary"`
			Description json.RawMessage   `json:"description"`
			Labels      []string          `json:"labels"`
			Assignee    map[string]string `json:"assignee"`
		} `json:"fields"`
	}
	decode(t, body, &in)
	f := &in.Fields
	if f.Project["key"] != "CART" || f.Kind["name"] == "" || f.Summary == "" || len(f.Summary) > 255 || strings.ContainsAny(f.Summary, "\n\r") {
		t.Errorf("the fields of a new issue are %+v", in)
	}
	checkDocument(t, f.Description)
	i := &Issue{Number: len(j.issues) + 1, Title: f.Summary, Body: string(f.Description), State: "open", Labels: f.Labels}
	if account := f.Assignee["accountId"]; account != "" {
		i.Assignees = []string{account}
	}
	j.issues = append(j.issues, i)
	return answer(http.StatusCreated, object{"id": strconv.Itoa(i.Number), "key": "CART-" + strconv.Itoa(i.Number)})
}

func (j *Jira) one(t testing.TB, r *http.Request, i *Issue, of string, body []byte) reply {
	t.Helper()
	write := r.Method == http.MethodPost
	switch {
	case of == "":
		return answer(http.StatusOK, j.issue(i))
	case of == "transitions" && !write:
		to := func(id, category string) object {
			return object{"id": id, "name": "n", "to": object{"name": category, "statusCategory": object{"key": category}}}
		}
		return answer(http.StatusOK, object{"transitions": []object{to("31", "done"), to("21", "indeterminate"), to("11", "new")}})
	case of == "transitions":
		var in struct {
			Transition map[string]string `json:"transition"`
		}
		decode(t, body, &in)
		if in.Transition["id"] != "11" {
			t.Errorf("the transition is %v", in.Transition)
		}
		i.State, i.Reason = "open", ""
		return reply{status: http.StatusNoContent}
	case of == "comment" && write:
		var in struct {
			Body json.RawMessage `json:"body"`
		}
		decode(t, body, &in)
		checkDocument(t, in.Body)
		i.Comments = append(i.Comments, string(in.Body))
		return answer(http.StatusCreated, object{"id": "1", "body": in.Body})
	case of == "comment":
		at, _ := strconv.Atoi(r.URL.Query().Get("startAt"))
		list := []object{}
		for n := at; n < len(i.Comments) && n < at+2; n++ { // two a page
			list = append(list, object{"id": strconv.Itoa(n), "body": json.RawMessage(i.Comments[n])})
		}
		return answer(http.StatusOK, object{"comments": list, "startAt": at, "total": len(i.Comments), "maxResults": 2})
	}
	return fault(http.StatusNotFound, "null for uri")
}

func (j *Jira) issue(i *Issue) object {
	status := object{"name": "To Do", "statusCategory": object{"key": "new"}}
	var resolution any
	if i.State == "closed" {
		status = object{"name": "Closed", "statusCategory": object{"key": "done"}}
		resolution = object{"name": i.Reason}
	}
	return object{"id": strconv.Itoa(i.Number), "key": "CART-" + strconv.Itoa(i.Number), "fields": object{
		"labels": i.Labels, "status": status, "resolution": resolution, "description": json.RawMessage(i.Body),
	}}
}

// document is a node of the Atlassian Document Format.
type document struct {
	Type    string     `json:"type"`
	Version int        `json:"version"`
	Text    string     `json:"text"`
	Marks   []document `json:"marks"`
	Content []document `json:"content"`
}

// checkDocument checks the few kinds of nodes that may be in a document: texts are not empty, and there is no mention, picture or card.
func checkDocument(t testing.TB, data []byte) {
	t.Helper()
	var d document
	decode(t, data, &d)
	if d.Type != "doc" || d.Version != 1 {
		t.Errorf("not a document: %s", data)
	}
	may := map[string][]string{"doc": {"paragraph", "codeBlock"}, "paragraph": {"text"}, "codeBlock": {"text"}, "text": nil}
	var check func(d *document)
	check = func(d *document) {
		if (d.Type == "text") != (d.Text != "") {
			t.Errorf("a text is empty, or no text: %+v", d)
		}
		for _, m := range d.Marks {
			if !slices.Contains([]string{"strong", "code", "link"}, m.Type) {
				t.Errorf("a mark %q", m.Type)
			}
		}
		for i := range d.Content {
			if !slices.Contains(may[d.Type], d.Content[i].Type) {
				t.Errorf("a %q in a %q", d.Content[i].Type, d.Type)
			}
			check(&d.Content[i])
		}
	}
	check(&d)
}
