package run

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

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
		if err != nil {
			t.Fatalf("what was read can't be written: %v", err)
		}
		again, err := DecodeTrial(first, story)
		if err != nil {
			t.Fatalf("what was written can't be read: %v", err)
		}
		second, storyAgain, err := EncodeTrial(again)
		if err != nil || !bytes.Equal(first, second) || !bytes.Equal(story, storyAgain) {
			t.Errorf("%v\n%s\n%s\nis written again as\n%s\n%s", err, first, story, second, storyAgain)
		}
	})
}
