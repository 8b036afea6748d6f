package guest

import "github.com/shadowcourt/shadowcourt/abi"

// The codes of the failures that the SDK itself answers with.
const (
	// BadRequest: the request breaks the contract; the message lists the problems.
	BadRequest = "bad_request"
	// NotServed: the module exports the call but registered no handler for it.
	NotServed = "not_served"
	// NoAnswer: the handler gave neither an artifact nor a failure.
	NoAnswer = "no_answer"
	// WrongFamily: the module doesn't play nodes of this family.
	WrongFamily = "wrong_family"
	// UnknownEvaluator: the module has no rule of this name.
	UnknownEvaluator = "unknown_evaluator"
	// BadParameter: the pipeline hands the node or the edge a parameter that makes no sense.
	BadParameter = "bad_parameter"
)

// Fail returns the failure with which a handler says that it cannot answer. It ends the trial as a mistrial that carries code and message.
func Fail(code, message string) *abi.Failure {
	return &abi.Failure{Code: code, Message: message}
}
