package web

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/service/refit"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// ErrNotFound is what a Backend returns for an ID that it does not have.
var ErrNotFound = errors.New("not found")

// UserError is an error whose text is for the person who asked, such as a label that a case does not have.
type UserError struct{ Text string }

func (e *UserError) Error() string { return e.Text }

// Backend is what the pages show and change. Its methods are safe for concurrent use. An unknown ID is ErrNotFound; a request
// that can't be carried out is a *UserError. Who may do what is checked before a method is called.
type Backend interface {
	// Inbox lists groups of cases that need a person, the most valuable first.
	Inbox(ctx context.Context, q InboxQuery) (*Inbox, error)
	// Members lists the cases of a group that need a person.
	Members(ctx context.Context, group string, cursor string) (*Entries, error)

	Dockets(ctx context.Context, q DocketsQuery) (*Dockets, error)
	Docket(ctx context.Context, id int64) (*Docket, error)
	Entries(ctx context.Context, docket int64, q EntriesQuery) (*Entries, error)
	// Submit takes an upload as the API does, and gives the docket's ID.
	Submit(ctx context.Context, u Upload) (int64, error)
	Cancel(ctx context.Context, docket int64) error

	// Case gives an entry of a docket with its trial.
	Case(ctx context.Context, entry EntryID) (*Case, error)

	// Correct sets the label of entries, and of all cases of groups that need a person.
	Correct(ctx context.Context, c Correcting) (*Corrected, error)
	// Undo takes a correction back.
	Undo(ctx context.Context, correction int64) (cases int, err error)

	Modules(ctx context.Context) (*Modules, error)
	// Propose adds a generation: the current one with modules in place of those of the same name. It is not current.
	Propose(ctx context.Context, p Proposal) (int64, error)
	// Activate has all workers load a generation. It becomes current when all have; Modules tells how far that is.
	Activate(ctx context.Context, generation int64) error
	// Abandon ends an activation that is pending.
	Abandon(ctx context.Context, activation int64) error

	Quality(ctx context.Context, q QualityQuery) (*Quality, error)

	// Refit tells how far the refit of the service is; nil where it can't refit.
	Refit(ctx context.Context) (*Refit, error)
	// StartRefit begins one in the background.
	StartRefit(ctx context.Context) error
	// TakeRefit adds a generation with the profile that was learned.
	TakeRefit(ctx context.Context) (generation int64, err error)

	Tokens(ctx context.Context) ([]Token, error)
	AddToken(ctx context.Context, name string, scopes, repositories []string) (secret string, err error)
	RevokeToken(ctx context.Context, id string) error

	// Changes tells what changed, until the context ends; then the channel is closed. Slow readers may miss changes, but get a later one.
	Changes(ctx context.Context) <-chan Change
}

// Change says that what a page shows may be stale.
type Change struct {
	// Docket is the docket that changed; 0 where everything may have changed.
	Docket int64
	// Modules: generations or workers changed. Corrections: a case was corrected.
	Modules, Corrections bool
}

// InboxQuery selects groups. Empty fields select all.
type InboxQuery struct {
	Text, Repository, Label, Status string
	// Since leaves out older cases; zero none.
	Since  time.Time
	Cursor string
}

// Inbox is a page of groups.
type Inbox struct {
	Groups []Group
	// Next is the cursor of the next page, empty on the last.
	Next string
	// OpenGroups and OpenCases count what the query selects.
	OpenGroups, OpenCases int
	// Repositories and Labels are what there is to filter by.
	Repositories []string
	Labels       []Label
}

// Label is a label with its name for people, empty where it has none.
type Label struct{ ID, Name string }

// Group is cases that failed in the same way.
type Group struct {
	// Key of the group, as corrections name it.
	Key string
	// Lead is the case that is shown for all.
	Lead Entry
	// Cases that need a person, in how many dockets.
	Cases, Dockets int
	Oldest, Newest time.Time
}

// EntryID names a case of a docket by its place there, from 1.
type EntryID struct {
	Docket  int64
	Ordinal int
}

// String gives the ID as addresses and forms have it, such as 12-345.
func (id EntryID) String() string { return store.TrialID(id).String() }

// ParseEntryID reads an ID; one that is not one is ErrNotFound.
func ParseEntryID(text string) (EntryID, error) {
	id, err := store.ParseTrialID(text)
	if err != nil {
		return EntryID{}, ErrNotFound
	}
	return EntryID(id), nil
}

// Entry is a case of a docket in a list.
type Entry struct {
	ID EntryID
	// CaseID is the case's, About its subject or first failed line.
	CaseID, About string
	// Message is what tells most of the failure; empty where the subject does, or nothing is known.
	Message    string
	DocketName string
	Repository string
	Created    time.Time
	// Members is how many cases it stands for, from 1.
	Members int
	Labels  []Label
	// Tried says whether there is a verdict. The rest is empty without.
	Tried      bool
	Status     trial.Status
	Cause      trial.Cause
	Label      string
	Confidence float64
	// Light is the answer under review.
	Light           string
	LightConfidence float64
	// Truth is the known label, from the docket or a correction; Corrected tells the latter.
	Truth     string
	Corrected bool
	// Fault says why there is no trial.
	Fault string
}

// Entries is a page of a docket's cases.
type Entries struct {
	Entries []Entry
	Next    string
}

// EntriesQuery selects cases of a docket.
type EntriesQuery struct{ Text, Status, Cursor string }

// DocketsQuery selects dockets.
type DocketsQuery struct{ Text, Repository, State, Cursor string }

// Dockets is a page of dockets, the newest first.
type Dockets struct {
	Dockets      []Docket
	Next         string
	Repositories []string
}

