package bench

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A whole is a number of a request as far as it is an integer.
type whole int

// What a text is.
const (
	notWhole  whole = iota // no number of JSON, or one with a fraction
	isWhole                // an integer that an int64 holds
	hugeWhole              // an integer beyond that
)

// readWhole reads an integer as JSON Schema means it (draft 2020-12, section 6.1.1): any number
// of JSON without a fraction, so that 100, 1e2 and 100.0 are the same. It works on the digits,
// since a float would round the large ones, and never writes out an exponent's zeros.
func readWhole(text string) (int64, whole) {
	if !json.Valid([]byte(text)) || strings.Trim(text, "+-.0123456789eE") != "" {
		return 0, notWhole
	}
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	integer, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(integer+fraction, "0")
	if digits == "" {
		return 0, isWhole
	}
	short := strings.TrimRight(digits, "0")
	zeros := len(digits) - len(short) - len(fraction) + exponent(power)
	switch {
	case zeros < 0:
		return 0, notWhole
	case len(short)+zeros > 19: // the digits of the largest int64
		return 0, hugeWhole
	}
	n, err := strconv.ParseInt(sign+short+strings.Repeat("0", zeros), 10, 64)
	if err != nil {
		return 0, hugeWhole
	}
	return n, isWhole
}

// exponent reads the exponent of a number, one that is beyond all use as the largest there is.
func exponent(text string) int {
	const beyond = 1 << 30 // and no overflow when a few digits are added
	n, err := strconv.ParseInt(text, 10, 31)
	switch {
	case text == "":
		return 0
	case err == nil:
		return int(n)
	case strings.HasPrefix(text, "-"):
		return -beyond
	default:
		return beyond
	}
}
