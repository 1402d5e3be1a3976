package datasets

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"gonum.org/v1/gonum/mat"

	"metriclab/pkg/metric"
)

const (
	// MaxTripletBytes is the largest text of comparisons that is read, 64 MiB: ten
	// times the largest in the registry.
	MaxTripletBytes = 64 << 20
	// MaxTripletObjects is the largest number of objects of a TripletSet that is
	// read from a file.
	MaxTripletObjects = 1 << 20
)

// tripletBuilder collects comparisons and counts what is dropped.
type tripletBuilder struct{ set *TripletSet }

func newTripletBuilder(name string, objects int) tripletBuilder {
	return tripletBuilder{&TripletSet{Name: name, Objects: objects}}
}

// add takes the triplets that one answer of the source stands for. It drops them, and
// counts the answer, if the objects of one are not distinct.
func (b tripletBuilder) add(ts ...metric.Triplet) {
	b.set.Report.Read++
	if slices.ContainsFunc(ts, metric.Triplet.Degenerate) {
		b.set.Report.Degenerate++
		return
	}
	b.set.Triplets = append(b.set.Triplets, ts...)
}

// finish counts.
func (b tripletBuilder) finish() (*TripletSet, error) {
	if len(b.set.Triplets) == 0 {
		return nil, fmt.Errorf("datasets: %s: no comparison that can be used, of %d, want at least 1", b.set.Name, b.set.Report.Read)
	}
	counts, err := CountTriplets(b.set.Objects, b.set.Triplets)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", b.set.Name, err)
	}
	b.set.Report.TripletCounts = counts
	return b.set, nil
}

// checkObjects returns an error unless a source may have that many objects.
func checkObjects(objects int) error {
	if objects < 3 || objects > MaxTripletObjects {
		return fmt.Errorf("datasets: objects: %d is not allowed, want 3 to %d", objects, MaxTripletObjects)
	}
	return nil
}

// ReadMATTriplets reads the comparisons of a MATLAB 5 MAT-file as van der Maaten and
// Weinberger (2012) released them with the code of Stochastic Triplet Embedding. They are
// the m×3 variable "triplets", of numbers from 1 to objects: a row (i, j, k) says that i
// is more like j than like k. Objects are renumbered from 0. Rows whose objects are not
// distinct are dropped and counted.
//
// Such a file is little-endian and holds one variable, compressed by zlib, whose numbers
// stand in the smallest type that holds them. Everything else is refused with a
// *FormatError that carries name and the offset, which inside the variable counts from
// the beginning of what was compressed; so is more than maxMATBytes, before or after.
// Memory stays in proportion to what is read. The kept reader of MAT-files in Go
// (scigolib/matlab v0.3.1) reads this file, too, but allocates up to 2 GB on the word of
// a header.
func ReadMATTriplets(r io.Reader, name string, objects int) (*TripletSet, error) {
	return readMATTriplets(r, name, objects, math.MaxInt)
}

// readMATTriplets is ReadMATTriplets of at most that many rows.
func readMATTriplets(r io.Reader, name string, objects, most int) (*TripletSet, error) {
	if err := checkObjects(objects); err != nil {
		return nil, err
	}
	data, err := readAtMost(r, name, maxMATBytes)
	if err != nil {
		return nil, err
	}
	outer := &matFile{name, binary.LittleEndian, data}
	if err := outer.header("\x00\x01IM", "little-endian"); err != nil {
		return nil, err
	}
	variable, err := outer.inflate()
	if err != nil {
		return nil, err
	}
	f := &matFile{name + " (decompressed)", binary.LittleEndian, variable}
	e, err := f.typed(0, len(variable), "variable", miMATRIX)
	if err != nil {
		return nil, err
	}
	if e.next != len(variable) {
		return nil, f.refuse(e.next, "end", fmt.Sprintf("followed by %d more bytes", len(variable)-e.next), "one variable")
	}
	a, err := f.array(e)
	if err != nil {
		return nil, err
	}
	if a.name != "triplets" || a.class != mxDOUBLE || a.cols != 3 {
		return nil, f.refuse(e.at, "variable", fmt.Sprintf("a %d×%d array %s of class %d", a.rows, a.cols, quote(a.name), a.class), `an m×3 array "triplets" of numbers (class %d)`, mxDOUBLE)
	}
	m, err := f.matrix(a, "variable triplets")
	if err != nil {
		return nil, err
	}
	if m.rows > most {
		return nil, f.refuse(e.at, "rows", strconv.Itoa(m.rows), "at most %d", most)
	}
	b := newTripletBuilder(name, objects)
	for i := range m.rows {
		var o [3]int
		for j := range o {
			v := m.value(j*m.rows + i)
			if !(v >= 1 && v <= float64(objects)) || v != math.Trunc(v) {
				return nil, f.refuse(m.offset(j*m.rows+i), "object", fmt.Sprint(v), "1 to %d", objects)
			}
			o[j] = int(v) - 1
		}
		b.add(metric.Triplet{A: o[0], Near: o[1], Far: o[2]})
	}
	return b.finish()
}

