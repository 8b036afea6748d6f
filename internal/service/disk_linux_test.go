package service_test

import (
	cryptorand "crypto/rand"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// mountDisk gives a disk of a size.
func mountDisk(t *testing.T, bytes int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("a disk of its own takes root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("shadowcourt-test", dir, "tmpfs", 0, "size="+strconv.Itoa(bytes)); err != nil {
		t.Skip("no disk can be mounted here: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// large is a case with a document that does not compress.
func large(id string, bytes int) string {
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, bytes)
	_, _ = random.Read(noise)
	text := id + " " + base64.StdEncoding.EncodeToString(noise)
	return strings.Replace(strings.Replace(docketOf(1), `"case 0"`, strconv.Quote(id), 1), `"text":"`+planted, `"text":"`+text, 1)
}

// The disk becomes full while cases are tried: requests that change something and /readyz say so, the log says it once, and what was
// committed can be read. When there is room again, the cases that waited have their results without being submitted again.
func TestAccept_SV2_FullDisk(t *testing.T) {
	dir := mountDisk(t, 128<<20)
	gate := make(chan struct{})
	p := startWith(t, "127.0.0.1:0", filepath.Join(dir, "test.db"), func(c *service.Config) {
		gated(gate)(c)
		c.Key = must.Get(record.NewKey(cryptorand.Reader))(t)
	})
	const n = 24
	var docket strings.Builder
	for i := range n {
		docket.WriteString(large(fmt.Sprint("large ", i), 150_000))
	}
	if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets", docket.String()); status != http.StatusAccepted {
		t.Fatalf("%d %s", status, body)
	}
	filler := must.Get(os.Create(filepath.Join(dir, "filler")))(t)
	chunk := make([]byte, 1<<20)
	for err := error(nil); err == nil; {
		_, err = filler.Write(chunk)
	}
	must.Do(t, filler.Close())
	for i, size := range []int{200_000, 10_000, 1000} { // into what is left in the files of the database
		for j := 0; ; j++ {
			status, body := p.ask(t, http.MethodPost, "/api/v1/dockets", large(fmt.Sprint("more ", i, " ", j), size))
			if status == http.StatusServiceUnavailable && strings.Contains(body, store.ErrFull.Error()) {
				break
			}
			if status != http.StatusAccepted || j == 1000 {
				t.Fatalf("%d %s", status, body)
			}
		}
	}
	close(gate) // the trials go on, and can't be kept
	p.until(t, "/readyz", http.StatusServiceUnavailable)
	for range 20 {
		if status, body := p.ask(t, http.MethodGet, "/readyz", ""); status != http.StatusServiceUnavailable || !strings.Contains(body, store.ErrFull.Error()) {
			t.Fatalf("%d %s", status, body)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if _, body := p.ask(t, http.MethodGet, "/api/v1/dockets/1", ""); !strings.Contains(body, `"state":"running"`) || !strings.Contains(body, `"faults":0`) {
		t.Error(body)
	}
	for _, path := range []string{"/healthz", "/api/v1/dockets/1/entries"} {
		if status, body := p.ask(t, http.MethodGet, path, ""); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	must.Do(t, os.Remove(filler.Name()))
	p.until(t, "/readyz", http.StatusOK)
	p.ended(t, 1, n)
	if status, body := p.ask(t, http.MethodPost, "/api/v1/dockets", docketOf(1)); status != http.StatusAccepted {
		t.Errorf("with room again: %d %s", status, body)
	}
	p.stop()
	told, again, levels := 0, 0, strings.Count(p.logs.String(), `"level":"ERROR"`)
	for line := range strings.Lines(p.logs.String()) {
		if strings.Contains(line, store.ErrFull.Error()) && !strings.Contains(line, `"level":"INFO"`) {
			told++
		}
		if strings.Contains(line, `"msg":"the database can be written again"`) {
			again++
		}
	}
	// Beside the requests that were rejected, the state is told once whenever it begins and once when it ends.
	if again == 0 || told > again+20 || levels != again {
		t.Errorf("told %d times that the disk is full, and %d times that it is not:\n%s", told, again, p.logs)
	}
}

// A disk that can't be written is found at the start.
func TestAccept_SV2_ReadOnlyDisk(t *testing.T) {
	dir := mountDisk(t, 32<<20)
	open := func() (*store.Store, error) {
		return store.Open(t.Context(), store.Config{Database: filepath.Join(dir, "test.db"), Now: time.Now})
	}
	s := must.Get(open())(t)
	s.Close()
	must.Do(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	check.Fails(t, check.Err(open()), "test.db: read-only file system")
}
