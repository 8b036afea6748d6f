//go:build unix

package main

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_SV6_AnInterruptSaysHowToSeeTheDocketLater: the service continues without its client.
func TestAccept_SV6_AnInterruptSaysHowToSeeTheDocketLater(t *testing.T) {
	t.Parallel()
	service, u := startService(t), newUser(t)
	asked := make(chan struct{}, 1)
	server := before(t, service, func(w http.ResponseWriter, r *http.Request, pass http.Handler) {
		if strings.HasSuffix(r.URL.Path, "/trials") {
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		pass.ServeHTTP(w, r)
	})
	cmd := u.command(t, "try", "inputs/surefire.xml", "--server", server, "--format", "jsonl")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	must.Do(t, cmd.Start())
	<-asked
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	_ = cmd.Wait()
	got := said{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
	got.wants(t, 1, "interrupted; 0 cases were tried and written; the service continues; `shadowcourt try --server "+server+",docket=1` shows the results")
	later := u.run(t, "", "try", "--server", service, "--docket", "1", "--format", "jsonl")
	want := u.run(t, "", "try", "inputs/surefire.xml", "--format", "jsonl")
	if later.out != want.out || later.code != 0 || later.out == "" {
		t.Errorf("exit code %d\n%s%s\nwant\n%s", later.code, later.out, later.errors, want.out)
	}
}
