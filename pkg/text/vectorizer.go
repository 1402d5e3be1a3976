package text

import (
	"cmp"
	"fmt"
	"math"

	"metriclab/internal/enum"
	"metriclab/pkg/sparse"
)

// Norm says how long the vectors of a Vectorizer are. The zero value is NormUnit.
type Norm int

const (
	// NormUnit scales each vector to Euclidean norm 1.
	NormUnit Norm = iota
	// NormNone leaves the weights tf·idf as they are.
	NormNone
)

var normNames = enum.Of[Norm]("Norm(%d)", "unit", "none")

// String returns "unit" or "none".
func (n Norm) String() string { return normNames.Text(n) }

// VectorizerParams says how FitVectorizer chooses its vocabulary.
type VectorizerParams struct {
	// Size is the number of terms; 0 means 500. Otherwise positive.
	Size int
	// Select is the rule; the zero value is SelectDocumentFrequency.
	Select Selection
	// Relevant is the label of each document, for SelectInformationGain; nil
	// otherwise.
	Relevant []bool
	// Norm is the length of the vectors; the zero value is NormUnit.
	Norm Norm
}

// Resolved returns the parameters with their defaults filled in.
func (p VectorizerParams) Resolved() VectorizerParams {
	p.Size = cmp.Or(p.Size, 500)
	return p
}

func (p VectorizerParams) check(docs int) error {
	switch {
	case p.Size < 1:
		return fmt.Errorf("text: Size: %d is not allowed, want at least 1, or 0 for the default", p.Size)
	case p.Select != SelectDocumentFrequency && p.Select != SelectInformationGain:
		return fmt.Errorf("text: Select: %v is not allowed, want one of %q", p.Select, selectionNames.List())
	case p.Select == SelectInformationGain && len(p.Relevant) != docs:
		return fmt.Errorf("text: Relevant: %d labels are not allowed, want %d, one per document", len(p.Relevant), docs)
	case p.Select != SelectInformationGain && p.Relevant != nil:
		return fmt.Errorf("text: Relevant: labels are not allowed with %v, want nil", p.Select)
	case p.Norm != NormUnit && p.Norm != NormNone:
		return fmt.Errorf("text: Norm: %v is not allowed, want one of %q", p.Norm, normNames.List())
	}
	return nil
}

// Vectorizer maps documents to vectors of tf-idf over a fixed vocabulary: entry t of a
// document is w_t/‖w‖₂, or w_t with NormNone, with
//
//	w_t = tf_t·ln(N/df_t),
//
// tf_t the number of times the term stands in the document, df_t the number of
// the N documents of the fit that have it.
// Source: Salton and Buckley, Term-weighting approaches in automatic text
// retrieval, Information Processing & Management 24(5), 1988, Table 1, weight
// tfc, and tfx with NormNone.
//
// It depends on the documents of the fit alone: fitted on a whole stream it knows
// words and frequencies of the future, fitted on a beginning it does not. A
// Vectorizer is immutable and safe for concurrent use.
type Vectorizer struct {
	terms []string // ascending
	index map[string]int
	df    []int
	idf   []float64 // ln(N/df)
	n     int
	norm  Norm
}

// FitVectorizer returns the vectorizer of these documents. The vocabulary is the
// p.Size terms that come first by p.Select; ties go to the term that is first in
// the alphabet. It is smaller if the documents have fewer terms. The error names
// the parameter that is not allowed; no document, or none with a term, is an
// error too.
func FitVectorizer(docs []Bag, p VectorizerParams) (*Vectorizer, error) {
	p = p.Resolved()
	if err := p.check(len(docs)); err != nil {
		return nil, err
	}
	stats := vocabulary(docs, p)
	if len(stats) == 0 {
		return nil, fmt.Errorf("text: docs: %d documents without a term are not allowed, want at least one term", len(docs))
	}
	v := &Vectorizer{index: make(map[string]int, len(stats)), n: len(docs), norm: p.Norm}
	for i, s := range stats {
		v.terms = append(v.terms, s.term)
		v.index[s.term] = i
		v.df = append(v.df, s.df)
		v.idf = append(v.idf, math.Log(float64(len(docs))/float64(s.df)))
	}
	return v, nil
}

// Dim returns the number of terms.
func (v *Vectorizer) Dim() int { return len(v.terms) }

// Docs returns N, the number of documents of the fit.
func (v *Vectorizer) Docs() int { return v.n }

// Term returns term i and the number of documents of the fit that have it. The
// terms ascend. It panics unless 0 ≤ i < Dim.
func (v *Vectorizer) Term(i int) (term string, df int) { return v.terms[i], v.df[i] }

// Vector returns the vector of a document: of unit Euclidean norm unless the parameters
// say NormNone, or zero if no term of the vocabulary stands in it but those in all
// documents of the fit, whose weight is 0. Entries that are 0 are left out.
func (v *Vectorizer) Vector(doc Bag) sparse.Vector {
	var out sparse.Vector
	var sum float64
	for _, c := range doc { // ascending, as the terms
		i, ok := v.index[c.Term]
		if !ok || v.idf[i] == 0 {
			continue
		}
		w := float64(c.N) * v.idf[i]
		out.Index = append(out.Index, i)
		out.Value = append(out.Value, w)
		sum += w * w
	}
	if v.norm == NormNone {
		return out
	}
	norm := math.Sqrt(sum)
	for k := range out.Value {
		out.Value[k] /= norm
	}
	return out
}

// Matrix returns the vectors of documents as rows, Dim wide, of which those of empty documents
// are empty. The column means of the matrix of the training documents are Matrix.Means. The
// error is that of sparse.NewMatrix; no document is one.
func (v *Vectorizer) Matrix(docs []Bag) (*sparse.Matrix, error) {
	rows := make([]sparse.Vector, len(docs))
	for i, d := range docs {
		rows[i] = v.Vector(d)
	}
	m, err := sparse.NewMatrix(rows, v.Dim())
	if err != nil {
		return nil, fmt.Errorf("text: docs: %w", err)
	}
	return m, nil
}
