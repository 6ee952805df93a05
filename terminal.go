package main

import (
	"bytes"
	"io"
	"os"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// A terminal is where a command reads and writes.
type terminal struct {
	in  io.Reader
	out io.Writer
	err io.Writer
}

// plain writes text without the control characters that names and errors of others may hold:
// what a terminal would obey is not what was meant to be shown.
type plain struct {
	to   io.Writer
	rest []byte // of a character whose other bytes come with the next write
}

// Write passes on the text.
func (p *plain) Write(b []byte) (int, error) {
	all := slices.Concat(p.rest, b)
	end := len(all)
	for end > 0 && end > len(all)-utf8.UTFMax && !utf8.RuneStart(all[end-1]) {
		end--
	}
	if end > 0 && !utf8.FullRune(all[end-1:]) {
		end--
	} else {
		end = len(all)
	}
	p.rest = bytes.Clone(all[end:])
	clean := bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, all[:end])
	if _, err := p.to.Write(clean); err != nil {
		return 0, err
	}
	return len(b), nil
}

// interactive tells whether a person reads what goes to w.
func interactive(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
