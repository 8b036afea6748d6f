package oci_test

import (
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/oci"
	"github.com/shadowcourt/shadowcourt/internal/oci/testkit"
)

func TestSmoke(t *testing.T) {
	r := testkit.Start(t, true)
	c, err := oci.New(oci.Config{Clock: time.Now, Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ref, err := oci.Parse("oci://" + r.Host + "/judges/reader:v1")
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Push(t.Context(), ref, []byte("\x00asm"), map[string]string{"a": "b"})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(a, r.Requests())
	if _, err := c.Attach(t.Context(), a, oci.Attachment{Type: "application/x", Data: []byte("hi")}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Attachments(t.Context(), a)
	t.Log(got, err, r.Requests())
}
