package people

// What is counted of the training answers, that a claim speaks of.
const (
	trainCyclic    = "training answers that take part in a contradiction"
	atMostViolated = "training answers that the best kernel violates, at most"
)
