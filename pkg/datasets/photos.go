package datasets

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"io/fs"
	"math"

	"path"
	"slices"
	"strings"

	"metriclab/pkg/limits"
)

// Photos is a set of grey photographs of different sizes, each of one class.
type Photos struct {
	Names   []string // "accordion/image_0001.jpg", ascending
	Classes []string // ascending
	Y       []int    // an index into Classes of each
	Images  []Photo
}

// Photo is a grey image, Height·Width bytes 0..255, row by row.
type Photo struct {
	Height, Width int
	Pix           []byte
}

// PhotoOptions say how photographs are read.
type PhotoOptions struct {
	// Side is the longer side in pixels to which larger photographs are reduced; 0 leaves them as they are.
	Side int
	// Skip lists classes that are left out.
	Skip []string
}

// The largest photograph and archive that are read.
const (
	maxPhotoBytes  = 16 << 20
	maxPhotoPixels = 1 << 24
	maxPhotos      = 1 << 20
)

// caltechBackground is the class of Caltech-101 that is none of the 101: pictures of anything.
const caltechBackground = "BACKGROUND_Google"

// Caltech101 reads the photographs of Caltech-101 (Fei-Fei, Fergus, Perona 2004) from the official 101_ObjectCategories.tar.gz, which a user
// must supply, without the class BACKGROUND_Google. Its errors are a *MissingError if there is no file, and those of ReadPhotos.
func (s *Store) Caltech101(ctx context.Context, side int) (*Photos, error) {
	file := s.Path("caltech-101/101_ObjectCategories.tar.gz")
	f, err := limits.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &MissingError{Dataset: "caltech-101", Path: file}
	}
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	defer f.Close()
	return ReadPhotos(ctx, f, file, PhotoOptions{Side: side, Skip: []string{caltechBackground}})
}

// ReadPhotos reads a tar.gz with a folder per class and JPEG files in it, "folder/class/image.jpg" or "class/image.jpg", as grey images. Files whose name does not
// end in .jpg or .jpeg, and hidden ones, are skipped. A larger photograph is reduced: each pixel is the mean of a rectangle of pixels.
//
// It returns an error that carries name if the archive or a photograph is damaged, if a name stands twice or is deeper, or if there are no photographs.
// So it does if a photograph has more than 16 MiB or 2²⁴ pixels, if all of them do not fit limits.Memory, or if ctx is done.
func ReadPhotos(ctx context.Context, r io.Reader, name string, o PhotoOptions) (*Photos, error) {
	if o.Side < 0 {
		return nil, fmt.Errorf("datasets: %s: side: %d is not allowed, want at least 0", name, o.Side)
	}
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	}
	found := map[string]Photo{}
	var total int64
	for t := tar.NewReader(&ctxReader{ctx, z}); ; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		head, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("datasets: %s: %w", name, err)
		}
		member := path.Clean(head.Name)
		class, file := path.Split(member)
		class = path.Base(class)
		if head.Typeflag != tar.TypeReg || !isPhoto(file) || slices.Contains(o.Skip, class) {
			continue
		}
		fail := func(format string, args ...any) error {
			return fmt.Errorf("datasets: %s: %s: %w", name, member, fmt.Errorf(format, args...))
		}
		if strings.HasPrefix(member, "/") || strings.HasPrefix(member, "..") || class == "." || strings.Count(member, "/") > 2 {
			return nil, fail("is not allowed, want class/image.jpg, or that in one folder")
		}
		key := class + "/" + file
		if _, ok := found[key]; ok {
			return nil, fail("stands twice")
		}
		if len(found) == maxPhotos {
			return nil, fail("more than %d photographs", maxPhotos)
		}
		if head.Size > maxPhotoBytes {
			return nil, fail("%d bytes, want at most %d", head.Size, maxPhotoBytes)
		}
		raw, err := io.ReadAll(t)
		if err != nil {
			return nil, fail("%w", err)
		}
		photo, err := decodePhoto(raw, o.Side)
		if err != nil {
			return nil, fail("%w", err)
		}
		if total += int64(len(photo.Pix)); limits.Check("", total) != nil {
			return nil, fmt.Errorf("datasets: %w", limits.Check(name, total))
		}
		found[key] = photo
	}
	// The checksum of the gzip file stands behind the end of the tar.
	const behind = 1 << 20 // zeros that fill up the last block
	switch n, err := io.Copy(io.Discard, io.LimitReader(z, behind+1)); {
	case err != nil:
		return nil, fmt.Errorf("datasets: %s: %w", name, err)
	case n > behind:
		return nil, fmt.Errorf("datasets: %s: more than %d bytes stand behind the end of the archive", name, behind)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("datasets: %s: no photographs, want .jpg files in a folder per class", name)
	}
	p := &Photos{}
	for key := range found {
		p.Names = append(p.Names, key)
	}
	slices.Sort(p.Names)
	for _, key := range p.Names {
		class, _, _ := strings.Cut(key, "/")
		if n := len(p.Classes); n == 0 || p.Classes[n-1] != class {
			p.Classes = append(p.Classes, class)
		}
	}
	slices.Sort(p.Classes) // "a b/…" sorts before "a/…", and so a class may be torn apart
	p.Classes = slices.Compact(p.Classes)
	for _, key := range p.Names {
		class, _, _ := strings.Cut(key, "/")
		y, _ := slices.BinarySearch(p.Classes, class)
		p.Y, p.Images = append(p.Y, y), append(p.Images, found[key])
	}
	return p, nil
}

func isPhoto(file string) bool {
	lower := strings.ToLower(file)
	return !strings.HasPrefix(file, ".") && (strings.HasSuffix(lower, ".jpg") || strings.HasSuffix(lower, ".jpeg"))
}

// decodePhoto decodes a JPEG file and reduces it.
func decodePhoto(raw []byte, side int) (Photo, error) {
	c, err := jpeg.DecodeConfig(bytes.NewReader(raw))
	if err != nil {
		return Photo{}, err
	}
	if c.Width < 1 || c.Height < 1 || c.Width > maxPhotoPixels/c.Height {
		return Photo{}, fmt.Errorf("%d×%d pixels, want at most %d", c.Width, c.Height, maxPhotoPixels)
	}
	m, err := jpeg.Decode(bytes.NewReader(raw))
	if err != nil {
		return Photo{}, err
	}
	return reduced(m, side), nil
}

// reduced returns an image in grey whose longer side is at most side: each pixel is the mean of a rectangle, and the rectangles
// part the image.
func reduced(m image.Image, side int) Photo {
	b := m.Bounds()
	w, h := b.Dx(), b.Dy()
	out := Photo{Height: h, Width: w}
	if longer := max(w, h); side > 0 && longer > side {
		out.Width, out.Height = max(1, w*side/longer), max(1, h*side/longer)
	}
	out.Pix = make([]byte, out.Width*out.Height)
	for y := range out.Height {
		for x := range out.Width {
			var sum, n float64
			for v := y * h / out.Height; v < (y+1)*h/out.Height; v++ {
				for u := x * w / out.Width; u < (x+1)*w/out.Width; u++ {
					sum += float64(color.GrayModel.Convert(m.At(b.Min.X+u, b.Min.Y+v)).(color.Gray).Y)
					n++
				}
			}
			out.Pix[y*out.Width+x] = byte(math.Round(sum / n))
		}
	}
	return out
}
