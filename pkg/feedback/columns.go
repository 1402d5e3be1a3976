package feedback

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"metriclab/internal/closest"
	"metriclab/internal/plural"
)

// Form says how to read a file where its head does not. The zero value finds out.
type Form struct {
	// Columns gives each column of a CSV file by its name in the header or its number from 1, and of JSON lines by its field: {"a": "head", "near": "winner", "far": "loser"}.
	// All that are needed must be given.
	Columns map[string]string
	// NoHeader says that the first row of a CSV file is data.
	NoHeader bool
}

// ParseColumns reads Columns from a text such as "a=head,near=winner,far=loser".
func ParseColumns(text string) (map[string]string, error) {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		role, name, ok := strings.Cut(part, "=")
		role, name = strings.TrimSpace(role), strings.TrimSpace(name)
		if _, twice := out[role]; !ok || role == "" || name == "" || twice {
			return nil, errors.New("want each column once, such as a=head,near=winner,far=loser or i=1,j=2,label=5")
		}
		out[role] = name
	}
	return out, nil
}

// kind is what a file tells: its columns, and the names that files have for them.
type kind struct {
	// roles are the columns in the order of a file without a header. The last one of triplets may be missing.
	roles  []string
	needed int
	alike  []group
	// says are, of answers about three objects, the comparisons that each is: the places of a, near and far among the cells. nil is one, in the order of
	// the cells.
	says [][3]int
	noun string // of such an answer
}

// group are columns whose names belong together: the names of a set are used only all together, if a file has them.
type group struct {
	first int
	sets  [][]string
}

var pairKind = kind{
	roles: []string{"i", "j", "label"}, needed: 3,
	alike: []group{
		{0, [][]string{{"i", "j"}, {"a", "b"}, {"x", "y"}, {"left", "right"}, {"first", "second"}, {"item1", "item2"}, {"object1", "object2"}, {"id1", "id2"}, {"row1", "row2"}, {"qid1", "qid2"}}},
		{2, [][]string{{"label"}, {"similar"}, {"same"}, {"alike"}, {"match"}, {"is_similar"}, {"is_same"}, {"is_duplicate"}}},
	},
}

var tripletKind = kind{
	roles: []string{"a", "near", "far", "response"}, needed: 3,
	alike: []group{
		{0, [][]string{{"a", "near", "far"}, {"anchor", "positive", "negative"}, {"head", "winner", "loser"}, {"head_object", "winner_object", "loser_object"}, {"reference", "closer", "farther"}, {"query", "near", "far"}}},
		{3, [][]string{{"response"}, {"responses"}}},
	},
}

// two are the names of the other two of three objects.
var two = group{1, [][]string{{"a", "b"}, {"i", "j"}, {"first", "second"}, {"left", "right"}, {"other1", "other2"}, {"object1", "object2"}, {"item1", "item2"}}}

// oddKind says which of three objects is the odd one out: a is nearer to b than to it, and so is b to a.
var oddKind = kind{
	roles: []string{"odd", "a", "b"}, needed: 3, alike: []group{{0, [][]string{{"odd"}, {"odd_one"}, {"odd_one_out"}, {"outlier"}}}, two},
	says: [][3]int{{1, 2, 0}, {2, 1, 0}}, noun: "the odd one out",
}

// centralKind says which of three objects is the most central: a is nearer to it than to b, and so is b.
var centralKind = kind{
	roles: []string{"central", "a", "b"}, needed: 3, alike: []group{{0, [][]string{{"central"}, {"most_central"}, {"centre"}, {"center"}, {"middle"}}}, two},
	says: [][3]int{{1, 0, 2}, {2, 0, 1}}, noun: "the most central",
}

// tripletKinds are those of ReadTriplets, the usual one first.
var tripletKinds = []*kind{&tripletKind, &oddKind, &centralKind}

