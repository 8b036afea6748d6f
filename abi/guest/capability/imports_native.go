//go:build !wasip1

package capability

func hostRecall(_, _ []byte) int { return 0 }

func hostCorrelate(_, _ []byte) int { return 0 }

func hostSource(_, _ []byte) int { return 0 }

func hostLog(_, _ []byte) int { return 0 }
