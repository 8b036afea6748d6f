package simulate

import (
	"math/rand/v2"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

// Shape is a world with a name.
type Shape struct {
	Name  string
	World World
}

// Docket draws n cases of a shape.
func (s *Shape) Docket(seed uint64, n int) []docket.Entry {
	return s.World.Draw(rand.New(rand.NewPCG(seed, 1)), n) //nolint:gosec // a simulation
}

// Shapes are worlds of every kind that fitting has to cope with. The seed
// changes texts.
func Shapes(seed uint64) []Shape {
	light := Witness{Accuracy: 0.62, Spread: 0.5}
	light5 := Witness{Accuracy: 0.55, Spread: 0.4}
	names := Names(4)
	return []Shape{
		{"independent witnesses", World{Labels: names, Light: light, Witnesses: []Witness{
			{Name: "a", Accuracy: 0.7, Spread: 0.8}, {Name: "b", Accuracy: 0.6, Spread: 0.8}, {Name: "c", Accuracy: 0.55, Spread: 0.8},
		}}},
		{"calibrated experts, nine labels", World{Labels: Names(9), Light: light5, Witnesses: []Witness{
			{Name: "a", Accuracy: 0.6, Spread: 1.5}, {Name: "b", Accuracy: 0.5, Spread: 1.5}, {Name: "c", Accuracy: 0.5, Spread: 1.5}, {Name: "d", Accuracy: 0.4, Spread: 1.5},
		}}},
		{"overconfident witness", World{Labels: Names(3), Light: light, Witnesses: []Witness{
			{Name: "loud", Accuracy: 0.4, States: 0.99}, {Name: "meek", Accuracy: 0.8, States: 0.6},
		}}},
		{"constant and chance witnesses", World{Labels: names, Light: light, Base: []float64{0.4, 0.3, 0.2, 0.1}, Witnesses: []Witness{
			{Name: "constant", Accuracy: 0.5, Says: "alpha", States: 0.95}, {Name: "chance", Accuracy: 0.25, States: 0.8}, {Name: "good", Accuracy: 0.75, Spread: 0.5},
		}}},
		{"correlated witnesses", World{Labels: names, Light: light, Witnesses: []Witness{
			{Name: "first", Accuracy: 0.6, States: 0.8},
			{Name: "echo", Copies: "first", CopyRate: 0.95, Accuracy: 0.6, States: 0.8},
			{Name: "echo2", Copies: "first", CopyRate: 0.95, Accuracy: 0.6, States: 0.8},
			{Name: "own", Accuracy: 0.72, States: 0.8},
		}}},
		{"reward models", World{Labels: Names(2), Light: light, Witnesses: []Witness{
			{Name: "rm1", Accuracy: 0.7, Spread: 1, Distort: 3},
			{Name: "rm2", Copies: "rm1", CopyRate: 0.5, Accuracy: 0.66, Spread: 1, Distort: 2},
			{Name: "rm3", Copies: "rm1", CopyRate: 0.5, Accuracy: 0.7, Spread: 1},
			{Name: "rm4", Accuracy: 0.6, Spread: 1, Distort: 4},
			{Name: "rm5", Accuracy: 0.5, States: 0.9},
		}}},
		{"scanner findings", World{Labels: []string{"true_positive", "false_positive"}, Base: []float64{0.3, 0.7}, Light: Witness{Accuracy: 0.6, Spread: 0.6}, Witnesses: []Witness{
			{Name: "taint", Accuracy: 0.75, Only: "true_positive", States: 0.9},
			{Name: "lint", Accuracy: 0.6, Only: "true_positive", States: 0.7},
			{Name: "history", Accuracy: 0.7, Spread: 0.8, Speaks: 0.5},
			{Name: "notes", Accuracy: 0.6, Names: 0.3},
		}, Text: Phrased(seed+1, 2, 6, 0.5, 0.2)}},
		{"confusing witnesses", World{Labels: Names(6), Light: light5, Witnesses: []Witness{
			{Name: "halves", Accuracy: 0.85, Confuses: true, States: 0.9}, {Name: "weak", Accuracy: 0.5, States: 0.6},
		}}},
		{"rare labels", World{Labels: Names(7), Base: []float64{0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01}, Light: light, Witnesses: []Witness{
			{Name: "a", Accuracy: 0.8, Spread: 1}, {Name: "b", Accuracy: 0.6, Spread: 0.5, Speaks: 0.7},
		}}},
		{"log excerpts", World{Labels: names, Light: light5, Groups: 15, Text: Phrased(seed+2, 4, 20, 0.85, 0.3)}},
		{"long logs", World{Labels: Names(3), Light: light5, Groups: 15, Text: Phrased(seed+3, 3, 120, 0.9, 0.3)}},
		{"issue texts", World{Labels: Names(6), Light: light5, Text: Topical(seed+4, 6, 80, 0.6)}},
		{"issue texts, little tilt", World{Labels: Names(3), Light: light, Text: Topical(seed+5, 3, 120, 0.35)}},
		{"texts and witnesses", World{Labels: Names(5), Light: light5, Groups: 20, Text: Phrased(seed+6, 5, 10, 0.6, 0.2), Witnesses: []Witness{
			{Name: "a", Accuracy: 0.55, Spread: 0.6}, {Name: "b", Accuracy: 0.45, Spread: 0.6, Speaks: 0.6},
		}}},
		{"nothing to find", World{Labels: Names(3), Light: light, Witnesses: []Witness{{Name: "chance", Accuracy: 1.0 / 3, States: 0.7}}, Text: Topical(seed+7, 3, 40, 0)}},
	}
}
