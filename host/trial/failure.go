package trial

import "github.com/shadowcourt/shadowcourt/abi"

// Failure says what failed during a trial, and where. Fields that do not apply are empty (null in JSON). It is an error
// on its way to the result.
type Failure struct { //nolint:errname // a result holds it as data
	Code Cause `json:"code"`
	// Message names persona, module, node and what happened.
	Message string `json:"message"`
	Node    string `json:"node"`
	Persona string `json:"persona"`
	// Module is the digest of the module that failed.
	Module string `json:"module"`
	// Problems of the rejected artifact, in path order.
	Problems []Problem `json:"problems"`

	// ModuleName, Detail (the message without who and where) and HostSide (the module is not to blame) are for the host
	// and not part of the result.
	ModuleName string `json:"-"`
	Detail     string `json:"-"`
	HostSide   bool   `json:"-"`
}

// Problem is one rule that a rejected artifact breaks.
type Problem struct {
	Path   string   `json:"path"`
	Code   abi.Code `json:"code"`
	Detail string   `json:"detail"`
}

// NewFailure composes the message of a failure. persona and digest may be empty.
func NewFailure(cause Cause, node, persona, module, digest, detail string) *Failure {
	who := persona
	if who == "" {
		who = module
	}
	if digest != "" {
		who += " (" + digest + ")"
	}
	return &Failure{
		Code: cause, Node: node, Persona: persona, Module: digest, ModuleName: module, Detail: detail,
		Message: who + " at " + node + ": " + detail,
	}
}

// Error gives the message.
func (f *Failure) Error() string { return f.Message }

// NewProblems converts the problems of a rejected artifact.
func NewProblems(problems []abi.Problem) []Problem {
	out := make([]Problem, 0, len(problems))
	for _, p := range problems {
		out = append(out, Problem{p.Path.String(), p.Code, p.Detail})
	}
	return out
}
