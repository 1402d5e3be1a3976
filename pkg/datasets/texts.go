package datasets

// Texts is a collection of documents, each of one class. A Texts is not changed by its methods,
// which are safe for concurrent use.
type Texts struct {
	Name    string
	Docs    []Document
	Y       []int    // of each document, an index into Classes
	Classes []string // ascending
	// Dropped names the documents that the reader left out since their text is empty, in the
	// order of the files.
	Dropped []string
}

// Document is a text and where it is from.
type Document struct {
	// ID is the document's name in its collection: "sci.space/60862", "CRAN 471".
	ID   string
	Text string
}

// N returns the number of documents.
func (t *Texts) N() int { return len(t.Docs) }

// Labels returns the classes of the documents idx, in that order. It panics if an index is out
// of range.
func (t *Texts) Labels(idx []int) []int {
	out := make([]int, len(idx))
	for k, i := range idx {
		out[k] = t.Y[i]
	}
	return out
}

// Counts returns how many documents each class has.
func (t *Texts) Counts() []int {
	out := make([]int, len(t.Classes))
	for _, y := range t.Y {
		out[y]++
	}
	return out
}