// resolve finds the columns by their names, of the first kind that they are. The error is that of the kind that they are most like.
func (t *table) resolve(names []string) (at []int, err error) {
	for i, k := range t.kinds {
		at, e := k.resolve(names)
		if e == nil {
			t.kind = k
			return at, nil
		}
		leads := slices.ContainsFunc(k.alike[0].sets, func(set []string) bool {
			return slices.ContainsFunc(names, func(name string) bool { return plain(name) == plain(set[0]) })
		})
		if i == 0 || leads {
			err = e
		}
	}
	return nil, err
}

// given finds the columns by Form.Columns, which have the role of an odd one out or a most central one if that is what they are of.
func (t *table) given(names []string) (at []int, named bool, err error) {
	t.kind = t.kinds[0]
	for _, k := range t.kinds[1:] {
		if _, ok := t.form.Columns[k.roles[0]]; ok {
			t.kind = k
		}
	}
	return t.kind.given(t.form.Columns, names)
}

// known lists the names of columns that are known.
func (t *table) known() string {
	out := t.kinds[0].known()
	for _, k := range t.kinds[1:] {
		out += "; or " + strings.Join(k.roles, ", ")
	}
	return out
}

// known lists the names of columns that are known.
func (k *kind) known() string {
	var parts []string
	for _, g := range k.alike {
		var sets []string
		for _, s := range g.sets {
			sets = append(sets, strings.Join(s, ", "))
		}
		parts = append(parts, strings.Join(sets, "; "))
	}
	and := "; with "
	if k.needed < len(k.roles) {
		and = "; and, if there are responses, "
	}
	return strings.Join(parts, and)
}

// plain is a name without case, blanks and marks.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			return unicode.ToLower(c)
		}
		return -1
	}, name)
}

// errUnknown says that no name is known.
var errUnknown = errors.New("no name of a column is known")

// resolve returns the column of each role, -1 for one that is missing and may be. It returns errUnknown if the names are those of no role at all.
func (k *kind) resolve(header []string) ([]int, error) {
	at := slices.Repeat([]int{-1}, len(k.roles))
	where := map[string]int{}
	for i, name := range header {
		if _, twice := where[plain(name)]; !twice {
			where[plain(name)] = i
		}
	}
	none := true
	for _, g := range k.alike {
		whole := slices.IndexFunc(g.sets, func(set []string) bool {
			return !slices.ContainsFunc(set, func(name string) bool { _, ok := where[plain(name)]; return !ok })
		})
		for role := range g.sets[0] {
			for s, set := range g.sets {
				i, ok := where[plain(set[role])]
				if !ok || whole >= 0 && s != whole {
					continue
				}
				if at[g.first+role] >= 0 && at[g.first+role] != i {
					return nil, fmt.Errorf("%s is %s or %s", k.roles[g.first+role], clip(header[at[g.first+role]]), clip(header[i]))
				}
				at[g.first+role], none = i, false
			}
		}
	}
	if none {
		return nil, errUnknown
	}
	for role, i := range at[:k.needed] {
		if i < 0 {
			return nil, fmt.Errorf("no column is called %s", k.roles[role])
		}
		for other, j := range at[:role] {
			if i == j {
				return nil, fmt.Errorf("%s is both %s and %s", clip(header[i]), k.roles[other], k.roles[role])
			}
		}
		if n := slices.IndexFunc(header, func(name string) bool { return plain(name) == plain(header[i]) }); n >= 0 {
			if m := slices.IndexFunc(header[n+1:], func(name string) bool { return plain(name) == plain(header[i]) }); m >= 0 {
				return nil, fmt.Errorf("two columns are called %s", clip(header[i]))
			}
		}
	}
	return at, nil
}

