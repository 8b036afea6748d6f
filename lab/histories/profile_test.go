package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/pipelines"
)

// TestTheShippedProfileIsLearned: the learning half gives the shipped profile to the byte, as `make alibi-profile` does.
func TestTheShippedProfileIsLearned(t *testing.T) {
	t.Parallel()
	learned, err := (&folders{saved: "saved"}).learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := learned.WriteYAML(&text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(shipped(t, "alibi.yaml")), text.String()); diff != "" {
		t.Errorf("`make alibi-profile` writes pipelines/profiles/alibi.yaml again (-shipped +learned):\n%s", diff)
	}
}

func shipped(t *testing.T, name string) []byte {
	t.Helper()
	text, err := pipelines.FS.ReadFile("profiles/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
