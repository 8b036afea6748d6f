package store

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers may tell apart.
var (
	// ErrNotFound: there is no such row.
	ErrNotFound = errors.New("not found")
	// ErrKeyReused: a docket with this idempotency key has another body, or other parameters.
	ErrKeyReused = errors.New("the idempotency key belongs to a docket with another body or other parameters")
	// ErrTooLarge: an upload has more cases, or a case has more bytes, than the store takes.
	ErrTooLarge = errors.New("too large")
	// ErrState: what was asked for is not possible in this state.
	ErrState = errors.New("not possible in this state")
	// ErrLabel: a correction with a label that a case doesn't have.
	ErrLabel = errors.New("not a label of the case")
	// ErrFull: the database's disk is full or can't be written, or the server takes no changes. What was committed before is kept,
	// and nothing is lost that is tried again.
	ErrFull = errors.New("the database can't be written: its disk is full, or it is read-only")
)

// MigrationError says that the tables of the database are not those of this program.
type MigrationError struct {
	Database string
	// Pending are the migrations to run; empty where the database is of a newer program, or TooOld.
	Pending []string
	// TooOld: it is of a version before the first release.
	TooOld bool
}

func (e *MigrationError) Error() string {
	if e.TooOld {
		return fmt.Sprintf("the %s database is of a version before the first release: begin with a new one", e.Database)
	}
	if len(e.Pending) == 0 {
		return fmt.Sprintf("the %s database belongs to a newer version of shadowcourt: update this program", e.Database)
	}
	return fmt.Sprintf("the %s database lacks %d migrations (%s): run `shadowcourt serve migrate` with the same --database or --data",
		e.Database, len(e.Pending), strings.Join(e.Pending, ", "))
}
