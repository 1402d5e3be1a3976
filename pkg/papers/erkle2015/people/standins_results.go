package people

// What is counted of the answers.
const (
	readAnswers       = "answers read"
	degenerateAnswers = "answers that do not compare three artists"
	allAnswers        = "answers kept"
	allDistinct       = "different answers kept"
	allConflicts      = "questions answered both ways"
	allCyclic         = "answers that take part in a contradiction"
	allOccurring      = "artists that occur"
	trainCyclic       = "training answers that take part in a contradiction"
	trainOccurring    = "artists that occur in training answers"
	atMostViolated    = "training answers that the best kernel violates, at most"
	againstTraining   = "test answers that contradict training answers"
)
