package api

import (
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Docket is a docket that was submitted.
type Docket struct {
	ID         int64      `json:"id" minimum:"1" doc:"ID of the docket"`
	Submitter  string     `json:"submitter" doc:"Who submitted it"`
	Name       string     `json:"name,omitempty" doc:"Name that the submitter gave, such as a file"`
	Repository string     `json:"repository,omitempty" doc:"Repository of the code under test"`
	Revision   string     `json:"revision,omitempty" doc:"Revision of the code under test"`
	Format     string     `json:"format" enum:"jsonl,gotest,junit,reportportal" doc:"Format of the report"`
	State      string     `json:"state" enum:"queued,running,done,failed,cancelled" doc:"How far the docket is"`
	Generation int64      `json:"generation,omitempty" minimum:"1" doc:"Generation of modules that the docket is pinned to"`
	Casebook   int64      `json:"casebook" minimum:"0" doc:"Revision of the casebook that its trials see"`
	Cases      int        `json:"cases" minimum:"0" doc:"Entries, those included that could not be read"`
	Tried      int        `json:"tried" minimum:"0" doc:"Entries with a result"`
	Faults     int        `json:"faults" minimum:"0" doc:"Entries that could not be read or tried"`
	Created    time.Time  `json:"created" doc:"When it was submitted"`
	Finished   *time.Time `json:"finished,omitempty" doc:"When it ended"`
}

func docketOf(d *store.Docket) Docket {
	return Docket{
		ID: d.ID, Submitter: d.Submitter, Name: d.Name, Repository: d.Repository, Revision: d.Revision, Format: d.Format, State: string(d.State),
		Generation: d.Generation, Casebook: d.Casebook, Cases: d.Cases, Tried: d.Tried, Faults: d.Faults, Created: d.Created, Finished: timeOf(d.Finished),
	}
}

// timeOf is nil for a time that is not there.
func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Entry is a case of a docket, as lists have it.
type Entry struct {
	ID             string    `json:"id" pattern:"^[0-9]+-[0-9]+$" example:"17-203" doc:"ID of the trial: docket and place in it"`
	Docket         int64     `json:"docket" minimum:"1" doc:"ID of the docket"`
	Ordinal        int       `json:"ordinal" minimum:"1" doc:"Place in the docket"`
	Case           string    `json:"case" doc:"ID of the case; empty for an entry that could not be read"`
	Subject        string    `json:"subject" doc:"What the case is about"`
	Labels         []string  `json:"labels" doc:"Classifications that the case may have"`
	Members        int       `json:"members,omitempty" minimum:"0" doc:"Further cases that the trial decides, since they failed in the same way"`
	Repository     string    `json:"repository,omitempty" doc:"Repository of the docket"`
	Group          string    `json:"group,omitempty" doc:"Equal for failures of one kind with the same labels, in all dockets"`
	Fault          string    `json:"fault,omitempty" doc:"Why it was not tried"`
	Status         string    `json:"status,omitempty" doc:"How the trial ended; absent while the entry waits" example:"acquitted"`
	Label          string    `json:"label,omitempty" doc:"Classification of the result"`
	Confidence     float64   `json:"confidence" minimum:"0" maximum:"1" doc:"Confidence of the result"`
	Generation     int64     `json:"generation,omitempty" minimum:"1" doc:"Generation of modules that tried it"`
	Correction     int64     `json:"correction,omitempty" minimum:"1" doc:"ID of the correction that is in force"`
	CorrectedLabel string    `json:"corrected_label,omitempty" doc:"Label of the correction"`
	Created        time.Time `json:"created" doc:"When the docket was submitted"`
}

func entryOf(e *store.Entry) Entry {
	labels := e.Labels
	if labels == nil {
		labels = []string{}
	}
	return Entry{
		ID: e.ID.String(), Docket: e.ID.Docket, Ordinal: e.ID.Ordinal, Case: e.CaseID, Subject: e.Subject, Labels: labels, Members: e.Members,
		Repository: e.Repository, Group: e.Group, Fault: e.Fault, Status: string(e.Status), Label: e.Label, Confidence: e.Confidence,
		Generation: e.Generation, Correction: e.Correction, CorrectedLabel: e.Corrected, Created: e.Created,
	}
}

// waits says whether an entry has neither a result nor a fault.
func waits(e *store.Entry) bool { return e.Status == "" && e.Fault == "" }
