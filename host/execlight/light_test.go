//go:build unix

package execlight

import (
	"context"
	"encoding/json"
	"math"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func ask(t *testing.T, l *Light, id string) (host.LightResponse, error) {
	t.Helper()
	return l.Answer(t.Context(), host.LightRequest{Case: &abi.Case{ID: id, Labels: []string{"red", "blue"}}})
}

func open(t *testing.T, command string, config Config) *Light {
	t.Helper()
	l := New(command, config)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

const red = `echo '{"classification":"red","confidence":0.6,"reasoning":"pid '$$'"}'`

func TestOneProgramIsKept(t *testing.T) {
	t.Parallel()
	l := open(t, `while read -r line; do `+red+`; done`, Config{})
	first, err := ask(t, l, "one")
	if err != nil || first.Answer.Classification != "red" || first.Answer.Confidence != 0.6 {
		t.Fatalf("%+v (%v)", first, err)
	}
	if second, err := ask(t, l, "two"); err != nil || second.Answer.Reasoning != first.Answer.Reasoning {
		t.Errorf("%+v (%v)", second, err)
	}
	// At work at the same time: a program each, and each its own answers.
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if _, err := ask(t, l, "three"); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	must.Do(t, l.Close())
	check.Is(t, check.Err(ask(t, l, "four")), ErrClosed, "after Close")
}

// What a program does wrong fails its case; the next one finds a new program.
func TestFailuresAreOneCasesOwn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ bad, says string }{
		"it crashes":         {`echo "out of paper" >&2; exit 3`, "it ended without an answer (exit status 3); it said: out of paper"},
		"it is silent":       {`sleep 100`, "no answer within 300ms"},
		"no JSON":            {`echo "red, I would say"`, "makes no sense"},
		"another field":      {`echo '{"classification":"red","confidence":0.6,"sure":true}'`, "sure: is no field of an answer (unknown_field); reasoning: is missing (missing_field)"},
		"no confidence":      {`echo '{"classification":"red"}'`, "confidence: is missing (missing_field); reasoning: is missing"},
		"another case's":     {`echo '{"id":"good","classification":"red","confidence":1,"reasoning":""}'`, `id: is "good", and the case is "bad" (identity)`},
		"a remand":           {`echo '{"classification":"red","confidence":1,"reasoning":"","remand":{"answers":[],"challenged":[]}}'`, "remand: stands where there was no feedback (remand_feedback)"},
		"half an answer":     {`printf '{"classification":"red"'; exit 0`, "its answer makes no sense: is not valid JSON at column 24"},
		"an answer cut off":  {`printf '{"classification":"red","confidence":1,"reasoning":""}'; exit 3`, "it ended in the middle of an answer (exit status 3)"},
		"two values":         {`echo '{"classification":"red","confidence":1} {}'`, "something follows the answer"},
		"a flood":            {`head -c 5000 /dev/zero | tr '\0' a; echo`, "longer than 4096 bytes"},
		"an unknown status":  {`echo '{"classification":"red","confidence":1,"remand":{"answers":[{"question_id":"q","status":"maybe","evidence":[]}],"challenged":[]}}'`, "remand.answers[0].status: \"maybe\" is no status"},
		"no such command":    {`exec /no/such/classifier`, "ended without an answer (exit status 12"},
		"evidence of no use": {`echo '{"classification":"red","confidence":1,"evidence":[{"source_ref":"a","content":"b"}]}'`, "evidence[0].relevance_confidence: is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := `while read -r line; do case "$line" in *'"bad"'*) ` + test.bad + `;; *) ` + red + `;; esac; done`
			l := open(t, script, Config{Timeout: 300 * time.Millisecond, AnswerBytes: 4096})
			if name != "it is silent" {
				l.config.Timeout = 20 * time.Second
			}
			check.Fails(t, check.Err(ask(t, l, "bad")), test.says)
			l.config.Timeout = 20 * time.Second
			if got, err := ask(t, l, "good"); err != nil || got.Answer.Classification != "red" {
				t.Errorf("the next case: %+v (%v)", got, err)
			}
		})
	}
}

// A program that does not read keeps nobody waiting, and is killed with the run.
func TestItIsKilledWithTheRun(t *testing.T) {
	t.Parallel()
	l := open(t, `sleep 1000; true`, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	cause := make(chan error, 1)
	go func() {
		big := abi.Document{Name: "log", Text: strings.Repeat("x", 1<<20)}
		_, err := l.Answer(ctx, host.LightRequest{Case: &abi.Case{ID: "a", Labels: []string{"red", "blue"}, Documents: []abi.Document{big}}})
		cause <- err
	}()
	for {
		l.mu.Lock()
		n := len(l.all)
		l.mu.Unlock()
		if n > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	cancel()
	check.Fails(t, <-cause, "canceled")
}

// What is written while nothing is asked is no answer to what is asked next.
func TestWhatNobodyAskedForIsNoAnswer(t *testing.T) {
	t.Parallel()
	const blue = `echo '{"classification":"blue","confidence":1,"reasoning":""}'`
	for name, more := range map[string]string{
		"at once":   `echo ` + "'" + `{"classification":"blue","confidence":1,"reasoning":""}` + "'",
		"later":     `sleep 0.05; ` + blue,
		"unended":   `sleep 0.05; printf '{"class'`,
		"far later": `(sleep 0.05; ` + blue + `) & true`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := open(t, `while read -r line; do `+red+`; `+more+`; done`, Config{})
			for _, id := range []string{"one", "two", "three"} {
				got, err := ask(t, l, id)
				if err != nil || got.Answer.Classification != "red" {
					t.Fatalf("%s: %+v (%v)", id, got, err)
				}
				for !l.idle[0].ear.unasked() {
					time.Sleep(time.Millisecond)
				}
			}
			check.Equal(t, l.Unasked(), 2, "programs")
			if err := l.Close(); err != nil || l.Unasked() != 3 {
				t.Errorf("%d programs (%v), want 3", l.Unasked(), err)
			}
		})
	}
}