// inflate returns what the file's one data element, compressed, holds.
func (f *matFile) inflate() ([]byte, error) {
	const miCOMPRESSED = 15
	rest := f.data[matHead:]
	if len(rest) < 8 || f.order.Uint32(rest) != miCOMPRESSED {
		return nil, f.refuse(matHead, "variable", "another data element, or none", "a compressed one (type %d)", miCOMPRESSED)
	}
	// A compressed element is not padded.
	if size := f.order.Uint32(rest[4:]); int64(size) != int64(len(rest)-8) {
		return nil, f.refuse(matHead+4, "size of a data element", fmt.Sprint(size), "%d, up to the end of the file", len(rest)-8)
	}
	bad := func(err error) error {
		return &FormatError{f.name, matHead + 8, "compressed data", "damaged", "zlib data", err}
	}
	z, err := zlib.NewReader(bytes.NewReader(rest[8:]))
	if err != nil {
		return nil, bad(err)
	}
	out, err := readAtMost(z, f.name+" (decompressed)", maxMATBytes)
	if _, ok := errors.AsType[*FormatError](err); err != nil && !ok {
		return nil, bad(err)
	}
	return out, err
}

// ReadVotedTriplets reads comparisons with votes in the JSON format of Lagunas, Malpica,
// Serrano, Garces, Gutierrez and Masia (2019): an object with the lists "answers", of
// [reference, a, b], and "agreement", of [votes for a, votes for b], of equal length. The
// triplet is that of the majority. Questions with as many votes for a as for b, and those
// whose objects are not distinct, are dropped and counted. Other members of the object
// are ignored. Errors name the member and its position, or the byte.
func ReadVotedTriplets(r io.Reader, name string, objects int) (*TripletSet, error) {
	if err := checkObjects(objects); err != nil {
		return nil, err
	}
	data, err := readAtMost(r, name, MaxTripletBytes)
	if err != nil {
		return nil, err
	}
	var content struct {
		Answers   [][3]int `json:"answers"`
		Agreement [][2]int `json:"agreement"`
	}
	if err := json.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	if len(content.Answers) != len(content.Agreement) {
		return nil, fmt.Errorf("datasets: %s: agreement: has %d entries, want %d as answers", name, len(content.Agreement), len(content.Answers))
	}
	b := newTripletBuilder(name, objects)
	for i, a := range content.Answers {
		for j, o := range a {
			if o < 0 || o >= objects {
				return nil, fmt.Errorf("datasets: %s: answers[%d][%d]: %d is not allowed, want 0 to %d", name, i, j, o, objects-1)
			}
		}
		for j, v := range content.Agreement[i] {
			if v < 0 || v > math.MaxInt32 {
				return nil, fmt.Errorf("datasets: %s: agreement[%d][%d]: %d is not allowed, want 0 to %d", name, i, j, v, math.MaxInt32)
			}
		}
		t, votes := metric.Triplet{A: a[0], Near: a[1], Far: a[2]}, Votes{content.Agreement[i][0], content.Agreement[i][1]}
		if votes.Against > votes.For {
			t.Near, t.Far = t.Far, t.Near
			votes.For, votes.Against = votes.Against, votes.For
		}
		if votes.For == votes.Against && !t.Degenerate() {
			b.set.Report.Read++
			b.set.Report.Ties++
			continue
		}
		n := len(b.set.Triplets)
		if b.add(t); len(b.set.Triplets) > n {
			b.set.Votes = append(b.set.Votes, votes)
		}
	}
	return b.finish()
}

