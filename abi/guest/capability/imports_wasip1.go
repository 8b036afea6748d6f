package capability

import "unsafe"

//go:wasmimport shadowcourt recall
func importRecall(request unsafe.Pointer, requestLength uint32, answer unsafe.Pointer, answerCapacity uint32) int32

//go:wasmimport shadowcourt correlate
func importCorrelate(request unsafe.Pointer, requestLength uint32, answer unsafe.Pointer, answerCapacity uint32) int32

//go:wasmimport shadowcourt source
func importSource(request unsafe.Pointer, requestLength uint32, answer unsafe.Pointer, answerCapacity uint32) int32

//go:wasmimport shadowcourt log
func importLog(request unsafe.Pointer, requestLength uint32, answer unsafe.Pointer, answerCapacity uint32) int32

func hostRecall(request, answer []byte) int {
	return int(importRecall(at(request), size(request), at(answer), size(answer)))
}

func hostCorrelate(request, answer []byte) int {
	return int(importCorrelate(at(request), size(request), at(answer), size(answer)))
}

func hostSource(request, answer []byte) int {
	return int(importSource(at(request), size(request), at(answer), size(answer)))
}

func hostLog(request, answer []byte) int {
	return int(importLog(at(request), size(request), at(answer), size(answer)))
}

func at(b []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(b)) }

func size(b []byte) uint32 { return uint32(len(b)) }
