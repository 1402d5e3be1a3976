// Package npyhead reads the headers of NumPy .npy files, malformed ones too.
package npyhead

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/sbinet/npyio/npy"
)

// Read reads the header from body, the bytes raw, and leaves body at the numbers. raw may be cut off anywhere. Package npy
// panics on some headers that are malformed: these are an error.
func Read(body io.Reader, raw []byte) (in *npy.Reader, err error) {
	const long = 12 // bytes before the header of version 2, the last four of which are its length
	if len(raw) >= long && raw[6] == 2 && int64(binary.LittleEndian.Uint32(raw[8:])) > int64(len(raw)) {
		return nil, errors.New("its header is cut off")
	}
	defer func() {
		if recover() != nil {
			in, err = nil, errors.New("its header is malformed")
		}
	}()
	return npy.NewReader(body)
}
