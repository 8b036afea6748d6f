package chat

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	promptfile "github.com/shadowcourt/shadowcourt/abi/prompt"
)

// BadPrompt is the code of the failure of a module whose prompt makes no sense.
const BadPrompt = "bad_prompt"

// prompt is a prompt file. See package abi/prompt, with which the host checks it before any trial.
type prompt struct {
	*promptfile.Prompt
	samples        int
	temperature    float64
	answerTokens   int
	documentTokens int
}

func parsePrompt(text string) (*prompt, *abi.Failure) {
	p, faults := promptfile.Parse(text)
	if len(faults) > 0 {
		return nil, badPrompt("line " + strconv.Itoa(faults[0].Line) + ": " + faults[0].What)
	}
	return &prompt{p, p.Samples, p.Temperature, p.AnswerTokens, p.DocumentTokens}, nil
}

func badPrompt(why string) *abi.Failure { return guest.Fail(BadPrompt, "the prompt: "+why) }

// of is what the prompt says at a node: the file's own text, or where the file has no sections, what the module has.
func (p *prompt) of(family abi.Family, usual string) (system, user string, ok bool) {
	return p.At(family, usual)
}

// fill puts values in the place of {names}.
func fill(template string, value func(name string) (string, bool)) (string, *abi.Failure) {
	text, unknown := promptfile.Fill(template, value)
	if unknown != "" {
		return "", badPrompt("unknown placeholder {" + unknown + "}")
	}
	return text, nil
}

// Clip cuts a text to some bytes, between characters.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xc0 == 0x80 {
		most--
	}
	return s[:most] + "..."
}
