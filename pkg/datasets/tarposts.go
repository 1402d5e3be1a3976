package datasets

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"path"
)

// eachPost calls read with the cleaned name and the text of each regular file of a tar.gz, and
// returns the number of their bytes. It reads the archive to its end. Folders do not matter;
// anything else, a name that stands twice, more than so many posts or bytes, and what unpacks
// to much more than that, is an error that carries name.
func eachPost(file io.Reader, name string, posts int, size int64, read func(r io.Reader, member string) error) (total int64, err error) {
	refuse := func(format string, args ...any) (int64, error) {
		return 0, fmt.Errorf("datasets: %s: %w", name, fmt.Errorf(format, args...))
	}
	z, err := gzip.NewReader(file)
	if err != nil {
		return refuse("%w", err)
	}
	// A post has a head of 512 bytes and is filled up to a multiple of 512; a folder
	// has a head, too, and a long name takes three blocks.
	const perPost = 4 << 10
	unpacked := &io.LimitedReader{R: z, N: size + perPost*(int64(posts)+1) + 1<<20}
	t := tar.NewReader(unpacked)
	seen := map[string]bool{}
	for {
		head, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return refuse("%w", err)
		}
		member := path.Clean(head.Name)
		if head.Typeflag == tar.TypeDir {
			continue
		}
		switch total += head.Size; {
		case head.Typeflag != tar.TypeReg:
			return refuse("member %q has the type %q, want files and folders only", member, head.Typeflag)
		case seen[member]:
			return refuse("member %q stands twice", member)
		case len(seen) == posts:
			return refuse("has more than %d members", posts)
		case total > size:
			return refuse("its members have more than %d bytes", size)
		}
		seen[member] = true
		if err := read(t, member); err != nil {
			return refuse("%s: %w", member, err)
		}
	}
	// The checksum of the gzip file stands behind the end of the tar.
	if _, err := io.Copy(io.Discard, unpacked); err != nil {
		return refuse("%w", err)
	}
	if unpacked.N <= 0 {
		return refuse("unpacks to much more than the %d bytes of its members", size)
	}
	return total, nil
}
