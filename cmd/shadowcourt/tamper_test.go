package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"

	"github.com/rogpeppe/go-internal/testscript"
)

// tamper copies a record, and replaces the first text in its statements that is OLD by NEW, as somebody does who has no key: tamper FROM TO OLD NEW.
func tamper(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: tamper FROM TO OLD NEW")
	}
	var out bytes.Buffer
	found := false
	for line := range bytes.Lines([]byte(ts.ReadFile(args[0]))) {
		var envelope struct {
			Payload string `json:"payload"`
		}
		ts.Check(json.Unmarshal(line, &envelope))
		payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
		ts.Check(err)
		if !found && bytes.Contains(payload, []byte(args[2])) {
			found = true
			payload = bytes.Replace(payload, []byte(args[2]), []byte(args[3]), 1)
			line = bytes.Replace(line, []byte(envelope.Payload), []byte(base64.StdEncoding.EncodeToString(payload)), 1)
		}
		out.Write(line)
	}
	if !found {
		ts.Fatalf("no statement of %s has %q", args[0], args[2])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), out.Bytes(), 0o600))
}
