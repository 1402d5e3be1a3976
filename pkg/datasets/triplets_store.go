package datasets

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"metriclab/internal/closest"
)

// tripletForm says where a set of comparisons lies and how it is read.
type tripletForm struct {
	name    string
	dataset string // in the registry
	file    string // below the data folder
	member  string // of the zip that the file is; "" if it is no zip
	read    func(r io.Reader, name string) (*TripletSet, error)
	// features, if not "", is a zip with a table of features, and featureMember
	// its member.
	features, featureMember string
	columns                 int
}

// ofObjects fixes the number of objects of a reader.
func ofObjects(read func(r io.Reader, name string, objects int) (*TripletSet, error), objects int) func(io.Reader, string) (*TripletSet, error) {
	return func(r io.Reader, name string) (*TripletSet, error) { return read(r, name, objects) }
}

func musicSeer(source string) func(io.Reader, string) (*TripletSet, error) {
	return func(r io.Reader, name string) (*TripletSet, error) { return readMusicSeer(r, name, source) }
}

// tripletForms are the sets that Store.Triplets reads, in the registry's order.
var tripletForms = []tripletForm{
	{name: "music", dataset: "music", file: "triplets/music/music_triplets.mat", read: ofObjects(ReadMATTriplets, 412)},
	{name: "material", dataset: "material", file: "triplets/material/answers_processed_train.json", read: ofObjects(ReadVotedTriplets, 100)},
	{name: "material-test", dataset: "material", file: "triplets/material/answers_processed_test.json", read: ofObjects(ReadVotedTriplets, 100)},
	{name: "zappos", dataset: "zappos", file: "triplets/zappos/deconflicted_triplets.csv.zip", member: "deconflicted_triplets.csv",
		read: ofObjects(ReadTripletCSV, 85), features: "triplets/zappos/cnn_feats.csv.zip", featureMember: "cnn_feats.csv", columns: 4096},
	{name: "food-100", dataset: "food-100", file: "triplets/food-100/food100-dataset.zip", member: "all-triplets.csv", read: readFoodTriplets},
	{name: "cars", dataset: "cars", file: "triplets/cars/60_cars_data.zip", member: "survey_data.csv", read: ofObjects(readMostCentral, 60)},
	{name: "nature", dataset: "nature-vogue", file: "triplets/nature-vogue/nature_and_vogue_triplets.zip", member: "nature_triplets.txt", read: readOddOneOut},
	{name: "vogue", dataset: "nature-vogue", file: "triplets/nature-vogue/nature_and_vogue_triplets.zip", member: "vogue_triplets.txt", read: readOddOneOut},
	{name: "musicseer", dataset: "musicseer", file: "triplets/musicseer/musicseer-results-2002-04-29.txt", read: musicSeer("")},
	{name: "musicseer-survey", dataset: "musicseer", file: "triplets/musicseer/musicseer-results-2002-04-29.txt", read: musicSeer("S")},
	{name: "musicseer-game", dataset: "musicseer", file: "triplets/musicseer/musicseer-results-2002-04-29.txt", read: musicSeer("G")},
	{name: "osr", dataset: "osr", file: "triplets/osr/osr_triplets.csv", read: ofObjects(ReadTripletCSV, 200)},
	{name: "aset400", dataset: "aset400", file: "triplets/aset400/aset400_triplets.csv", read: ofObjects(ReadTripletCSV, 412)},
}

// TripletSetNames returns the names that Store.Triplets knows, in the registry's order.
func TripletSetNames() []string {
	var out []string
	for _, f := range tripletForms {
		out = append(out, f.name)
	}
	return out
}

// Triplets returns a set of comparisons by its name, which all callers share and must not
// change:
//
//   - music: 9,090 answers about 412 artists, of whom 400 occur; 17 more are degenerate.
//     They are what van der Maaten and Weinberger (2012) kept of the survey aset400 of
//     Ellis et al. (2002), of which Heim et al. (2015) had 16,385.
//   - material, material-test: 21,406 and 2,738 majorities of votes about 100 materials
//     (Lagunas et al. 2019), with Votes; the questions were chosen actively.
//   - zappos: 283,770 answers about 85 shoes (Berger et al.), contradictions removed by
//     its authors, with 4,096 AlexNet features per shoe.
//   - food-100: answers about 100 dishes.
//   - cars: two triplets per most-central answer about 60 cars.
//   - nature, vogue: two triplets per odd-one-out answer about 120 and 60 images.
//   - musicseer, musicseer-survey, musicseer-game: raw answers about artists.
//   - osr: answers about 200 outdoor scenes, not public, which only a user can supply.
//   - aset400: the whole survey of which music is a part, about 412 artists, which only a
//     user can supply.
//
// material and zappos can stand in for the unpublished answers of Heim et al. (2015),
// Section 5.4, about outdoor scenes, and are not them. From food-100 on, the registry
// knows only an official address and a checksum, and what the readers expect was checked
// against public descriptions only.
//
// The first call that succeeds reads the files, while other callers wait; a failure is not
// remembered, so that a caller may Get and try again. The error lists TripletSetNames for
// another name; it is a *MissingError if a file is missing, and names the file and the
// place if it is damaged.
func (s *Store) Triplets(name string) (*TripletSet, error) {
	s.tripletsMu.Lock()
	defer s.tripletsMu.Unlock()
	if set, ok := s.triplets[name]; ok {
		return set, nil
	}
	i := slices.IndexFunc(tripletForms, func(f tripletForm) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("datasets: %q is not a set of comparisons, want one of %s%s", name, strings.Join(TripletSetNames(), ", "), closest.Hint(name, TripletSetNames()))
	}
	set, err := s.loadTriplets(tripletForms[i])
	if err != nil {
		return nil, err
	}
	s.triplets[name] = set
	return set, nil
}

func (s *Store) loadTriplets(f tripletForm) (*TripletSet, error) {
	files := []string{f.file}
	if f.features != "" {
		files = append(files, f.features)
	}
	paths, err := s.present(f.dataset, files)
	if err != nil {
		return nil, err
	}
	var set *TripletSet
	err = withFile(paths[0], f.member, func(r io.Reader, name string) (err error) {
		set, err = f.read(r, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	set.Name = f.name
	if f.features != "" {
		err = withFile(paths[1], f.featureMember, func(r io.Reader, name string) (err error) {
			set.Features, err = readFeatures(r, name, set.Objects, f.columns)
			return err
		})
	}
	return set, err
}

// withFile calls read with a file, or with a member of the zip that it is.
func withFile(path, member string, read func(r io.Reader, name string) error) error {
	if member == "" {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("datasets: %w", err)
		}
		defer file.Close()
		return read(file, path)
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return fmt.Errorf("datasets: %s: %w", path, err)
	}
	defer z.Close()
	for _, m := range z.File {
		if isMember(m.Name, member) {
			r, err := m.Open()
			if err != nil {
				return fmt.Errorf("datasets: %s: %s: %w", path, member, err)
			}
			defer r.Close()
			return read(r, path+"#"+member)
		}
	}
	return fmt.Errorf("datasets: %s: the archive has no member %s", path, member)
}
