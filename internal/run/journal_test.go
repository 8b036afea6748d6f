package run

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
		must.Do(t, j.append(entry(id), outcome(id), nil, ""))
	}
	must.Do(t, j.keep())
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
		must.Do(t, err)
		j = must.Get(resumed(file))(t)
		got, _, err := j.passed(entry("a"))
		must.Do(t, err)
		// Empty lists of a result are written as [], see trial.Result.
		if name == "empty" {
			want.Result.LightAfter, want.Result.Path, want.Result.Modules = []trial.Answer{}, []string{}, map[string]string{}
		}
		check.Same(t, cmp.Diff(want, got), name)
	}
}

func TestResumeGoesOnBehindTheLastWholeLine(t *testing.T) {
	t.Parallel()
	whole := begun(t, "a", "b", "c")
	want := must.Get(os.ReadFile(whole + JournalSuffix))(t)
	dir := t.TempDir()
	for cut := 0; cut <= len(want); cut += 7 {
		name := filepath.Join(dir, strconv.Itoa(cut))
		must.Do(t, os.WriteFile(name+JournalSuffix, want[:cut], 0o600))
		j := must.Get(resumed(name))(t, "cut at", cut)
		for _, id := range []string{"a", "b", "c"} {
			got, _, err := j.passed(entry(id))
			if err == nil && got == nil {
				err = j.append(entry(id), outcome(id), nil, "")
			}
			must.Do(t, err)
		}
		must.Do(t, j.keep())
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
	must.Do(t, err)
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
			before := must.Get(os.ReadFile(file + JournalSuffix))(t)
			if tc.spoil != nil {
				before = []byte(tc.spoil(string(before)))
				must.Do(t, os.WriteFile(file+JournalSuffix, before, 0o600))
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
				must.Do(t, j.keep())
			}
			check.Equal(t, string(must.Get(os.ReadFile(file+JournalSuffix))(t)), string(before), "the file was changed")
		})
	}
	check.Is(t, check.Err(resumed(filepath.Join(t.TempDir(), "none"))), fs.ErrNotExist, "without a file")
}

// A run that begins leaves the journal of an earlier one until it has a trial.
func TestAnEarlierJournalStaysUntilTheFirstTrial(t *testing.T) {
	t.Parallel()
	name := begun(t, "a", "b")
	before := must.Get(os.ReadFile(name + JournalSuffix))(t)
	j, left, err := created(name)
	if err != nil || !left {
		t.Fatal(left, err)
	}
	if _, _, err := created(name); !errors.Is(err, errInUse) {
		t.Errorf("a second run: %v", err)
	}
	must.Do(t, j.keep())
	check.Equal(t, string(must.Get(os.ReadFile(name+JournalSuffix))(t)), string(before), "the file was changed")
	if j, _, err = created(name); err != nil {
		t.Fatal(err)
	}
	must.Do(t, errors.Join(j.append(entry("z"), outcome("z"), nil, ""), j.keep()))
	if after, err := os.ReadFile(name + JournalSuffix); err != nil || strings.Contains(string(after), `"id":"a"`) {
		t.Errorf("%v\n%s", err, after)
	}
}

func TestAnEmptyJournalIsRemoved(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	j, _, err := created(name)
	must.Do(t, err)
	must.Do(t, errors.Join(j.keep(), j.keep()))
	check.Is(t, check.Err(os.Stat(name+JournalSuffix)), fs.ErrNotExist)
}

// Whatever a journal holds, its whole lines are read in order and written again as the same, or it is rejected.
func FuzzReader(f *testing.F) {
	parts := []record.Part{{Name: "pipeline", Digest: "sha256:1"}}
	head := must.Get(sanitize.EncodeJSON(header{journalFormat, parts}, ""))(f)
	t := &trial.Trial{Result: trial.Result{ID: "1", Final: trial.Final{Status: trial.Accepted}}}
	for _, whole := range []bool{false, true} {
		l := newLine(t, whole)
		l.Docket = "sha256:2"
		text := must.Get(l.encode())(f)
		f.Add(bytes.Join([][]byte{head, text, text}, nil))
		plain := must.Get(sanitize.EncodeJSON(l, ""))(f)
		f.Add(bytes.Join([][]byte{head, plain}, nil))
		f.Add(bytes.Join([][]byte{head, text, text[:len(text)/2]}, nil))
	}
	f.Add(append(bytes.Clone(head), `{"docket":"d","failed":"no light"}`+"\n"...))
	f.Add(append(bytes.Clone(head), `{"docket":"d","result":{"id":"1","final":{"status":"accepted"}},"story":{"Result":null,"Passes":[{}]}}`+"\n"...))
	f.Add(head[:len(head)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		data = summed(data)
		r, err := newReader(bytes.NewReader(data), parts)
		for err == nil && r != nil && r.ahead != nil {
			if r.offset+int64(r.length) > int64(len(data)) || data[r.offset+int64(r.length)-1] != '\n' {
				t.Fatalf("a line of %d bytes from %d of %d", r.length, r.offset, len(data))
			}
			again(t, r.ahead)
			err = r.advance()
		}
		if err != nil && err.Error() == "" {
			t.Error("rejected without a reason")
		}
	})
}