// given returns the column of each role that Form.Columns gives, and whether one is given by a name. names are those of the file.
func (k *kind) given(columns map[string]string, names []string) (at []int, named bool, err error) {
	at = slices.Repeat([]int{-1}, len(k.roles))
	for role, column := range columns {
		r := slices.Index(k.roles, role)
		if r < 0 {
			return nil, false, fmt.Errorf("columns: %s is not known, want %s", clip(role), strings.Join(k.roles, ", "))
		}
		i := slices.Index(names, column)
		if n, err := strconv.Atoi(column); err == nil && n >= 1 && n <= len(names) {
			i = n - 1
		} else if i >= 0 {
			named = true
		} else {
			return nil, false, fmt.Errorf("columns: %s: no column is called %s; the file has %s", role, clip(column), list(names))
		}
		at[r] = i
	}
	for r, role := range k.roles {
		if at[r] < 0 && r < k.needed {
			return nil, false, fmt.Errorf("columns: %s is not given, want %s", role, strings.Join(k.roles[:k.needed], ", "))
		}
		for q := range r {
			if at[r] >= 0 && at[q] == at[r] {
				return nil, false, fmt.Errorf("columns: %s and %s are one column", k.roles[q], role)
			}
		}
	}
	return at, named, nil
}

// list shows some names.
func list(names []string) string {
	const shown = 8
	var some []string
	for _, n := range names[:min(len(names), shown)] {
		some = append(some, clip(n))
	}
	if more := len(names) - len(some); more > 0 {
		some = append(some, fmt.Sprintf("%d more", more))
	}
	return strings.Join(some, ", ")
}

// told is what a header was read as, or "" if it is the plain one.
func (k *kind) told(header []string, at []int) string {
	var parts, rest []string
	usual := true
	for role, i := range at {
		if i >= 0 {
			usual = usual && plain(header[i]) == k.roles[role] && role < k.needed
			parts = append(parts, k.roles[role]+" = "+spelled(header[i]))
		}
	}
	for i, name := range header {
		if !slices.Contains(at, i) {
			rest = append(rest, name)
		}
	}
	if usual && len(rest) == 0 {
		return ""
	}
	out := strings.Join(parts, ", ")
	if len(rest) > 0 {
		out += "; not used: " + list(rest)
	}
	return out
}

// spelled is a name as it is, or quoted if that is needed to read it.
func spelled(name string) string {
	if q := clip(name); q != `"`+name+`"` || name == "" {
		return q
	}
	return name
}

// signs reads labels and responses: 1 or true for one side, −1, or in its place 0 or false, for the other.
type signs struct {
	zero, minus, words int // how many
}

// read returns +1 or −1. field is the name of the column, for its error.
func (s *signs) read(cell, plus, other string) (int, error) {
	v, ok := closest.Whole(cell)
	switch {
	case strings.EqualFold(cell, "true"):
		s.words++
		return 1, nil
	case strings.EqualFold(cell, "false"):
		s.words++
		return -1, nil
	case ok && v == 1:
		return 1, nil
	case ok && v == 0:
		s.zero++
	case ok && v == -1:
		s.minus++
	default:
		return 0, fmt.Errorf("%s is not allowed, want 1 or true (%s), or -1, 0 or false (%s)", clip(cell), plus, other)
	}
	if s.zero > 0 && s.minus > 0 {
		return 0, fmt.Errorf("%s beside %s: 0 means %s only where no -1 is; delete the rows of 0 if they mean unknown", clip(cell), map[bool]string{true: "-1", false: "0"}[v == 0], other)
	}
	return -1, nil
}

// note says that 0 was read as −1.
func (s *signs) note(column, other string) string {
	if s.zero == 0 {
		return ""
	}
	return fmt.Sprintf("%s 0 is read as %s", column, other)
}

// ways counts answers by question: [0] one way, [1] the other.
type ways[Q comparable] map[Q]*[2]int

func (w ways[Q]) add(q Q, way int) {
	if w[q] == nil {
		w[q] = new([2]int)
	}
	w[q][way]++
}

