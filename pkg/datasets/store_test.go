package datasets_test

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"metriclab/internal/realdata"
	"metriclab/pkg/datasets"
)

func TestMissingMNISTNamesTheCommand(t *testing.T) {
	t.Chdir(t.TempDir())
	_, _, err := datasets.Open("data").MNIST()
	var missing *datasets.MissingError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("error is %v, want a MissingError", err)
	}
	const want = "datasets: data/mnist/train-images-idx3-ubyte.gz is missing; get it with: metriclab data get mnist   (or ./download.sh mnist)"
	if filepath.ToSlash(err.Error()) != want {
		t.Errorf("error is\n%s\nwant\n%s", err, want)
	}
}

func TestRealMNIST(t *testing.T) {
	store := realdata.Store(t, "mnist")
	files, err := store.Verify(t.Context(), "mnist")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.State != datasets.FileOK {
			t.Errorf("%s is %v", f.Path, f.State)
		}
	}
	train, test, err := store.MNIST()
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		m      *datasets.Images
		counts [10]int
	}{
		{train, [10]int{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}},
		{test, [10]int{980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009}},
	} {
		if tc.m.H != 28 || tc.m.W != 28 || len(tc.m.Pix) != tc.m.N*784 {
			t.Errorf("%s: %d images of %d×%d in %d bytes", tc.m.Name, tc.m.N, tc.m.H, tc.m.W, len(tc.m.Pix))
		}
		if got := tc.m.Counts(); got != tc.counts {
			t.Errorf("%s: counts %v, want %v", tc.m.Name, got, tc.counts)
		}
	}
	if sum, err := store.Checksum(context.Background(), "mnist"); err != nil || len(sum) != 64 {
		t.Errorf("Checksum = %q, %v", sum, err)
	}
}
