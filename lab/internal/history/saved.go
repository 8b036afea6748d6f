package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// Half is what the cases of a repository may be used for.
type Half string

// The halves. No repository is in both, and one whose cases somebody looked at stays in the first for good.
const (
	Learning  Half = "learning"
	Reporting Half = "reporting"
)

// header is the first line of a file, which says what the others are.
type header struct {
	Form       string `json:"form"`
	Half       Half   `json:"half"`
	Repository string `json:"repository"`
	// Dropped counts the candidates that became no case, by kind and reason.
	Dropped map[Kind]map[string]int `json:"dropped,omitempty"`
}

const form = "shadowcourt histories/1"

// Repo is what was mined from one repository.
type Repo struct {
	Name    string
	Half    Half
	Cases   []Case
	Dropped map[Kind]map[string]int
}

const ending = ".jsonl.zst"

// fileOf is the file of a repository below the folder of saved ones.
func fileOf(half Half, repository string) string {
	return filepath.Join(string(half), Slug(repository)+ending)
}

// Slug is the name of a repository as that of a file or folder.
func Slug(repository string) string { return strings.ReplaceAll(repository, "/", "-") }

// Save writes what was mined from a repository below a folder, in place of what was there. Cases are sorted by their ids.
func Save(folder string, r *Repo) error {
	slices.SortFunc(r.Cases, func(a, b Case) int { return strings.Compare(a.ID, b.ID) })
	return study.SaveLines(filepath.Join(folder, fileOf(r.Half, r.Name)), func(lines *json.Encoder) error {
		if err := lines.Encode(header{form, r.Half, r.Name, r.Dropped}); err != nil {
			return err
		}
		for i := range r.Cases {
			if err := lines.Encode(&r.Cases[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Read reads the saved repositories of one half, sorted by name. A folder without any gives none. What is not valid is an error.
func Read(folder string, half Half) ([]Repo, error) {
	names, err := filepath.Glob(filepath.Join(folder, string(half), "*"+ending))
	if err != nil {
		return nil, err
	}
	var list []Repo
	for _, name := range names {
		r, err := readFile(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if r.Half != half {
			return nil, fmt.Errorf("%s: is of the %s half", name, r.Half)
		}
		if Slug(r.Name)+ending != filepath.Base(name) {
			return nil, fmt.Errorf("%s: is of the repository %s", name, r.Name)
		}
		for i := range r.Cases {
			c := &r.Cases[i]
			if c.Repository != r.Name {
				return nil, fmt.Errorf("%s: %s is of another repository", name, c.ID)
			}
			if err := Validate(c); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, c.ID, err)
			}
		}
		list = append(list, *r)
	}
	return list, nil
}

// ReadRepo reads what was saved of a repository; there is nothing where it is new.
func ReadRepo(folder string, half Half, repository string) (*Repo, error) {
	r, err := readFile(filepath.Join(folder, fileOf(half, repository)))
	if err == nil && (r.Half != half || r.Name != repository) {
		return nil, fmt.Errorf("%s is of %s in the %s half", fileOf(half, repository), r.Name, r.Half)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &Repo{Name: repository, Half: half, Dropped: map[Kind]map[string]int{}}, nil
	}
	return r, err
}

func readFile(name string) (*Repo, error) {
	r := &Repo{}
	return r, study.LoadLines(name, func(lines *json.Decoder) error {
		var h header
		if err := lines.Decode(&h); err != nil {
			return fmt.Errorf("is no file of histories: %w", err)
		}
		if h.Form != form || !ownerName.MatchString(h.Repository) {
			return fmt.Errorf("is no file of histories: form %q, repository %q", h.Form, h.Repository)
		}
		for _, reasons := range h.Dropped {
			for why, n := range reasons {
				if n < 0 || strings.ContainsAny(why, "|<>\n") {
					return fmt.Errorf("dropped: %q: %d", why, n)
				}
			}
		}
		*r = Repo{Name: h.Repository, Half: h.Half, Dropped: h.Dropped}
		if r.Dropped == nil {
			r.Dropped = map[Kind]map[string]int{}
		}
		var err error
		r.Cases, err = study.Rest[Case](lines)
		return err
	})
}