// tripletLines calls f with the number and the cells of each line that is not blank.
// Cells are separated by sep, or by blanks if sep is "". f's errors end it.
func tripletLines(r io.Reader, name string, sep string, f func(line, lines int, cells []string) error) error {
	data, err := readAtMost(r, name, MaxTripletBytes)
	if err != nil {
		return err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	lines := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		lines++
	}
	number := 0
	for text := range bytes.Lines(data) {
		number++
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		if bytes.IndexByte(text, '\r') >= 0 {
			return &LineError{name, number, "line", `with \r inside`, `an end of \n or \r\n`, nil}
		}
		const longest = 1 << 12
		if len(text) > longest || !utf8.Valid(text) {
			return &LineError{name, number, "line", fmt.Sprintf("%d bytes long, or not UTF-8", len(text)), fmt.Sprintf("UTF-8, at most %d bytes", longest), nil}
		}
		var cells []string
		if sep == "" {
			cells = strings.Fields(string(text))
		} else {
			cells = strings.Split(string(text), sep)
			for i, c := range cells {
				cells[i] = strings.TrimSpace(c)
			}
		}
		if err := f(number, lines, cells); err != nil {
			return err
		}
	}
	return nil
}

// wantCells returns an error unless a line has n cells.
func wantCells(name string, line int, cells []string, n int) error {
	if len(cells) != n {
		return &LineError{name, line, "number of cells", strconv.Itoa(len(cells)), strconv.Itoa(n), nil}
	}
	return nil
}

// objectOf reads a number from first to first+objects−1 and returns it counted from 0.
func objectOf(name string, line int, cell string, first, objects int) (int, error) {
	v, err := strconv.Atoi(cell)
	if err != nil || v < first || v >= first+objects {
		return 0, &LineError{name, line, "object", quote(cell), fmt.Sprintf("a number from %d to %d", first, first+objects-1), nil}
	}
	return v - first, nil
}

// ReadTripletCSV reads one comparison per line, "a,b,c": a is more like b than like c,
// objects counted from 0. It is the format of the shoes of Zappos of Berger et al.
// Lines whose objects are not distinct are dropped and counted, blank lines are not.
// Errors are *LineErrors.
func ReadTripletCSV(r io.Reader, name string, objects int) (*TripletSet, error) {
	return readTripletCSV(r, name, objects, math.MaxInt)
}

