package casebook

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrNewer: the book was written by a later version of this program.
	ErrNewer = errors.New("the casebook is of a newer version")
	// ErrNotCasebook: the file is something else, perhaps another program's database.
	ErrNotCasebook = errors.New("not a casebook")
	// ErrCorrupt: the file is damaged. Nothing is repaired: take the last copy, or begin a new book.
	ErrCorrupt = errors.New("the casebook is damaged")
	// ErrBusy: another program held the book for longer than Options.BusyTimeout.
	ErrBusy = errors.New("the casebook is in use by another program")
	// ErrDisk: the disk is full, or failed. What was remembered before is there.
	ErrDisk = errors.New("the disk of the casebook is full, or failed")
	// ErrUnfinished: a program was killed while it wrote, and the file can't be written, so that the change can't be rolled back.
	ErrUnfinished = errors.New("a change of the casebook was not finished; open it once where its file can be written")
	// ErrEntry: an entry can't be remembered as it is.
	ErrEntry = errors.New("invalid entry")
)

// explain wraps an error of the database so that its cause can be told with errors.Is.
func explain(op, path string, err error) error {
	if err == nil {
		return nil
	}
	if coded, ok := errors.AsType[*sqlite.Error](err); ok {
		switch coded.Code() & 0xff { // the rest are details of the cause
		case sqlite3.SQLITE_READONLY:
			if coded.Code() == sqlite3.SQLITE_READONLY_ROLLBACK {
				err = fmt.Errorf("%w: %w", ErrUnfinished, err)
			}
		case sqlite3.SQLITE_CORRUPT:
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		case sqlite3.SQLITE_NOTADB:
			err = fmt.Errorf("%w: %w", ErrNotCasebook, err)
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
			err = fmt.Errorf("%w: %w", ErrBusy, err)
		case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR:
			err = fmt.Errorf("%w: %w", ErrDisk, err)
		}
	}
	return fmt.Errorf("casebook %s: %s: %w", path, op, err)
}
