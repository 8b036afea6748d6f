package run

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

func never() time.Time { return time.Time{} }

// created begins a journal beside a file that keeps all.
func created(file string) (*journal, bool, error) {
	return createJournal(Journal{Output: file, Whole: true, Documents: true}, nil, never)
}

func resumed(file string, parts ...record.Part) (*journal, error) {
	j, _, err := resumeJournal(Journal{Output: file, Whole: true, Documents: true}, parts, never)
	return j, err
}

func entry(id string) *docket.Entry {
	return &docket.Entry{Case: abi.Case{ID: id, Subject: "of " + id}}
}

func outcome(id string) *trial.Trial {
	return &trial.Trial{Result: trial.Result{ID: id, Final: trial.Final{Status: trial.Accepted}}}
}

// begun writes a journal of some cases beside a file, and gives its name.
func begun(t *testing.T, ids ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "journal")
	j, left, err := created(name)
	if err != nil || left {
		t.Fatal(left, err)
	}
	for _, id := range ids {
		if err := j.append(entry(id), outcome(id), nil, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.keep(); err != nil {
		t.Fatal(err)
	}
	return name
}

// filled gives a value of a type in which nothing is empty.
func filled(v reflect.Value, depth int, n *int) {
	*n++
	switch v.Kind() {
	case reflect.String:
		v.SetString("text <" + strconv.Itoa(*n) + "> & \u202e\n")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n % 100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 100))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(1 / float64(*n))
	case reflect.Pointer:
		if v.Type() == reflect.TypeFor[*trial.Trial]() && depth > 1 {
			return // of one beside another
		}
		v.Set(reflect.New(v.Type().Elem()))
		filled(v.Elem(), depth+1, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		filled(v.Index(0), depth+1, n)
		filled(v.Index(1), depth+1, n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		filled(key, depth+1, n)
		filled(value, depth+1, n)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for _, field := range v.Fields() {
			filled(field, depth+1, n)
		}
	default:
		panic("a trial has a " + v.Kind().String())
	}
}

// A trial comes back with every field that it has; a field that is added later can't be forgotten.
func TestEveryFieldOfATrialIsKept(t *testing.T) {
	t.Parallel()
	full, n := &trial.Trial{}, 0
	filled(reflect.ValueOf(full).Elem(), 0, &n)
	full.Drawing = trial.SVG("<svg>&amp;</svg>")
	// Only the audit of the court's own verdict is shown.
	full.Beside.Result.Audit = nil
	for _, f := range []*trial.Failure{full.Result.Error, full.Beside.Result.Error, full.Result.Rules.Error, full.Beside.Result.Rules.Error} {
		f.ModuleName, f.Detail, f.HostSide = "", "", false // not part of a result
	}
	for _, p := range []*trial.Proposal{full.Result.Proposal, full.Beside.Result.Proposal} {
		p.Command = "" // nor this
	}
	for name, want := range map[string]*trial.Trial{"full": full, "empty": outcome("empty")} {
		file := filepath.Join(t.TempDir(), "journal")
		j, _, err := created(file)
		if err == nil {
			err = errors.Join(j.append(entry("a"), want, nil, ""), j.keep())
		}
		if err != nil {
			t.Fatal(err)
		}
		if j, err = resumed(file); err != nil {
			t.Fatal(err)
		}
		got, _, err := j.passed(entry("a"))
		if err != nil {
			t.Fatal(err)
		}
		// Empty lists of a result are written as [], see trial.Result.
		if name == "empty" {
			want.Result.LightAfter, want.Result.Path, want.Result.Modules = []trial.Answer{}, []string{}, map[string]string{}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestResumeGoesOnBehindTheLastWholeLine(t *testing.T) {
	t.Parallel()
	whole := begun(t, "a", "b", "c")
	want, err := os.ReadFile(whole + JournalSuffix)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for cut := 0; cut <= len(want); cut += 7 {
		name := filepath.Join(dir, strconv.Itoa(cut))
		if err := os.WriteFile(name+JournalSuffix, want[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := resumed(name)
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		for _, id := range []string{"a", "b", "c"} {
			got, _, err := j.passed(entry(id))
			if err == nil && got == nil {
				err = j.append(entry(id), outcome(id), nil, "")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := j.keep(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name + JournalSuffix); err != nil || string(got) != string(want) {
			t.Fatalf("cut at %d: %v\n%s", cut, err, got)
		}
	}
}

func TestCasesThatFailedAreKept(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	j, _, err := created(name)
	if err == nil {
		err = errors.Join(j.append(entry("a"), nil, errors.New("no light"), ""), j.append(entry("b"), outcome("b"), nil, ""), j.keep())
	}
	if err == nil {
		j, err = resumed(name)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, failed, err := j.passed(entry("a")); got != nil || failed != "no light" || err != nil {
		t.Errorf("%v, %q, %v", got, failed, err)
	}
	if got, _, err := j.passed(entry("b")); got == nil || err != nil || j.left() || j.trials != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// What can't be gone on with is named, and stays as it is.
func TestResumeRejects(t *testing.T) {
	t.Parallel()
	part := record.Part{Name: "profile", Digest: "sha256:1"}
	for name, tc := range map[string]struct {
		spoil func(string) string
		parts []record.Part
		cases []string
		want  string
	}{
		"another configuration": {nil, []record.Part{part}, nil, "it is of another configuration: another profile"},
		"another first case":    {nil, nil, []string{"x"}, `case 1 is "x", and was "a"`},
		"another second case":   {nil, nil, []string{"a", "c"}, `case 2 is "c", and was "b"`},
		"no header":             {func(s string) string { return s[strings.IndexByte(s, '\n')+1:] }, nil, nil, `it is no journal of a run: its format is "", not "shadowcourt-journal/2"`},
		"no JSON":               {func(string) string { return "notes\n" }, nil, nil, "it is no journal of a run: invalid character 'o' in literal null (expecting 'u')"},
		"a cut header":          {func(string) string { return `{"for` + `mer` }, nil, nil, "it is no journal of a run: it is cut"},
		"a spoiled line":        {func(s string) string { return strings.Replace(s, `{"sum"`, `{"su`, 1) }, nil, nil, "line 2: it is no line of a journal"},
		"a spoiled second line": {func(s string) string { return strings.Replace(s, `"id":"b"`, `"id":""`, 1) }, nil, []string{"a", "b"}, "line 3: it is damaged, or was edited"},
		"a spoiled status":      {func(s string) string { return strings.Replace(s, `"accepted"`, `"rejected"`, 1) }, nil, nil, "line 2: it is damaged, or was edited"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := begun(t, "a", "b")
			before, err := os.ReadFile(file + JournalSuffix)
			if err != nil {
				t.Fatal(err)
			}
			if tc.spoil != nil {
				before = []byte(tc.spoil(string(before)))
				if err := os.WriteFile(file+JournalSuffix, before, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			j, err := resumed(file, tc.parts...)
			for _, id := range tc.cases {
				if err == nil {
					_, _, err = j.passed(entry(id))
				}
			}
			if err == nil || !strings.HasPrefix(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
			if j != nil {
				if err := j.keep(); err != nil {
					t.Error(err)
				}
			}
			if after, err := os.ReadFile(file + JournalSuffix); err != nil || string(after) != string(before) {
				t.Errorf("the file was changed: %v\n%s", err, after)
			}
		})
	}
	if _, err := resumed(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

// A run that begins leaves the journal of an earlier one until it has a trial.
func TestAnEarlierJournalStaysUntilTheFirstTrial(t *testing.T) {
	t.Parallel()
	name := begun(t, "a", "b")
	before, err := os.ReadFile(name + JournalSuffix)
	if err != nil {
		t.Fatal(err)
	}
	j, left, err := created(name)
	if err != nil || !left {
		t.Fatal(left, err)
	}
	if _, _, err := created(name); !errors.Is(err, errInUse) {
		t.Errorf("a second run: %v", err)
	}
	if err := j.keep(); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(name + JournalSuffix); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed: %v", err)
	}
	if j, _, err = created(name); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.append(entry("z"), outcome("z"), nil, ""), j.keep()); err != nil {
		t.Fatal(err)
	}
	if after, err := os.ReadFile(name + JournalSuffix); err != nil || strings.Contains(string(after), `"id":"a"`) {
		t.Errorf("%v\n%s", err, after)
	}
}

func TestAnEmptyJournalIsRemoved(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	j, _, err := created(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.keep(), j.keep()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(name + JournalSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
