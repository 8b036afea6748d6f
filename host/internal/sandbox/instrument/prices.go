package instrument

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/wasmfile"

// Class is a row of the price list: instructions that cost the same.
type Class struct {
	Name  string
	Units int64 // of one, beside what depends on lengths
	ops   []span
}

// span is a range of opcodes, both ends included.
type span struct{ from, to wasmfile.Opcode }

// The price list. A unit pays for at most two nanoseconds, with operands that take long, on the machine that docs/limits.md names; "make
// fuel-zoo" measures it. What the compiler makes no code of is free: what uses it pays.
//
// A load costs what one takes that misses the caches while others are under way. Where every load waits for the memory and for the load
// before, it takes 200 ns and more, and the wall clock ends the chain before fuel does. That cannot be the price: the largest cases of the
// conformance kit make 250 million loads, nearly all of them from the first cache.
//
// A change of this list changes Version.
var classes = []Class{
	{"no code", 0, []span{
		{0x01, 0x03}, {0x05, 0x05}, {0x0b, 0x0b}, {0x1a, 0x1a}, {0x20, 0x22}, {0x41, 0x44}, vectors(12, 12),
	}},
	{"simple", 1, []span{
		{0x00, 0x00},
		{0x1b, 0x1c},
		{0x23, 0x24},
		{0x45, 0x6c},
		{0x71, 0x7e},
		{0x83, 0x8c},
		{0x99, 0x9a},
		{0xa7, 0xa7},
		{0xac, 0xad},
		{0xbc, 0xc4},
		{0xd0, 0xd1},
	}},
	{"branch", 1, []span{{0x04, 0x04}, {0x0c, 0x0d}, {0x0f, 0x0f}}},
	{"branch table", 6, []span{{0x0e, 0x0e}}},
	{"call", 4, []span{{0x10, 0x10}}},
	{"indirect call", 8, []span{{0x11, 0x11}}},
	{"load", 8, []span{{0x28, 0x35}, vectors(0, 10), vectors(84, 87), vectors(92, 93)}},
	{"store", 12, []span{{0x36, 0x3e}, vectors(11, 11), vectors(88, 91)}},
	{"size of memory or table", 2, []span{{0x3f, 0x3f}, bulk(16, 16)}},
	{"table entry", 4, []span{{0x25, 0x26}, bulk(9, 9), bulk(13, 13)}},
	{"function reference", 192, []span{{0xd2, 0xd2}}},
	{"integer division", 8, []span{{0x6d, 0x70}, {0x7f, 0x82}}},
	{"float arithmetic", 3, []span{
		{0x8d, 0x90}, {0x92, 0x94}, {0x96, 0x98}, {0x9b, 0x9e}, {0xa0, 0xa2}, {0xa4, 0xa6},
	}},
	{"float division and square root", 8, []span{{0x91, 0x91}, {0x95, 0x95}, {0x9f, 0x9f}, {0xa3, 0xa3}}},
	{"float conversion", 6, []span{{0xa8, 0xab}, {0xae, 0xbb}, bulk(0, 7)}},
	{"simple vector", 2, []span{
		vectors(13, 83), vectors(96, 97), vectors(99, 102), vectors(107, 115), vectors(118, 121), vectors(123, 123),
		vectors(128, 129), vectors(131, 147), vectors(149, 153), vectors(155, 155), vectors(160, 161), vectors(163, 164),
		vectors(167, 174), vectors(177, 177), vectors(181, 185), vectors(192, 193), vectors(195, 196), vectors(199, 203),
		vectors(205, 206), vectors(209, 209), vectors(214, 219), vectors(224, 225), vectors(236, 237),
	}},
	{"long vector", 4, []span{
		vectors(98, 98), vectors(103, 106), vectors(116, 117), vectors(122, 122), vectors(124, 127), vectors(130, 130),
		vectors(148, 148), vectors(156, 159), vectors(186, 186), vectors(188, 191), vectors(213, 213), vectors(220, 223),
		vectors(228, 230), vectors(234, 235), vectors(240, 242), vectors(246, 247),
	}},
	{"vector division, conversion, extremum", 12, []span{
		vectors(94, 95), vectors(204, 204), vectors(227, 227), vectors(231, 233), vectors(239, 239), vectors(243, 245), vectors(248, 255),
	}},
	{"bulk move", 64, []span{bulk(8, 8), bulk(10, 12), bulk(14, 14), bulk(17, 17)}},
	{"growth", 256, []span{{0x40, 0x40}, bulk(15, 15)}},
}

// What is paid beside, by lengths.
const (
	moveShift  = 2  // bytes that are moved: a unit for each 4; for each entry of a table, one
	pageShift  = 13 // pages that are added: 8192 units for each; for each entry of a table, one
	joinUnits  = 2  // where ways join: at the end of a block, and in each turn of a loop
	freeLocals = 12 // and for each local that differs by the way that was taken, beyond these, one
)

func bulk(from, to wasmfile.Opcode) span    { return span{0xfc<<16 | from, 0xfc<<16 | to} }
func vectors(from, to wasmfile.Opcode) span { return span{0xfd<<16 | from, 0xfd<<16 | to} }

// priceList has a class and one more for each opcode; zero: there is no price.
type priceList struct{ plain, bulk, vector [256]byte }

var prices = newPriceList()

func newPriceList() *priceList {
	p := &priceList{}
	for i, class := range classes {
		for _, s := range class.ops {
			for op := s.from; op <= s.to; op++ {
				*p.at(op) = byte(i + 1)
			}
		}
	}
	return p
}

func (p *priceList) at(op wasmfile.Opcode) *byte {
	switch op >> 16 {
	case 0xfc:
		return &p.bulk[op&0xff]
	case 0xfd:
		return &p.vector[op&0xff]
	}
	return &p.plain[op&0xff]
}

// Price is the class of an instruction, and whether it has one. What has none is rejected.
func Price(op wasmfile.Opcode) (Class, bool) {
	i := *prices.at(op)
	if i == 0 {
		return Class{}, false
	}
	return classes[i-1], true
}
