package envelope

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainRun returns how many bytes from i on can be passed over in blocks of eight because
// each is a printable ASCII character other than <, >, & and ]. It may stop early: what
// follows is for the caller to look at byte by byte.
//
// A block is looked at as one number. For a byte x below 0x80, x-1 borrows into bit 7 just
// if x is 0, so with x = block XOR eight times the character, bit 7 of
//
//	(x - ones) &^ x & highs
//
// tells for each byte whether it is that character. Borrows can raise a bit wrongly only
// above one that is rightly raised, which does no harm here. In the same way block - 0x20
// in each byte finds control characters.
func plainRun[T string | []byte](b T, i int) int {
	begin := i
	for ; i+8 <= len(b); i += 8 {
		x := uint64(b[i]) | uint64(b[i+1])<<8 | uint64(b[i+2])<<16 | uint64(b[i+3])<<24 |
			uint64(b[i+4])<<32 | uint64(b[i+5])<<40 | uint64(b[i+6])<<48 | uint64(b[i+7])<<56
		// < and > differ in one bit: setting it finds both.
		angle := (x | ones*('<'^'>')) ^ ones*('<'|'>')
		amp := x ^ ones*'&'
		square := x ^ ones*']'
		special := (angle-ones)&^angle | (amp-ones)&^amp | (square-ones)&^square | (x-ones*' ')&^x | x
		if special&highs != 0 {
			break
		}
	}
	return i - begin
}
