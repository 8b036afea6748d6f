package fit

// weigh gives each case of a group of m the weight 1/(1 + (m-1)*likeness), the
// design effect of samples that are drawn in clusters (Kish 1965): cases of a
// group that are alike tell less than as many of several groups.
func (c *corpus) weigh() {
	members := make([]float64, c.groups)
	for i := range c.samples {
		members[c.samples[i].group]++
	}
	likeness := c.likeness()
	for i := range c.samples {
		c.samples[i].weight = 1 / (1 + (members[c.samples[i].group]-1)*likeness)
	}
}

// likeness is how much more often two cases of one group have the same truth
// than any two: the intraclass correlation of the true labels, at least 0.
func (c *corpus) likeness() float64 {
	k := len(c.labels)
	shares, total := make([]float64, k), 0.0
	sizes, trues := make([]float64, c.groups), make([][]float64, c.groups)
	for i := range c.samples {
		s := &c.samples[i]
		if s.truth < 0 {
			continue
		}
		if trues[s.group] == nil {
			trues[s.group] = make([]float64, k)
		}
		trues[s.group][s.labels[s.truth]]++
		sizes[s.group]++
		shares[s.labels[s.truth]]++
		total++
	}
	chance := 0.0
	for _, n := range shares {
		chance += n * n / (total * total)
	}
	same, pairs := 0.0, 0.0
	for g := range trues {
		pairs += sizes[g] * (sizes[g] - 1)
		for _, n := range trues[g] {
			same += n * (n - 1)
		}
	}
	if pairs == 0 || chance >= 1 {
		return 0
	}
	return max(0, (same/pairs-chance)/(1-chance))
}
