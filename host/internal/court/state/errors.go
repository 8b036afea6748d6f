package state

import (
	"errors"

	"github.com/shadowcourt/shadowcourt/abi"
)

// RejectedError says why an update was rejected: no part of it was merged. It
// unwraps to the *abi.ValidationError that holds every problem with its path
// and code.
type RejectedError struct {
	// Channel is the first one with a problem, by its wire name; empty when
	// the update is no map of channels at all.
	Channel string
	// Problems of the whole update, in path order.
	Problems []abi.Problem

	cause error
}

// Error names the channel and gives every problem with its path.
func (e *RejectedError) Error() string {
	if e.Channel == "" {
		return "state: update rejected: " + e.cause.Error()
	}
	return "state: update rejected in channel " + e.Channel + ": " + e.cause.Error()
}

// Unwrap gives the *abi.ValidationError.
func (e *RejectedError) Unwrap() error { return e.cause }

func rejected(cause error) error {
	r := &RejectedError{cause: cause}
	if invalid, ok := errors.AsType[*abi.ValidationError](cause); ok {
		r.Problems = invalid.Problems
		r.Channel = channelOf(invalid.Problems)
	}
	return r
}

// channelOf gives the first step of the first path that has one.
func channelOf(problems []abi.Problem) string {
	for _, p := range problems {
		if len(p.Path) > 0 {
			return p.Path[:1].String()
		}
	}
	return ""
}