func (w ways[Q]) agreement() Agreement {
	a := Agreement{Questions: len(w)}
	for _, v := range w {
		if least := min(v[0], v[1]); least > 0 {
			a.Contradicted++
			a.Outvoted += least
		}
	}
	return a
}

// spellings finds the objects that a file writes in several ways which are one: 1 and 1.0.
type spellings struct {
	first map[int]string
	two   []string
}

// name returns the one name of a cell: a whole number is written with digits alone.
func (s *spellings) name(cell string) string {
	v, ok := closest.Whole(cell)
	if !ok {
		return cell
	}
	one := strconv.Itoa(v)
	if was, seen := s.first[v]; !seen {
		if s.first == nil {
			s.first = map[int]string{}
		}
		s.first[v] = cell
	} else if was != cell && len(s.two) < 2 {
		s.two = []string{was, cell}
	}
	return one
}

func (s *spellings) note() string {
	if s.two == nil {
		return ""
	}
	return fmt.Sprintf("%s and %s are one object: whole numbers count by their value", clip(s.two[0]), clip(s.two[1]))
}

// unknownHeader is the error for a first row that is neither data nor names that are known.
func (t *table) unknownHeader(line int, header []string, hint string) error {
	return fmt.Errorf("feedback: %s: the first row (%s) is not known as a header%s; known are %s; name the columns by --columns %s", t.place(line), list(header), hint, t.known(), t.kind.example())
}

// example is a value of --columns.
func (k *kind) example() string {
	var parts []string
	for i, role := range k.roles[:k.needed] {
		parts = append(parts, role+"="+strconv.Itoa(i+1))
	}
	return strings.Join(parts, ",")
}

// groupsOf returns how many groups of objects the triplets leave unconnected, and the number of objects that one triplet alone names.
func (t *Triplets) groupsOf() (groups, once int) {
	parent, count := map[int]int{}, map[int]int{}
	find := func(i int) int {
		p, ok := parent[i]
		if !ok {
			parent[i], p = i, i
		}
		for p != parent[p] {
			parent[p] = parent[parent[p]]
			p = parent[p]
		}
		parent[i] = p
		return p
	}
	for _, v := range t.List {
		for _, o := range []int{v.A, v.Near, v.Far} {
			count[o]++
			parent[find(o)] = find(v.A)
		}
	}
	for o := range parent {
		if find(o) == o {
			groups++
		}
		if count[o] == 1 {
			once++
		}
	}
	return groups, once
}

// notesOf are what a reader should know of triplets beside their counts.
func (t *Triplets) notesOf() (notes []string) {
	groups, once := t.groupsOf()
	if groups > 1 {
		notes = append(notes, fmt.Sprintf("the objects are %s that no triplet connects: distances from one group to another are not learned", plural.Of(groups, "group")))
	}
	if once > 0 {
		notes = append(notes, fmt.Sprintf("in a single triplet: %s", plural.Of(once, "object")))
	}
	return append(notes, closest.AlikeNote("objects", t.Names))
}

// notesOf are what a reader should know of pairs.
func (p *Pairs) notesOf() (notes []string) {
	a := p.Agreement()
	if a.Contradicted > 0 {
		notes = append(notes, fmt.Sprintf("labelled both ways: %s; any distance is wrong on at least %.2f %% of the labels", plural.Of(a.Contradicted, "pair"), 100*float64(a.Outvoted)/float64(len(p.Links))))
	}
	if repeats := len(p.Links) - a.Questions; repeats > a.Outvoted {
		notes = append(notes, fmt.Sprintf("labelled before: the pairs of %d of %s", repeats, plural.Of(len(p.Links), "label")))
	}
	switch p.Similar() {
	case len(p.Links):
		notes = append(notes, "all pairs are similar: nothing says what is to be far apart")
	case 0:
		notes = append(notes, "all pairs are dissimilar: nothing says what is to be near")
	}
	return notes
}
