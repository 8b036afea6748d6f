package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAgainst(t *testing.T) {
	var r report
	r.add("ours", 2, "us")
	r.add("first", 4, "us")
	r.add("second", 8, "us")
	r.against("ours", "first")
	r.against("ours", "second")
	r.against("ours", "never measured")
	file := filepath.Join(t.TempDir(), "results.json")
	if err := r.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Fatalf("rows %s", text)
	}
	for i, want := range []struct {
		name, peer string
		ratio      float64
	}{{"ours", "first", 0.5}, {"ours", "second", 0.25}} {
		row := rows[i]
		if row.Name != want.name || row.Peer == nil || *row.Peer != want.peer || *row.Ratio != want.ratio {
			t.Errorf("row %d: %s", i, text)
		}
	}
	if rows[2].Peer != nil || rows[2].Ratio != nil {
		t.Errorf("a row without a peer: %s", text)
	}
}

func TestFindHandlers(t *testing.T) {
	handlers := map[string]string{"node": "nil", "contest": "nil"}
	const source = "package main\nfunc init() { node.Handle(prosecute) }\nfunc main() { other.Call(x) }\n"
	if err := findHandlers("main.go", []byte(source), handlers); err != nil {
		t.Fatal(err)
	}
	if handlers["node"] != "prosecute" || handlers["contest"] != "nil" || len(handlers) != 2 {
		t.Errorf("handlers %v", handlers)
	}
}

// All rivals of a node call are compared with this one response.
func TestTheRequestIsWhatItSays(t *testing.T) {
	x := nodeExchange()
	if len(x.request) != 300 {
		t.Errorf("%d bytes", len(x.request))
	}
	if err := x.once(affirm)(); err != nil {
		t.Error(err)
	}
	if err := x.once(func([]byte) ([]byte, error) { return x.response[1:], nil })(); err == nil {
		t.Error("a wrong response passed")
	}
}

func TestPage(t *testing.T) {
	var r report
	list := goals()
	for i := range list {
		r.add(list[i].row, 3, "us")
		if list[i].peer != "" {
			r.add(list[i].peer, 2, "us")
			r.against(list[i].row, list[i].peer)
		}
	}
	page := pageOf(r.rows)
	if strings.Contains(page, "not measured") {
		t.Errorf("a goal finds no row:\n%s", page)
	}
	if n := len(list) - strings.Count(page, ", missed |"); n != 9 {
		t.Errorf("%d goals are reached by 3 beside 2:\n%s", n, page)
	}
	if !strings.Contains(pageOf(nil), "not measured") {
		t.Error("nothing was measured, and the page does not say so")
	}
}
