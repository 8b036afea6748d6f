// Command loop is a guest that works: at the node "sieve" it counts primes in
// a tight loop, at "wait" it asks for the time again and again and never
// answers.
package main

import (
	"strconv"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/host/lab/bench/guests/verdict"
)

func init() { node.Handle(work) }

func main() {}

func work(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	switch r.Node {
	case "sieve":
		return nil, guest.Fail("primes", strconv.Itoa(primes()))
	case "wait":
		for {
			time.Now()
		}
	default:
		return verdict.Affirm(r)
	}
}

const limit = 1_000_000

var composite [limit]bool

// primes counts the primes below limit by the sieve of Eratosthenes.
func primes() int {
	clear(composite[:])
	count := 0
	for i := 2; i < limit; i++ {
		if composite[i] {
			continue
		}
		count++
		for j := 2 * i; j < limit; j += i {
			composite[j] = true
		}
	}
	return count
}
