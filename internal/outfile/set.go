package outfile

import "errors"

// Set is a number of files that appear together: when all are complete. The zero value is an empty set.
type Set struct{ files []*File }

// Create begins a file of the set, see [Create].
func (s *Set) Create(name string) (*File, error) {
	f, err := Create(name)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, f)
	return f, nil
}

// Commit puts every file in its place, see [File.Commit].
func (s *Set) Commit() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Commit())
	}
	return errors.Join(errs...)
}

// Discard removes the files; what was in their places stays. Call it instead of Commit, not after it.
func (s *Set) Discard() {
	for _, f := range s.files {
		f.Discard()
	}
}
