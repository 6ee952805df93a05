package erldist_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"benchd/kernels/messaging/erldist"
)

// bigInt makes an integer of its decimal digits.
func bigInt(digits string) *big.Int {
	n, _ := new(big.Int).SetString(digits, 10)
	return n
}

func sameTerms() cmp.Options {
	return cmp.Options{cmpopts.EquateEmpty(), cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })}
}

// TestTerms reads what term_to_binary of OTP 25 wrote, and writes it again where the form
// is the one that is written here.
func TestTerms(t *testing.T) {
	t.Parallel()
	node := erldist.Atom("a@b")
	for _, tt := range []struct {
		name, hex string
		want      erldist.Term
		oneWay    bool // an older or longer form than Append writes
	}{
		{"0", "836100", int64(0), false},
		{"255", "8361ff", int64(255), false},
		{"256", "836200000100", int64(256), false},
		{"-1", "8362ffffffff", int64(-1), false},
		{"2^31", "836e040000000080", int64(1 << 31), false},
		{"-2^63", "836e08010000000000000080", int64(math.MinInt64), false},
		{"2^64", "836e0900000000000000000001", bigInt("18446744073709551616"), false},
		{"2^2040", "836f0000010000" + strings.Repeat("00", 255) + "01", new(big.Int).Lsh(big.NewInt(1), 2040), false},
		{"an integer with zeros in front", "836e03000100" + "00", int64(1), true},
		{"1.5", "83463ff8000000000000", 1.5, false},
		{"ok", "8377026f6b", erldist.Atom("ok"), false},
		{"the empty atom", "837700", erldist.Atom(""), false},
		{"ok in Latin-1", "836400026f6b", erldist.Atom("ok"), true},
		{"ö in Latin-1", "837301f6", erldist.Atom("ö"), true},
		{"ö", "837702c3b6", erldist.Atom("ö"), false},
		{"128 times ö", "83760100" + strings.Repeat("c3b6", 128), erldist.Atom(strings.Repeat("ö", 128)), false},
		{"<<1,2>>", "836d000000020102", []byte{1, 2}, false},
		{"{}", "836800", erldist.Tuple{}, false},
		{"{1}", "8368016101", erldist.Tuple{int64(1)}, false},
		{"{1} as a large one", "8369000000016101", erldist.Tuple{int64(1)}, true},
		{"[]", "836a", erldist.List(nil), false},
		{"[a]", "836c000000017701616a", erldist.List{erldist.Atom("a")}, false},
		{"\"ab\"", "836b00026162", erldist.List{int64('a'), int64('b')}, true},
		{"[1|2]", "836c0000000161016102", erldist.Improper{Elements: []erldist.Term{int64(1)}, Tail: int64(2)}, false},
		{"[1|[2|3]]", "836c0000000161016c0000000161026103", erldist.Improper{Elements: []erldist.Term{int64(1), int64(2)}, Tail: int64(3)}, true},
		{"[1|[2]]", "836c0000000161016c0000000161026a", erldist.List{int64(1), int64(2)}, true},
		{"#{1 => 2}", "83740000000161016102", erldist.Map{{Key: int64(1), Value: int64(2)}}, false},
		{"a pid", "8358770361406200000001000000020000000" + "3", erldist.Pid{Node: node, ID: 1, Serial: 2, Creation: 3}, false},
		{"a pid of old", "83676400036140620000000100000002" + "03", erldist.Pid{Node: node, ID: 1, Serial: 2, Creation: 3}, true},
		{"a reference", "835a0002770361406200000003" + "0000000100000002", erldist.Ref{Node: node, Creation: 3, Len: 2, IDs: [5]uint32{1, 2}}, false},
		{"a reference of before", "83720002770361406203" + "0000000100000002", erldist.Ref{Node: node, Creation: 3, Len: 2, IDs: [5]uint32{1, 2}}, true},
		{"a reference of old", "836577036140620000000103", erldist.Ref{Node: node, Creation: 3, Len: 1, IDs: [5]uint32{1}}, true},
		{"a port", "8378770361406200000000000000010000000" + "3", erldist.Port{Node: node, ID: 1, Creation: 3}, false},
		{"a port of before", "835977036140620000000100000003", erldist.Port{Node: node, ID: 1, Creation: 3}, true},
		{"a port of old", "836677036140620000000103", erldist.Port{Node: node, ID: 1, Creation: 3}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			message, err := hex.DecodeString(tt.hex)
			if err != nil {
				t.Fatal(err)
			}
			got, err := erldist.Decode(message)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, sameTerms()); d != "" {
				t.Error(d)
			}
			back, err := erldist.Append(nil, got)
			if err != nil {
				t.Fatal(err)
			}
			if !tt.oneWay && !bytes.Equal(back, message) {
				t.Errorf("written as %x, want %x", back, message)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, hex, want string }{
		{"nothing", "", "does not begin with 131"},
		{"another version", "826100", "does not begin with 131"},
		{"no term", "83", "cut off"},
		{"an unknown tag", "83ff", "no tag 255"},
		{"half an integer", "8361", "cut off"},
		{"more than a term", "83610000", "1 bytes follow"},
		{"a bit string", "834d0000000103ff", "bit string"},
		{"a function", "8370", "function"},
		{"a compressed term", "835000000001", "compressed"},
		{"a list that lies", "836cffffffff6101", "terms in"},
		{"a tuple that lies", "8369ffffffff", "terms in"},
		{"a map that lies", "8374ffffffff", "terms in"},
		{"a binary that lies", "836dffffffff00", "cut off"},
		{"a big integer that lies", "836fffffffff0000", "cut off"},
		{"a big integer of sign 2", "836e010201", "sign 2"},
		{"a float that is none", "83467ff8000000000000", "no float"},
		{"an infinite float", "83467ff0000000000000", "no float"},
		{"a map with a key twice", "837400000002" + "61016102" + "61016102", "one key twice"},
		{"a map with a key in two forms", "837400000002" + "61016102" + "6200000001" + "6102", "one key twice"},
		{"an atom that is no UTF-8", "837701ff", "characters in UTF-8"},
		{"an atom of 256 characters", "83760100" + strings.Repeat("61", 256), "characters in UTF-8"},
		{"an atom of 5,000 bytes", "83761388" + strings.Repeat("61", 5000), "atom of 5000 bytes"},
		{"a reference of no words", "835a0000770361406200000003", "1 to 5 words"},
		{"a reference of six", "835a0006770361406200000003" + strings.Repeat("00000001", 6), "1 to 5 words"},
		{"a pid whose node is a number", "83586101000000010000000200000003", "atom was due"},
		{"a list of no elements with a tail", "836c000000006101", "no elements"},
		{"nested lists that each claim the rest", "83" + strings.Repeat("6c00000100", 600) + strings.Repeat("6a", 100), "terms in"},
		{"600 nested tuples", "83" + strings.Repeat("6801", 600) + "6a", "nested deeper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			message, err := hex.DecodeString(tt.hex)
			if err != nil {
				t.Fatal(err)
			}
			got, err := erldist.Decode(message)
			if !errors.Is(err, erldist.ErrTerm) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("it was read as %v, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	deep := erldist.Term(int64(1))
	for range 600 {
		deep = erldist.Tuple{deep}
	}
	for _, tt := range []struct {
		name string
		term erldist.Term
		want string
	}{
		{"nil", nil, "type <nil>"},
		{"a string", "text", "type string"},
		{"a nil integer", (*big.Int)(nil), "nil"},
		{"NaN", math.NaN(), "no float"},
		{"a long atom", erldist.Atom(strings.Repeat("a", 256)), "255 characters"},
		{"an atom that is no UTF-8", erldist.Atom("\xff"), "in UTF-8"},
		{"a reference of no words", erldist.Ref{}, "1 to 5 words"},
		{"an improper list of none", erldist.Improper{Tail: int64(1)}, "without elements"},
		{"an improper list with a list", erldist.Improper{Elements: []erldist.Term{int64(1)}, Tail: erldist.List(nil)}, "tail is a list"},
		{"in a list", erldist.List{erldist.Map{{Key: "x"}}}, "type string"},
		{"deep", deep, "nested deeper"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, err := erldist.Append([]byte("kept"), tt.term)
			if !errors.Is(err, erldist.ErrTerm) || !strings.Contains(err.Error(), tt.want) || string(b) != "kept" {
				t.Errorf("%q, %v; want %q", b, err, tt.want)
			}
		})
	}
}

// anyTerm draws any term down to some depth.
func anyTerm(depth int) *rapid.Generator[erldist.Term] {
	atom := rapid.Map(rapid.StringN(0, 20, 80), func(s string) erldist.Atom { return erldist.Atom(strings.ToValidUTF8(s, "?")) })
	word := rapid.Uint32()
	boxed := func(t erldist.Term) erldist.Term { return t }
	flat := []*rapid.Generator[erldist.Term]{
		rapid.Map(rapid.Int64(), func(n int64) erldist.Term { return n }),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 9, 300), func(b []byte) erldist.Term {
			b[0] |= 1
			return new(big.Int).Neg(new(big.Int).SetBytes(b))
		}),
		rapid.Map(rapid.Float64(), func(f float64) erldist.Term { return f }),
		rapid.Map(atom, func(a erldist.Atom) erldist.Term { return a }),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) erldist.Term { return b }),
		rapid.Custom(func(t *rapid.T) erldist.Term {
			return boxed(erldist.Pid{Node: atom.Draw(t, "node"), ID: word.Draw(t, "id"), Serial: word.Draw(t, "serial"), Creation: word.Draw(t, "creation")})
		}),
		rapid.Custom(func(t *rapid.T) erldist.Term {
			r := erldist.Ref{Node: atom.Draw(t, "node"), Creation: word.Draw(t, "creation"), Len: rapid.IntRange(1, 5).Draw(t, "len")}
			for i := range r.Len {
				r.IDs[i] = word.Draw(t, "word")
			}
			return r
		}),
		rapid.Custom(func(t *rapid.T) erldist.Term {
			return erldist.Port{Node: atom.Draw(t, "node"), ID: rapid.Uint64().Draw(t, "id"), Creation: word.Draw(t, "creation")}
		}),
	}
	if depth == 0 {
		return rapid.OneOf(flat...)
	}
	terms := rapid.SliceOfN(anyTerm(depth-1), 0, 5)
	return rapid.OneOf(append(flat,
		rapid.Map(terms, func(l []erldist.Term) erldist.Term { return erldist.Tuple(l) }),
		rapid.Map(rapid.SliceOfN(rapid.Just(erldist.Term(int64(7))), 250, 300), func(l []erldist.Term) erldist.Term { return erldist.Tuple(l) }),
		rapid.Map(terms, func(l []erldist.Term) erldist.Term { return erldist.List(l) }),
		rapid.Map(rapid.SliceOfN(anyTerm(depth-1), 1, 5), func(l []erldist.Term) erldist.Term {
			return erldist.Improper{Elements: l, Tail: erldist.Atom("tail")}
		}),
		rapid.Map(terms, func(l []erldist.Term) erldist.Term {
			m := make(erldist.Map, len(l))
			for i, v := range l {
				m[i] = erldist.Pair{Key: int64(i), Value: v}
			}
			return m
		}))...)
}