// readTripletCSV is ReadTripletCSV of at most that many comparisons.
func readTripletCSV(r io.Reader, name string, objects, most int) (*TripletSet, error) {
	if err := checkObjects(objects); err != nil {
		return nil, err
	}
	b := newTripletBuilder(name, objects)
	err := tripletLines(r, name, ",", func(line, _ int, cells []string) error {
		if err := wantCells(name, line, cells, 3); err != nil {
			return err
		}
		if b.set.Report.Read == most {
			return &LineError{name, line, "comparisons", "more", fmt.Sprintf("at most %d", most), nil}
		}
		var o [3]int
		for j, c := range cells {
			var err error
			if o[j], err = objectOf(name, line, c, 0, objects); err != nil {
				return err
			}
		}
		b.add(metric.Triplet{A: o[0], Near: o[1], Far: o[2]})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.finish()
}

// named gives numbers to objects that files name, in the order of their names.
type named struct {
	b     tripletBuilder
	words [][3]string // of each answer
}

// finish turns the answers into triplets by f.
func (n *named) finish(less func(a, b string) int, f func(o [3]int) []metric.Triplet) (*TripletSet, error) {
	at := map[string]int{}
	for _, w := range n.words {
		for _, word := range w {
			if _, ok := at[word]; !ok {
				at[word] = 0
				n.b.set.Names = append(n.b.set.Names, word)
			}
		}
	}
	slices.SortFunc(n.b.set.Names, less)
	for i, word := range n.b.set.Names {
		at[word] = i
	}
	n.b.set.Objects = len(n.b.set.Names)
	for _, w := range n.words {
		n.b.add(f([3]int{at[w[0]], at[w[1]], at[w[2]]})...)
	}
	return n.b.finish()
}

// oneTriplet reads o as (A, Near, Far).
func oneTriplet(o [3]int) []metric.Triplet {
	return []metric.Triplet{{A: o[0], Near: o[1], Far: o[2]}}
}

// readFoodTriplets reads the comparisons of food-100 (Wilber, Kwak, Belongie 2014), the
// file all-triplets.csv of its archive: one per line, "a;b;c", image a tastes more like b
// than like c, images by their paths. Objects are the images that occur, in the order of
// their paths, which become Names. Lines whose objects are not distinct are dropped and
// counted. Errors are *LineErrors.
//
// The format was checked against a public description only, that of the reader in
// cblearn; the file itself was not at hand.
func readFoodTriplets(r io.Reader, name string) (*TripletSet, error) {
	return readNamed(r, name, ";", oneTriplet)
}

// readOddOneOut reads answers to "which of three is the odd one out?" in the format of
// the nature and vogue images of Ukkonen et al.: three names per line, separated by blanks,
// the odd one last. With x and y the others and o the odd one, d(x, y) is less than
// d(x, o) and d(y, o): the triplets (x, y, o) and (y, x, o). Objects are those that occur,
// in the order of their names, which become Names. Answers with a name twice are dropped
// and counted. Errors are *LineErrors.
//
// The format was checked against a public description only, that of the reader in
// cblearn; the files themselves were not at hand.
func readOddOneOut(r io.Reader, name string) (*TripletSet, error) {
	return readNamed(r, name, "", func(o [3]int) []metric.Triplet {
		return []metric.Triplet{{A: o[0], Near: o[1], Far: o[2]}, {A: o[1], Near: o[0], Far: o[2]}}
	})
}

// readNamed reads lines of three names.
func readNamed(r io.Reader, name string, sep string, f func(o [3]int) []metric.Triplet) (*TripletSet, error) {
	n := &named{b: newTripletBuilder(name, 0)}
	err := tripletLines(r, name, sep, func(line, _ int, cells []string) error {
		if err := wantCells(name, line, cells, 3); err != nil {
			return err
		}
		if slices.Contains(cells, "") {
			return &LineError{name, line, "object", `""`, "a name", nil}
		}
		n.words = append(n.words, [3]string(cells))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return n.finish(strings.Compare, f)
}

// readMostCentral reads answers to "which of three is the most central?" in the format of
// the 60 cars of Kleindessner and von Luxburg (2017), the file survey_data.csv of their
// archive. A line has the six numbers round, chosen, left, middle, right, seconds. Objects
// are counted from 1, and the chosen one is among the three. With m the chosen one and x
// and y the others, d(x, y) is more than d(x, m) and d(y, m): the triplets (x, m, y) and
// (y, m, x). A first line that does not begin with a number is a header. Answers with an
// object twice are dropped and counted. Errors are *LineErrors.
//
// The format was checked against the archive's README only; the file itself was not at hand.
func readMostCentral(r io.Reader, name string, objects int) (*TripletSet, error) {
	if err := checkObjects(objects); err != nil {
		return nil, err
	}
	b := newTripletBuilder(name, objects)
	err := tripletLines(r, name, ",", func(line, _ int, cells []string) error {
		if _, err := parseNumber(cells[0]); err != nil && line == 1 {
			return nil
		}
		if err := wantCells(name, line, cells, 6); err != nil {
			return err
		}
		var o [4]int
		for j := range o {
			var err error
			if o[j], err = objectOf(name, line, cells[1+j], 1, objects); err != nil {
				return err
			}
		}
		chosen, shown := o[0], o[1:]
		k := slices.Index(shown, chosen)
		if k < 0 {
			return &LineError{name, line, "chosen object", strconv.Itoa(chosen + 1), fmt.Sprintf("one of %s, %s and %s", cells[2], cells[3], cells[4]), nil}
		}
		x, y := shown[(k+1)%3], shown[(k+2)%3]
		b.add(metric.Triplet{A: x, Near: chosen, Far: y}, metric.Triplet{A: y, Near: chosen, Far: x})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.finish()
}

// readMusicSeer reads the raw answers of the survey and of the game of MusicSeer (Ellis,
// Whitman, Berenzweig, Lawrence 2002). A line has judgement, S (survey) or G (game), user,
// target, chosen and other, separated by single blanks: the target artist was judged more
// like the chosen one than like the other. source is "S", "G", or "" for both. Objects are
// the artists that occur in these answers, in the order of their numbers, which become
// Names. Lines whose objects are not distinct are dropped and counted, and so are those
// without another artist: they compare nothing. The first line and the last two may hold
// something else.
//
// The format was checked against public descriptions only, those of the readers in cblearn;
// the file itself was not at hand.
func readMusicSeer(r io.Reader, name string, source string) (*TripletSet, error) {
	if !slices.Contains([]string{"", "S", "G"}, source) {
		return nil, fmt.Errorf(`datasets: source: %q is not allowed, want "S", "G" or ""`, source)
	}
	n := &named{b: newTripletBuilder(name, 0)}
	err := tripletLines(r, name, "", func(line, lines int, cells []string) error {
		if _, err := strconv.Atoi(cells[0]); err != nil {
			if line == 1 || line > lines-2 {
				return nil
			}
			return &LineError{name, line, "judgement", quote(cells[0]), "a number", nil}
		}
		if len(cells) != 5 {
			if err := wantCells(name, line, cells, 6); err != nil {
				return err
			}
		}
		if cells[1] != "S" && cells[1] != "G" {
			return &LineError{name, line, "source of the answer", quote(cells[1]), "S or G", nil}
		}
		for _, c := range cells[3:] {
			if v, err := strconv.Atoi(c); err != nil || v < 0 || strconv.Itoa(v) != c {
				return &LineError{name, line, "artist", quote(c), "a number of at least 0", nil}
			}
		}
		if source != "" && cells[1] != source {
			return nil
		}
		if len(cells) == 5 {
			n.b.set.Report.Read++
			n.b.set.Report.Degenerate++
			return nil
		}
		n.words = append(n.words, [3]string(cells[3:]))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return n.finish(func(a, b string) int {
		if len(a) != len(b) { // numbers without leading zeros
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	}, oneTriplet)
}

// readFeatures reads a table of rows×columns numbers separated by commas, a row per
// line. If the file has one line, its line breaks are lost: the last number of a row and
// the first of the next are joined, like 1.101730.102461. The first number of a row is
// then taken to have one digit before its point, which must be 0: so it is in the one
// file known, and any other is refused.
func readFeatures(r io.Reader, name string, rows, columns int) (*mat.Dense, error) {
	out := make([]float64, 0, rows*columns)
	number := func(line int, cell string) error {
		v, err := parseNumber(cell)
		if err != nil {
			return &LineError{name, line, "feature", quote(cell), "a finite number", err}
		}
		if len(out) == rows*columns {
			return &LineError{name, line, "features", "more", fmt.Sprintf("%d×%d", rows, columns), nil}
		}
		out = append(out, v)
		return nil
	}
	data, err := readAtMost(r, name, MaxTripletBytes)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimRight(data, "\r\n")
	broken := rows > 1 && !bytes.ContainsRune(data, '\n')
	line := 0
	for text := range bytes.Lines(data) {
		line++
		before := len(out)
		for cell := range strings.SplitSeq(strings.TrimRight(string(text), "\r\n"), ",") {
			if broken && len(out)%columns == columns-1 && len(out) < (rows-1)*columns {
				at := strings.LastIndexByte(cell, '.') - 1
				if at < 1 || cell[at] != '0' {
					return nil, &LineError{name, line, "joined numbers", quote(cell), "two numbers, the second of which begins with 0.", nil}
				}
				if err := number(line, cell[:at]); err != nil {
					return nil, err
				}
				cell = cell[at:]
			}
			if err := number(line, cell); err != nil {
				return nil, err
			}
		}
		if n := len(out) - before; !broken && n != columns {
			return nil, &LineError{name, line, "number of features", strconv.Itoa(n), strconv.Itoa(columns), nil}
		}
	}
	if len(out) != rows*columns {
		return nil, &LineError{name, line, "number of features", strconv.Itoa(len(out)), fmt.Sprintf("%d×%d", rows, columns), nil}
	}
	return mat.NewDense(rows, columns, out), nil
}