// The states of a docket.
const (
	StateReceiving = "receiving"
	StateQueued    = "queued"
	StateRunning   = "running"
	StateDone      = "done"
	StateFailed    = "failed"
	StateCancelled = "cancelled"
)

// Docket is a docket with its counts.
type Docket struct {
	ID                                        int64
	Name, Repository, Revision, Format, State string
	Submitter                                 string
	Cases, Tried, Faults                      int
	ByStatus                                  map[trial.Status]int
	// OpenBy are those of them that need a person.
	OpenBy  map[trial.Status]int
	ByLabel []LabelCount
	// Known truths, and how many answers are right.
	Known, Right, LightRight int
	Open                     int
	Created, Finished        time.Time
	// Pinned is the generation that it is tried by, 0 for the current one.
	Pinned int64
	// Failure says why it failed.
	Failure string
}

// LabelCount counts answers.
type LabelCount struct {
	Label
	Count int
}

// Upload is a report to try.
type Upload struct {
	Name, Repository, Revision, Format string
	Body                               io.Reader
}

// Case is an entry with all that is known of it.
type Case struct {
	Entry
	// Revision of the source that failed.
	Revision string
	// Trial is nil until it was tried. Its Drawing is the court's graph.
	Trial *trial.Trial
	// Case has the documents.
	Case abi.Case
	// Generation and Configuration that tried it.
	Generation    int64
	Configuration string
	History       []Correction
	// Group is the key of its group, GroupCases how many cases of it need a person.
	Group      string
	GroupCases int
	// Waiting is the state of its docket while there is no verdict.
	Waiting string
}

// Correction is one correction of a case.
type Correction struct {
	ID            int64
	Label, Before string
	Author        string
	Time          time.Time
	Undone        bool
	// Superseded: a later correction is in force.
	Superseded bool
}

// Correcting is what to correct.
type Correcting struct {
	Label   string
	Entries []EntryID
	// Groups are corrected as far as Filter selects their cases.
	Groups []string
	Filter InboxQuery
}

// Corrected is what came of it.
type Corrected struct {
	IDs   []int64
	Cases int
}

// Modules is what runs where.
type Modules struct {
	Current     int64
	Generations []Generation
	Workers     []Worker
	// Latest is the last activation; nil for none.
	Latest *Activation
}

// Activation is a request to make a generation current.
type Activation struct {
	ID, Generation int64
	Author         string
	// Pending while workers load it: Loaded of Workers have.
	Pending         bool
	Loaded, Workers int
	// Rejected with the workers' reasons; else it became current.
	Rejected bool
	Reason   string
	Finished time.Time
}

// Generation is a set of modules, pipeline and profile.
type Generation struct {
	ID, Parent int64
	Note       string
	Author     string
	Created    time.Time
	Current    bool
	// Candidate generations are tried beside the current one, on a share of the cases in (0, 1].
	Candidate bool
	Share     float64
	// Changes say in which parts it differs from its parent.
	Changes []PartChange
	Parts   []Part
	Trials  int
	Flips   []Flip
	// FlipsToRight and FlipsFromRight count those whose truth is known.
	FlipsToRight, FlipsFromRight int
	// Failure says why it did not become current.
	Failure string
}

// Part is a module, pipeline, profile or rubric.
type Part struct{ Kind, Name, Digest string }

// PartChange is a part that differs; a digest is empty where there is none.
type PartChange struct{ Kind, Name, Before, After string }

// Flip is a case that a candidate ended otherwise.
type Flip struct {
	Entry  Entry
	Status trial.Status
	Label  string
	// Confidence of the candidate, and why.
	Confidence float64
	Why        string
}

// Worker is a process that tries cases.
type Worker struct {
	ID, Host, Version string
	Started, Seen     time.Time
	// Running is how many batches it has begun.
	Running int
}

// Proposal is a new generation.
type Proposal struct {
	Modules []NamedModule
	Note    string
	// Candidate has it tried beside the current one on a share of the cases.
	Candidate bool
	Share     float64
}

// NamedModule is a module as it was uploaded.
type NamedModule struct {
	Name string
	Wasm []byte
}

// QualityQuery selects corrected cases.
type QualityQuery struct {
	Repository string
	Since      time.Time
}

// Quality compares verdicts with the truth.
type Quality struct {
	QualityRow // of all, without a name
	// Stated are the confidences of the court's answers whose truth is known, those of a hundredth with their mean.
	Stated []calibrate.Stated
	// Labels of the confusion matrix, in order; Confusion counts by truth and answer, "" is no answer.
	Labels       []Label
	Confusion    map[string]map[string]int
	Weeks        []QualityRow
	Repositories []QualityRow
}

// QualityRow is a week or a repository.
type QualityRow struct {
	Name string
	// Cases that were tried in all.
	Cases int
	// Known truths, and how many answers of the court and of Light are right.
	Known, Right, LightRight int
	// Corrections is how many of the known labels people set.
	Corrections int
	// Took is the time that the trials took.
	Took time.Duration
}

// Refit is a refit that is running, or what came of it.
type Refit struct {
	// Known labels there are, Needed are at least.
	Known, Needed int
	Running       bool
	// Step is what is being done, Failure why it failed.
	Step, Failure string
	// Outcome is nil until there is one.
	Outcome *RefitOutcome
}

// RefitOutcome is what came of a refit. The flips of its comparison are only those here.
type RefitOutcome struct {
	refit.Proposal
	Flips    []RefitFlip // the first ones
	AllFlips int
}

// RefitFlip is a result that the new profile would end otherwise.
type RefitFlip struct {
	ID, Court, Candidate string
	Mark                 calibrate.Mark
}

// Token lets programs and people in.
type Token struct {
	ID, Name, Submitter string
	Scopes              []string
	Repositories        []string // that it is limited to
	Created, Used       time.Time
	Revoked             bool
}
