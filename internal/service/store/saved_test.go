package store_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// saved reads a file of testdata/370f0b16, whose README says what is in its databases.
func saved(t *testing.T, name string) []byte {
	t.Helper()
	data := must.Get(os.ReadFile(filepath.Join("testdata", "370f0b16", name)))(t)
	if strings.HasSuffix(name, ".gz") {
		r := must.Get(gzip.NewReader(bytes.NewReader(data)))(t)
		data = must.Get(io.ReadAll(r))(t)
	}
	return data
}

func TestAccept_HX8_ASavedSQLiteFile(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "shadowcourt.db")
	must.Do(t, os.WriteFile(name, saved(t, "sqlite.db.gz"), 0o600))
	keepsSaved(t, name, "80081cd1bd2c1671b13e30565b928bc1e8e12199776cb8a08e1ebf0043ec83f3")
}

// keepsSaved opens a saved database, and looks for everything that people and programs put into it. hash is that of the token shop-ci.
func keepsSaved(t *testing.T, database, hash string) {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC) }
	s := must.Get(store.Open(t.Context(), store.Config{Database: database, Now: now}))(t)
	t.Cleanup(s.Close)
	must.Get(s.Migrate(t.Context()))(t)
	must.Do(t, s.CheckSchema(t.Context()))

	dockets := savedDockets(t, s)
	savedCases(t, s)
	savedRecords(t, s)
	savedAlibi(t, s)
	savedCorrections(t, s)
	savedPeople(t, s, hash)
	savedGenerations(t, s)
	savedMessages(t, s)
	savedQueue(t, s, dockets)

	must.Do(t, s.Exec(t.Context(), `INSERT INTO migrations (version, name) VALUES (1000, 'of the future')`))
	var err error
	_, err = s.Migrate(t.Context())
	if err = errors.Join(err, s.CheckSchema(t.Context())); err == nil || strings.Count(err.Error(), "newer version of shadowcourt") != 2 {
		t.Errorf("a database of a newer program: %v", err)
	}
}

// same compares what is there with what must be.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	check.Same(t, cmp.Diff(want, got), what)
}

// savedDockets gives the IDs of the dockets by their names.
func savedDockets(t *testing.T, s *store.Store) map[string]int64 {
	t.Helper()
	list := must.Get(s.Dockets(t.Context(), store.DocketFilter{}))(t)
	ids := map[string]int64{}
	for i := range list {
		d := &list[i]
		ids[d.Name] = d.ID
		want, ended := map[string]store.Docket{
			"nightly":       {Submitter: "shop-ci", Repository: "shop", Revision: "0123456789abcdef0123456789abcdef01234567", Format: "jsonl", State: store.Done, Cases: 4, Tried: 3, Faults: 1},
			"report":        {Submitter: "admin", Repository: "till", Format: "junit", State: store.Done, Cases: 1, Tried: 1},
			"go test ./...": {Submitter: "shop-ci", Repository: "shop", Revision: d.Revision, Format: store.FormatAlibi, State: store.Done, Cases: 2, Tried: 2},
			"canary":        {Submitter: "shop-ci", Repository: "shop", Format: "jsonl", State: store.Done, Cases: 1, Tried: 1, Casebook: 3},
			"cancelled":     {Submitter: "admin", Repository: "till", Format: "jsonl", State: store.Cancelled, Cases: 1, Casebook: 3},
			"waits":         {Submitter: "shop-ci", Repository: "shop", Format: "jsonl", State: d.State, Cases: 2, Casebook: 3},
			"waits too":     {Submitter: "admin", Repository: "till", Format: "junit", State: d.State, Cases: 1, Casebook: 3},
		}[d.Name], !strings.HasPrefix(d.Name, "waits")
		got := store.Docket{
			Submitter: d.Submitter, Repository: d.Repository, Revision: d.Revision, Format: d.Format, State: d.State, Cases: d.Cases, Tried: d.Tried, Faults: d.Faults,
			Casebook: d.Casebook,
		}
		same(t, d.Name, got, want)
		if d.Created.IsZero() || ended == d.Finished.IsZero() || !ended && d.State != store.Queued && d.State != store.Running {
			t.Errorf("%s: %s, from %v to %v", d.Name, d.State, d.Created, d.Finished)
		}
	}
	must.Equal(t, len(ids), 7, "dockets")
	return ids
}