// One that ends when it has answered is started again, and its last line needs no line feed.
func TestAProgramMayEndBehindAnAnswer(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "\\n"} {
		l := open(t, `read -r line; printf '{"classification":"red","confidence":0.6,"reasoning":""}`+end+`'`, Config{})
		for range 5 {
			if got, err := ask(t, l, "one"); err != nil || got.Answer.Classification != "red" {
				t.Fatalf("end %q: %+v (%v)", end, got, err)
			}
		}
		check.Equal(t, l.Unasked(), 0, "programs said too much")
	}
}

// Who leaves the program's group may hold the pipes for ever, and keeps nobody waiting.
func TestAProgramThatIsLeftBehindKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid: this system can't leave a session from a shell")
	}
	l := open(t, `setsid sleep 60 & exit 0`, Config{Timeout: 300 * time.Millisecond})
	for range 2 {
		begin := time.Now()
		_, err := ask(t, l, "one")
		check.Fails(t, err, "no answer within 300ms")
		if took := time.Since(begin); took > 20*time.Second {
			t.Errorf("it took %s", took)
		}
	}
	l.config.Timeout = time.Minute
	ctx, cancel := context.WithCancel(t.Context())
	timer := time.AfterFunc(100*time.Millisecond, cancel)
	defer timer.Stop()
	begin := time.Now()
	_, err := l.Answer(ctx, host.LightRequest{Case: &abi.Case{ID: "two", Labels: []string{"red", "blue"}}})
	if took := time.Since(begin); err == nil || took > 20*time.Second {
		t.Errorf("it took %s to be stopped: %v", took, err)
	}
}

func TestTheRequestHasTheShapeOfTheContract(t *testing.T) {
	t.Parallel()
	req := host.LightRequest{
		Case:     &abi.Case{ID: "a", Labels: []string{"red", "blue"}, Evidence: []abi.Evidence{{SourceRef: "never"}}},
		Previous: &abi.LightAnswer{Classification: "red", Confidence: 0.7, Reasoning: "<so>"},
		Evidence: []abi.Evidence{{SourceRef: "log", Content: "c", RelevanceConfidence: 0, Element: abi.Water}},
		Feedback: &abi.RemandFeedback{
			Challenged: []abi.ChallengedItem{{EvidenceIndex: 0, Why: "w"}}, Questions: []abi.Question{{ID: "q1", Question: "?"}},
			AlternativeHypothesis: &abi.AlternativeHypothesis{Label: "blue", Reasoning: "r"},
		},
	}
	got, err := encode(req)
	want := `{"case":{"id":"a","subject":"","labels":["red","blue"],"evidence":[{"source_ref":"log","content":"c","relevance_confidence":0,"element":"water"}],"documents":[]},` +
		`"feedback":{"challenged":[{"evidence_index":0,"why":"w"}],"alternative_hypothesis":{"label":"blue","reasoning":"r","support":[]},"questions":[{"id":"q1","question":"?"}]},` +
		`"previous":{"classification":"red","confidence":0.7,"reasoning":"<so>"}}` + "\n"
	if err != nil || string(got) != want || !json.Valid(got) {
		t.Errorf("%s (%v)", got, err)
	}
	if _, err := encode(host.LightRequest{Case: req.Case, Previous: &abi.LightAnswer{Confidence: math.NaN()}}); err == nil {
		t.Error("no number, and no error")
	}
	response, err := decode([]byte(`{"classification":"blue","confidence":0.5,"reasoning":"r","evidence":[{"source_ref":"s","content":"c","relevance_confidence":1}],`+
		`"remand":{"answers":[{"question_id":"q1","status":"found","evidence":[]}],"challenged":[{"evidence_index":0,"status":"withdrawn"}]}}`), &req)
	if err != nil || len(response.Evidence) != 1 || response.Remand.Answers[0].Status != abi.Found || response.Remand.Challenged[0].Status != abi.ItemWithdrawn {
		t.Errorf("%+v (%v)", response, err)
	}
}

// Keys of others are not for the program; all else of the environment is there.
func TestItDoesNotGetTheKeys(t *testing.T) {
	t.Setenv("SHADOWCOURT_TEST_KEY", "a secret")
	t.Setenv("SHADOWCOURT_TEST_KEY_2", "no secret")
	l := open(t, `while read -r line; do echo '{"classification":"red","confidence":0.6,"reasoning":"'"${SHADOWCOURT_TEST_KEY:-none}, $SHADOWCOURT_TEST_KEY_2"'"}'; done`,
		Config{Without: []string{"SHADOWCOURT_TEST_KEY"}})
	if got, err := ask(t, l, "one"); err != nil || got.Answer.Reasoning != "none, no secret" {
		t.Errorf("%+v (%v)", got, err)
	}
}
