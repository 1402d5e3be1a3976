package kernels

import (
	"fmt"
	"strings"
)

// Names of the kernels that a Spec can hold.
const (
	LinearName     = "linear"
	PolynomialName = "polynomial"
	GaussianName   = "gaussian"
)

// Spec is a kernel by name and parameters, as files hold it. A parameter that
// the kernel does not have is nil.
type Spec struct {
	Name string `json:"name" name:"kernel" words:"gaussian|linear|polynomial" doc:"linear x·z, polynomial (x·z + offset)^degree, or gaussian exp(−kernel-gamma·‖x−z‖²)"`
	// Gamma is γ of the Gaussian kernel, > 0.
	Gamma *float64 `json:"gamma,omitempty" range:"> 0" name:"kernel-gamma" needs:"kernel=gaussian" auto:"1/dim" doc:"width of the gaussian kernel, in 1/feature²"`
	// Degree of the polynomial kernel is from 1 to MaxDegree.
	Degree *int `json:"degree,omitempty" range:">= 1 and <= 1000000" needs:"kernel=polynomial" default:"2" doc:"degree of the polynomial kernel"`
	// Offset of the polynomial kernel is ≥ 0.
	Offset *float64 `json:"offset,omitempty" range:">= 0" needs:"kernel=polynomial" default:"1" doc:"offset of the polynomial kernel"`
}

// SpecOf returns the Spec of k. It returns an error if k is not a Linear,
// Polynomial or Gaussian of this package, or a zero value without parameters: a
// function has no name under which to find it again.
func SpecOf(k Kernel) (Spec, error) {
	var s Spec
	switch k := k.(type) {
	case Linear:
		s.Name = LinearName
	case Polynomial:
		s = Spec{Name: PolynomialName, Degree: &k.degree, Offset: &k.offset}
	case Gaussian:
		s = Spec{Name: GaussianName, Gamma: &k.gamma}
	default:
		return Spec{}, fmt.Errorf("kernels: a %T cannot be saved, want Linear, Polynomial or Gaussian", k)
	}
	if _, err := s.Kernel(); err != nil {
		return Spec{}, err
	}
	return s, nil
}

// Kernel returns the kernel that s describes. It returns an error if the name is
// unknown, or a parameter is missing, out of range or not one of that kernel.
func (s Spec) Kernel() (Kernel, error) {
	var want []string
	switch s.Name {
	case LinearName:
	case PolynomialName:
		want = []string{"degree", "offset"}
	case GaussianName:
		want = []string{"gamma"}
	default:
		return nil, fmt.Errorf("kernels: name: %q is not allowed, want one of %s, %s, %s", s.Name, LinearName, PolynomialName, GaussianName)
	}
	var got []string
	if s.Degree != nil {
		got = append(got, "degree")
	}
	if s.Gamma != nil {
		got = append(got, "gamma")
	}
	if s.Offset != nil {
		got = append(got, "offset")
	}
	if g, w := strings.Join(got, ", "), strings.Join(want, ", "); g != w {
		return nil, fmt.Errorf("kernels: parameters of the %s kernel are [%s], want [%s]", s.Name, g, w)
	}
	switch s.Name {
	case PolynomialName:
		return erased(NewPolynomial(*s.Degree, *s.Offset))
	case GaussianName:
		return erased(NewGaussian(*s.Gamma))
	}
	return Linear{}, nil
}

// erased hides the type of a kernel, and the kernel if there is an error.
func erased[K Kernel](k K, err error) (Kernel, error) {
	if err != nil {
		return nil, err
	}
	return k, nil
}