// TestTermsComeBack: whatever is written is read as what it was, cut off anywhere it is
// refused, and Raw agrees with Decode about where it ends.
func TestTermsComeBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		term := anyTerm(3).Draw(t, "term")
		message, err := erldist.Append(nil, term)
		if err != nil {
			t.Fatal(err)
		}
		got, err := erldist.Decode(message)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(term, got, sameTerms()); d != "" {
			t.Fatal(d)
		}
		cut := rapid.IntRange(0, len(message)-1).Draw(t, "cut")
		if got, err := erldist.Decode(message[:cut]); !errors.Is(err, erldist.ErrTerm) {
			t.Fatalf("cut off after %d bytes it was read as %v, %v", cut, got, err)
		}
		r, _ := erldist.NewReader(append(message, "tail"...))
		raw, err := r.Raw()
		if err != nil || !bytes.Equal(raw, message[1:]) || string(r.Rest()) != "tail" {
			t.Fatalf("Raw gave %d of %d bytes, %v", len(raw), len(message)-1, err)
		}
	})
}

// FuzzDecode: no bytes panic, and what is read can be written and read again as the same.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"836100", "8377026f6b", "83680261016102", "836c0000000161016102", "83740000000161016102", "835a0002770361406200000003" + "0000000100000002", "83467ff8000000000000", "836e040000000080"} {
		b, _ := hex.DecodeString(s)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, message []byte) {
		r, err := erldist.NewReader(message)
		if err == nil {
			_, _ = r.Raw() // it must return
		}
		term, err := erldist.Decode(message)
		if err != nil {
			if !errors.Is(err, erldist.ErrTerm) {
				t.Fatalf("%v is no ErrTerm", err)
			}
			return
		}
		back, err := erldist.Append(nil, term)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := erldist.Decode(back)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if d := cmp.Diff(term, again, sameTerms()); d != "" {
			t.Fatal(d)
		}
	})
}
