// Command promises is a module that challenges nothing.
package main

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
)

func init() {
	contest.Handle(func(*abi.ContestRequest) ([]abi.Challenge, *abi.Failure) { return nil, nil })
}

func main() {}
