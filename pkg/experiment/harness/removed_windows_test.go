package harness

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that a run holds open can be neither removed nor renamed.
func TestHeldFolderStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	st := openStore(dir)
	h, err := st.hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.release()
	if err := os.Remove(dir); err == nil {
		t.Error("the folder was removed")
	}
	if err := st.write(filepath.Join(dir, "f"), nil); err != nil {
		t.Error(err)
	}
}