// summed gives the lines behind the first one their sums, without which nothing of them would be read.
func summed(data []byte) []byte {
	var all []byte
	for line := range bytes.Lines(data) {
		if len(all) > 0 && line[0] == '{' && !bytes.HasPrefix(line, []byte(sumBegin)) {
			line = withSum(line)
		}
		all = append(all, line...)
	}
	return all
}

func again(t *testing.T, l *line) {
	t.Helper()
	if l.Result != nil && l.trial().Result.ID != l.Result.ID {
		t.Errorf("the trial is %q, its line says %q", l.trial().Result.ID, l.Result.ID)
	}
	first := must.Get(l.encode())(t)
	read := must.Get(decode(first))(t, first)
	if second, err := read.encode(); err != nil || !bytes.Equal(first, second) {
		t.Errorf("%v\n%s\nis written again as\n%s", err, first, second)
	}
}

// Whatever a store or a server gives for a trial, it is read and written again as the same, or it is rejected.
func FuzzDecodeTrial(f *testing.F) {
	result, told, err := EncodeTrial(&trial.Trial{Result: trial.Result{ID: "1", Final: trial.Final{Status: trial.Accepted}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(result, told)
	f.Add(result, []byte(nil))
	f.Add(result, []byte(`{"Result":null,"Passes":[{}],"Beside":{"Result":{}}}`))
	f.Add([]byte(`{"id":"1","final":{"status":"accepted"},"audit":{}}`), []byte(`{"Cited":[{}]}`))
	f.Add(result[:len(result)/2], told)
	f.Fuzz(func(t *testing.T, result, told []byte) {
		read, err := DecodeTrial(result, told)
		if err != nil {
			return
		}
		first, story, err := EncodeTrial(read)
		must.Do(t, err, "what was read can't be written")
		again := must.Get(DecodeTrial(first, story))(t, "what was written can't be read")
		second, storyAgain, err := EncodeTrial(again)
		if err != nil || !bytes.Equal(first, second) || !bytes.Equal(story, storyAgain) {
			t.Errorf("%v\n%s\n%s\nis written again as\n%s\n%s", err, first, story, second, storyAgain)
		}
	})
}

// What was recorded before an error is acknowledged.
func TestAnErrorOfTheRecordTakesNoResultBack(t *testing.T) {
	t.Parallel()
	key := must.Get(record.NewKey(bytes.NewReader(make([]byte, 32))))(t)
	writer := must.Get(record.Create(filepath.Join(t.TempDir(), "record"), key, &record.Header{Contents: record.ContentsDigests}))(t)
	var given []string
	show := func(list []recorded) error {
		for _, t := range list {
			given = append(given, t.Trial.Result.ID)
		}
		return nil
	}
	r := &recording{writer: writer, synced: time.Now().Add(time.Hour), now: time.Now, show: show} // nothing is due
	defer r.leave()
	try := func(id string) error {
		none := record.DigestOf(nil)
		return r.append(&host.Tried{
			Trial:  &trial.Trial{Result: trial.Result{ID: id}},
			Record: &record.Trial{ID: id, Case: none, ResultDigest: none, Modules: []record.Part{{Name: "a", Digest: none}}},
		})
	}
	if err := errors.Join(try("one"), try("two")); err != nil || len(given) > 0 {
		t.Fatalf("%v, %q were given", err, given)
	}
	if err := try("two"); err == nil {
		t.Error("a second trial of a case was recorded")
	}
	if !slices.Equal(given, []string{"one", "two"}) {
		t.Errorf("%q were given", given)
	}
}
