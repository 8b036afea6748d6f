package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// LangGraph is a process that traverses the ring in LangGraph.
type LangGraph struct {
	Version string // of LangGraph and of the language

	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

var langGraphFolder = filepath.Join("peers", "langgraph")

// LangGraphPython starts it in Python, after installing what it needs into a
// virtual environment beside the script.
func LangGraphPython(ctx context.Context) (*LangGraph, error) {
	python := filepath.Join(".venv", "bin", "python")
	if _, err := os.Stat(filepath.Join(langGraphFolder, python)); err != nil {
		if err := install(ctx, "python3", "-m", "venv", ".venv"); err != nil {
			return nil, err
		}
	}
	if err := install(ctx, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"); err != nil {
		return nil, err
	}
	return startLangGraph(ctx, python, "ring.py")
}

// LangGraphJavaScript starts it in Node.js, after installing what it needs
// beside the script.
func LangGraphJavaScript(ctx context.Context) (*LangGraph, error) {
	if _, err := os.Stat(filepath.Join(langGraphFolder, "node_modules")); err != nil {
		if err := install(ctx, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock"); err != nil {
			return nil, err
		}
	}
	return startLangGraph(ctx, "node", "ring.mjs")
}

func install(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = langGraphFolder
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, said)
	}
	return nil
}

func startLangGraph(ctx context.Context, name string, args ...string) (*LangGraph, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = langGraphFolder, os.Stderr
	cmd.Env = append(os.Environ(), "LANGSMITH_TRACING=false", "LANGCHAIN_TRACING_V2=false")
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	l := &LangGraph{cmd: cmd, in: in, out: bufio.NewReader(out)}
	if l.Version, err = l.answer(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func (l *LangGraph) answer() (string, error) {
	line, err := l.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

// Traverse has it make n traversals of so many steps.
func (l *LangGraph) Traverse(steps, n int) error {
	if _, err := fmt.Fprintf(l.in, "%d %d\n", steps, n); err != nil {
		return err
	}
	made, err := l.answer()
	if err != nil {
		return err
	}
	if made != fmt.Sprint(steps*n) {
		return fmt.Errorf("LangGraph made %s steps, not %d", made, steps*n)
	}
	return nil
}

// Close ends the process.
func (l *LangGraph) Close() {
	_ = l.in.Close()
	_ = l.cmd.Wait()
}
