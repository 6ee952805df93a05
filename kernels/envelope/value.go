package envelope

import (
	"bytes"
	"math"
	"strconv"
)

// A String is a text that may be nil, which is not the same as empty. A reader takes an
// absent element and one with xsi:nil for nil; a writer writes xsi:nil.
type String struct {
	Value string
	Nil   bool
}

// A Decimal is an xsd:decimal in thousandths, of up to 18 digits in all: that is as many as a
// reader has to know (XML Schema Part 2, section 3.2.3).
type Decimal int64

const (
	decimalPlaces = 3
	decimalUnit   = 1000
	decimalLimit  = 1_000_000_000_000_000_000 // the first that is too large
)

// A Date is an xsd:date of the years 1 to 9999 (XML Schema Part 2, section 3.2.9): a day,
// which may have a time zone.
type Date struct {
	Year       int16
	Month, Day uint8
	Zoned      bool
	Zone       int16 // minutes east of UTC, from -840 to 840
}

// parse reads a value of another type than string and tells whether the text is one of its.
func parse(v any, text []byte) (ok bool) {
	text = trim(text)
	switch v := v.(type) {
	case *int32:
		*v, ok = parseInt(text)
	case *float64:
		*v, ok = parseDouble(text)
	case *bool:
		*v, ok = parseBool(text)
	case *Decimal:
		*v, ok = parseDecimal(text)
	case *Date:
		*v, ok = parseDate(text)
	}
	return ok
}

// appendSimple writes a value of another type than string.
func appendSimple(dst []byte, v any) []byte {
	switch v := v.(type) {
	case *int32:
		return strconv.AppendInt(dst, int64(*v), 10)
	case *float64:
		return appendDouble(dst, *v)
	case *bool:
		return strconv.AppendBool(dst, *v)
	case *Decimal:
		return appendDecimal(dst, *v)
	case *Date:
		return appendDate(dst, *v)
	}
	return dst
}

// parseInt reads an xsd:int (XML Schema Part 2, section 3.3.17).
func parseInt(b []byte) (int32, bool) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	return int32(n), err == nil
}

// parseBool reads an xsd:boolean (section 3.2.2).
func parseBool(b []byte) (value, ok bool) {
	switch string(b) {
	case "true", "1":
		return true, true
	case "false", "0":
		return false, true
	}
	return false, false
}

// parseDouble reads an xsd:double (section 3.2.4). What strconv reads beyond that, such as
// "0x1p-2", "1_000" or "infinity", is none; what is too large is infinite.
func parseDouble(b []byte) (float64, bool) {
	switch string(b) {
	case "INF":
		return math.Inf(1), true
	case "-INF":
		return math.Inf(-1), true
	case "NaN":
		return math.NaN(), true
	}
	for _, c := range b {
		if !isDigit(c) && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil || math.IsInf(v, 0)
}

// appendDouble writes an xsd:double.
func appendDouble(dst []byte, v float64) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "INF"...)
	case math.IsInf(v, -1):
		return append(dst, "-INF"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// sameFloat takes not-a-number for equal to itself, as a value that travels is.
func sameFloat(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b)
}

// parseDecimal reads an xsd:decimal (section 3.2.3): digits on either side of a point, with no
// exponent. More than three behind the point are taken if they are zeros.
func parseDecimal(b []byte) (Decimal, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	whole, fraction, _ := bytes.Cut(b, []byte("."))
	v := Decimal(0)
	for _, c := range whole {
		if v = 10*v + Decimal(c-'0'); !isDigit(c) || v >= decimalLimit/decimalUnit {
			return 0, false
		}
	}
	for i := range max(decimalPlaces, len(fraction)) {
		c := byte('0')
		if i < len(fraction) {
			c = fraction[i]
		}
		switch {
		case !isDigit(c), i >= decimalPlaces && c != '0':
			return 0, false
		case i < decimalPlaces:
			v = 10*v + Decimal(c-'0')
		}
	}
	if negative {
		v = -v
	}
	return v, len(whole)+len(fraction) > 0
}

// appendDecimal writes an xsd:decimal without zeros that say nothing.
func appendDecimal(dst []byte, v Decimal) []byte {
	if v < 0 {
		dst = append(dst, '-')
		v = -v
	}
	dst = strconv.AppendInt(dst, int64(v/decimalUnit), 10)
	rest := v % decimalUnit
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.')
	for unit := Decimal(decimalUnit / 10); rest > 0; unit /= 10 {
		dst = append(dst, '0'+byte(rest/unit))
		rest %= unit
	}
	return dst
}

// parseDate reads an xsd:date (section 3.2.9), such as 2026-11-30, 2026-11-30Z or
// 2026-11-30+01:00.
func parseDate(b []byte) (d Date, ok bool) {
	if len(b) < len("2026-11-30") || b[4] != '-' || b[7] != '-' {
		return d, false
	}
	year, month, day := number(b[:4]), number(b[5:7]), number(b[8:10])
	if year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return d, false
	}
	d = Date{Year: int16(year), Month: uint8(month), Day: uint8(day)} //nolint:gosec // The numbers have so few digits.
	zone := b[10:]
	switch {
	case len(zone) == 0:
		return d, true
	case string(zone) == "Z":
		d.Zoned = true
		return d, true
	case len(zone) != len("+01:00") || zone[0] != '+' && zone[0] != '-' || zone[3] != ':':
		return d, false
	}
	hours, minutes := number(zone[1:3]), number(zone[4:6])
	d.Zoned, d.Zone = true, int16(60*hours+minutes) //nolint:gosec // As above.
	if zone[0] == '-' {
		d.Zone = -d.Zone
	}
	return d, hours >= 0 && minutes >= 0 && minutes < 60 && 60*hours+minutes <= 14*60
}

// number reads digits, or returns -1 if there is anything else.
func number(b []byte) int {
	n := 0
	for _, c := range b {
		if !isDigit(c) {
			return -1
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// daysIn returns how many days a month has in the calendar of Gregory, which goes on into
// the past without end.
func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// appendDate writes an xsd:date.
func appendDate(dst []byte, d Date) []byte {
	dst = appendDigits(dst, int(d.Year), 1000)
	dst = appendDigits(append(dst, '-'), int(d.Month), 10)
	dst = appendDigits(append(dst, '-'), int(d.Day), 10)
	zone := int(d.Zone)
	switch {
	case !d.Zoned:
		return dst
	case zone == 0:
		return append(dst, 'Z')
	case zone < 0:
		dst, zone = append(dst, '-'), -zone
	default:
		dst = append(dst, '+')
	}
	dst = appendDigits(dst, zone/60, 10)
	return appendDigits(append(dst, ':'), zone%60, 10)
}

// appendDigits writes a number from the digit of this unit on, zeros too.
func appendDigits(dst []byte, n, unit int) []byte {
	for ; unit > 0; unit /= 10 {
		dst = append(dst, '0'+byte(n/unit%10))
	}
	return dst
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// nilValue tells whether the value of an xsi:nil says that the element is nil.
func nilValue(v []byte) (null, ok bool) { return parseBool(trim(v)) }
