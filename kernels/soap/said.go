package soap

import (
	"slices"
	"strings"
	"unicode"
)

// excerpt is how many letters of what is not understood are shown. Whoever sees so many knows
// what it is; more of it, which may be anything, would only be in the way.
const excerpt = 60

// unshown stands for what a service said that has the user in it.
const unshown = "(not shown, since it repeats the user or the password of the service's address)"

// brief makes what a service said fit to be shown, in at most so many letters: what cannot be
// printed is a dot. If it repeats what the service alone was told, in capitals or not, none
// of it is shown; to cut it before that is looked at would hide no more than a half.
func (c *client) brief(said []byte, most int) string {
	lower := strings.ToLower(string(said))
	for _, secret := range c.secrets {
		if strings.Contains(lower, strings.ToLower(secret)) {
			return unshown
		}
	}
	var b strings.Builder
	letters := 0
	for _, r := range string(said) {
		switch {
		case letters == most:
			return b.String() + "…"
		case unicode.IsSpace(r):
			r = ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			r = '.'
		}
		b.WriteRune(r)
		letters++
	}
	return b.String()
}

// knownCoding returns a content coding if it is one that is registered, since only then is it
// sure to be that and not something the service was told.
func knownCoding(coding string) string {
	if slices.Contains([]string{codingGzip, "deflate", "compress", "br", "zstd", "dcb", "dcz", "exi"}, coding) {
		return coding
	}
	return "something unknown"
}
