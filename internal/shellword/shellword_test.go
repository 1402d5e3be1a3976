package shellword

import "testing"

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{"a/b-1": "a/b-1", "a b": "'a b'", "it's": `'it'\''s'`, "": "''", "$x": "'$x'"} {
		if got := Quote(in); got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestItem(t *testing.T) {
	for in, want := range map[string]string{"a": "a", "a b": "'a b'", "a,b": `'"a,b"'`, `2"`: `'"2"""'`} {
		if got := Item(in); got != want {
			t.Errorf("Item(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	if got, want := Join([]string{"run", "a b", "--jobs", "2"}), "run 'a b' --jobs 2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
