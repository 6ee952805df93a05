package worker

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
)

// hidden stands where a text held what nobody is to read.
const hidden = "…"

// A rule replaces what a pattern finds.
type rule struct {
	find    *regexp.Regexp
	instead string
}

// hider makes what takes a service's address out of a text, whole or in parts: a kernel may
// write all of it in an error, and the errors of Go's packages tell the host, or the address
// that it has. The service's name stands in their place, and what was wrong stays:
//
//	dial tcp 10.0.0.7:8080: connect: connection refused    dial tcp axis: connect: connection refused
//	lookup a.example on 10.0.0.2:53: no such host          lookup axis: no such host
func hider(name, addr string, u *url.URL) func(string) string {
	whole := strings.NewReplacer(secrets(u, addr)...)
	rules := append(goErrors(name), placed(u.Hostname(), name)...)
	return func(text string) string {
		text = whole.Replace(text)
		for _, r := range rules {
			text = r.find.ReplaceAllString(text, r.instead)
		}
		return text
	}
}

// placed are the rules for the host of an address. With a port, or in a URL, it is one for sure;
// alone it is where it can be no word of a sentence.
func placed(host, name string) []rule {
	quoted := regexp.QuoteMeta(host)
	rules := []rule{
		{regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://([^\s"'/@]*@)?\[?` + quoted + `\]?(:\d+)?([/?#][^\s"']*|\b)`), hidden},
	}
	switch {
	case strings.Contains(host, ":"):
		return append(rules, rule{regexp.MustCompile(`(?i)\[?` + quoted + `\]?(:\d+\b)?`), name})
	case strings.Contains(host, "."):
		return append(rules, rule{regexp.MustCompile(`(?i)\b` + quoted + `(:\d+)?\b`), name})
	default:
		return append(rules, rule{regexp.MustCompile(`(?i)\b` + quoted + `:\d+\b`), name})
	}
}

// goErrors are the rules for errors of Go's packages, whatever address they tell: net.OpError,
// net.DNSError, and those of crypto/x509 about a server's name.
func goErrors(name string) []rule {
	return []rule{
		{regexp.MustCompile(`\b((?:tcp|udp)[46]?) \S*:\w+: `), "$1 " + name + ": "},
		{regexp.MustCompile(`\b(lookup) \S+?( on \S+?)?: `), "$1 " + name + ": "},
		{regexp.MustCompile(`\b(certificate is valid for) .+?, not \S+`), "$1 others, not " + name},
		{regexp.MustCompile(`\b(validate certificate for) \S+ because`), "$1 " + name + " because"},
		{regexp.MustCompile(`\b(but wanted to match) \S+`), "$1 " + name},
		{regexp.MustCompile(`\b(authority certificate) "[^"]*"`), "$1 " + hidden},
	}
}

// secrets are the texts that could tell the address of a service and its user, the longest
// first, each with what stands in its place.
func secrets(u *url.URL, addr string) []string {
	plain, _, _ := strings.Cut(addr, "#")
	out := []string{addr, hidden, plain, hidden, u.String(), hidden}
	if u.Fragment != "" {
		out = append(out, u.Fragment, hidden)
	}
	if u.User == nil {
		return out
	}
	password, has := u.User.Password()
	written, said := u.User.String(), u.User.Username()+":"+password
	out = append(out, written+"@", "", said+"@", "")
	if !has || password == "" {
		return out
	}
	_, escaped, _ := strings.Cut(written, ":")
	basic := base64.StdEncoding.EncodeToString([]byte(said)) // as HTTP sends it
	return append(out, written, hidden, said, hidden, basic, hidden, password, hidden, escaped, hidden)
}