func savedCases(t *testing.T, s *store.Store) {
	t.Helper()
	type row struct {
		id, status, label, truth, corrected, fault string
		members                                    int
	}
	var rows []row
	for docket := int64(1); docket <= 4; docket++ {
		for r, err := range s.Trials(t.Context(), docket, 1) {
			must.Do(t, err)
			rows = append(rows, row{r.CaseID, string(r.Status), r.Label, r.Truth, r.Corrected, r.Fault, r.Members})
			if r.Fault != "" {
				continue
			}
			c, final := &r.Trial.Case, &r.Trial.Result.Final
			if len(c.Documents) == 0 || len(c.Evidence) == 0 || (len(r.Trial.Passes) == 0) != (r.Status == trial.Accepted) || final.Status != r.Status || final.Classification != r.Label {
				t.Errorf("%s lacks documents, evidence, transcript or its result: %+v", r.CaseID, r.Trial)
			}
		}
	}
	if diff := cmp.Diff([]row{
		{id: "go-0213ed9c0d", status: "affirmed", label: "nd001", corrected: "ab001"},
		{id: "go-0687193427", status: "affirmed", label: "si001", truth: "nd001"},
		{id: "go-0877c9cc89", status: "affirmed", label: "pb001"},
		{fault: "nightly:4: is not valid JSON at column 17: the text ends here, and is not complete (not_json)"},
		{id: "till.Sum.cash", status: "affirmed", label: "si001", members: 1},
		{id: "example.com/shop/cart.TestTotal", status: "accepted", label: "caused"},
		{id: "example.com/shop/cart.TestOld", status: "affirmed", label: "preexisting"},
		{id: "after-the-swap", status: "affirmed", label: "nd001"},
	}, rows, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
	long := must.Get(s.Trial(t.Context(), store.TrialID{Docket: 1, Ordinal: 3}))(t)
	if d := long.Trial.Case.Documents; len(d) < 2 || !strings.HasSuffix(d[len(d)-1].Text, "line 119: the server answered with status 200") {
		t.Errorf("the long document: %+v", d)
	}
	box := must.Get(s.Inbox(t.Context(), store.InboxFilter{}))(t)
	if !slices.ContainsFunc(box.Groups, func(g store.Group) bool { return g.Sample.CaseID == "example.com/shop/cart.TestTotal" }) {
		t.Errorf("what is yours is not in the inbox: %+v", box.Groups)
	}
}

// savedRecords verifies the signature of each record.
func savedRecords(t *testing.T, s *store.Store) {
	t.Helper()
	key := must.Get(record.ParseKey(saved(t, "signing.key.pub")))(t)
	count := 0
	for docket := int64(1); docket <= 4; docket++ {
		ids := must.Get(s.Records(t.Context(), docket))(t)
		for _, id := range ids {
			body := must.Get(s.Record(t.Context(), id))(t)
			must.Get(record.Verify(t.Context(), bytes.NewReader(body), key, nil))(t, "record", id, "of docket", docket)
			count++
		}
	}
	check.Equal(t, count, 4, "records")
}

func savedAlibi(t *testing.T, s *store.Store) {
	t.Helper()
	for ordinal, want := range map[int]alibi.Verdict{1: alibi.IsYours, 2: alibi.NotYours} {
		e := must.Get(s.Entry(t.Context(), store.TrialID{Docket: 3, Ordinal: ordinal}))(t)
		if a := e.Alibi; a == nil || a.Verdict != want || a.Why == "" || a.Key == "" || a.Change.Head == "" || (a.Culprit != nil) != (want == alibi.IsYours) {
			t.Errorf("the answer %d: %+v", ordinal, a)
		}
	}
}

func savedCorrections(t *testing.T, s *store.Store) {
	t.Helper()
	list := must.Get(s.Corrections(t.Context(), 0, 0))(t)
	must.Len(t, list, 2)
	undone, stands := list[0], list[1]
	if stands.Label != "ab001" || stands.Author != "reviewer" || !stands.Undone.IsZero() || undone.Label != "si001" || undone.Undone.IsZero() || undone.UndoneBy != "reviewer" {
		t.Errorf("%+v", list)
	}
	revisions := must.Get(s.CasebookLog(t.Context(), 3, "shop"))(t)
	same(t, "the casebook of the shop", revisions, []int64{1})
	_, learned, _, err := s.CasebookRun(t.Context(), 1, "shop")
	must.Do(t, err)
	if len(learned) != 1 || learned[0].Label != "ab001" || learned[0].Case.ID != "go-0213ed9c0d" {
		t.Errorf("the casebook learned %+v", learned)
	}
	known := must.Get(s.KnownLabels(t.Context(), store.EntryFilter{}))(t)
	same(t, "known labels", len(known), 2)
	must.Do(t, s.Recount(t.Context()))
}

func savedPeople(t *testing.T, s *store.Store, hash string) {
	t.Helper()
	ci := must.Get(s.Token(t.Context(), hash))(t)
	same(t, "the token's repositories", ci.Repositories, []string{"shop"})
	list := must.Get(s.Tokens(t.Context()))(t)
	var tokens []string
	for _, token := range list {
		text := strings.Join(append([]string{token.Name, token.Submitter}, token.Scopes...), " ")
		if !token.Revoked.IsZero() {
			text += " revoked"
		}
		if !token.Expires.IsZero() {
			text += " until " + token.Expires.Format("2006")
		}
		tokens = append(tokens, text)
	}
	slices.Sort(tokens)
	same(t, "tokens", tokens, []string{"admin admin operate", "gone gone submit revoked", "made-over-http made-over-http submit", "reviewer people review until 2035", "shop-ci shop-ci submit"})

	actions := must.Get(s.AuditLog(t.Context(), 0, 0))(t)
	var log []string
	for i := range slices.Backward(actions) {
		log = append(log, actions[i].Author+" "+actions[i].Action)
	}
	want := []string{
		"command line token.add", "command line token.add", "command line token.add", "command line token.add", "command line token.revoke", "shop-ci docket.submit", "admin docket.submit",
		"shop-ci docket.submit", "reviewer correction.add", "reviewer correction.add", "reviewer correction.undo", "admin generation.add", "admin generation.activate", "shop-ci docket.submit",
		"admin generation.add", "admin token.add", "admin docket.submit", "admin docket.cancel",
	}
	same(t, "the audit log", log[:len(want)], want)
	same(t, "the lines of the audit log", len(log), 20)
}

// savedGenerations looks for what the operator uploaded. The modules that the program of that time embedded were left out of the files.
func savedGenerations(t *testing.T, s *store.Store) {
	t.Helper()
	list := must.Get(s.Generations(t.Context(), 0, 0))(t)
	must.Equal(t, len(list), 3, "generations")
	current := must.Get(s.CurrentGeneration(t.Context()))(t)
	ours, last, first := list[1], list[0], list[2]
	if current != 2 || ours.ID != 2 || !ours.Current || ours.Parent != 1 || ours.Note != "our profile" || ours.Share != 1 || ours.Author != "admin" || last.Note != "not in force" || len(first.Modules) != 19 {
		t.Errorf("in force is %d: %+v", current, list)
	}
	for _, digest := range []string{ours.Files["profile:gotest"], ours.Canary["specter"], last.Files["pipeline"]} {
		blob := must.Get(s.Blob(t.Context(), digest))(t)
		sum := sha256.Sum256(blob)
		same(t, "a blob", hex.EncodeToString(sum[:]), digest)
	}
	e := must.Get(s.Entry(t.Context(), store.TrialID{Docket: 4, Ordinal: 1}))(t)
	if e.Generation != 2 || e.Beside.Status != trial.Mistrial {
		t.Errorf("the case that the canary tried: %+v", e)
	}
}

// savedMessages looks for the messages to a webhook that did not answer.
func savedMessages(t *testing.T, s *store.Store) {
	t.Helper()
	list := must.Get(s.QueuedMessages(t.Context()))(t)
	var events []string
	for i, m := range list {
		e := must.Get(m.What())(t)
		events = append(events, string(e.Type))
		if m.Hook == "" || !strings.HasPrefix(m.ID, "msg_") || e.Time.IsZero() || e.Docket != nil && (e.Docket.ID == 0 || e.Docket.Submitter == "") {
			t.Errorf("message %d: %+v, %+v", i, m, e)
		}
	}
	slices.Sort(events)
	same(t, "messages", events, []string{
		"docket.finished", "failure.open", "failure.yours", "generation.activated", "verdict.corrected", "verdict.corrected", "verdict.corrected",
	})
}

// savedQueue tries the cases that were waiting, and those of which the worker was killed.
func savedQueue(t *testing.T, s *store.Store, dockets map[string]int64) {
	t.Helper()
	list, _, err := s.Queued(t.Context())
	must.Do(t, err)
	same(t, "jobs for cases", len(list), 3)
	for _, job := range list {
		same(t, "the generation of a job", job.Generation, int64(2))
	}
	tryAll(t, s, surely)
	for name, cases := range map[string]int{"waits": 2, "waits too": 1} {
		d := must.Get(s.Docket(t.Context(), dockets[name]))(t)
		if d.State != store.Done || d.Tried != cases {
			t.Errorf("%s: %+v", name, d)
		}
	}
	d := must.Get(s.Docket(t.Context(), dockets["cancelled"]))(t)
	same(t, "the state of the cancelled docket", d.State, store.Cancelled)
}
