package builder

// The relevances above which an item is marked as high or medium.
const (
	highRelevance   = 0.8
	mediumRelevance = 0.6
)

// Relevance is the mark of a relevance in [0, 1].
func (l Labels) Relevance(relevance float64) string {
	switch {
	case relevance > highRelevance:
		return l.High
	case relevance > mediumRelevance:
		return l.Medium
	}
	return l.Low
}
