package kerneltest

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"benchd/kernels"
)

var (
	kernelName = regexp.MustCompile(`^[a-z][a-z0-9]*\.[a-z][a-z0-9]*$`)
	paramName  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	schemeName = regexp.MustCompile(`^[a-z][a-z0-9+.-]*$`)
	unitName   = regexp.MustCompile(`^[A-Za-z]+/s$`)
)

// CheckInfo returns what is missing or wrong in a kernel's description: the list of
// kernels, the request check and the manual are all made from it.
func CheckInfo(i kernels.Info) []error {
	var errs []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	need(kernelName.MatchString(i.Name), "the name %q is not of the form family.kernel", i.Name)
	need(sentence(i.Title), "the title %q is not a sentence with a capital and a full stop", i.Title)
	need(i.Operation != "" && !strings.Contains(i.Operation, "\n"), "the operation %q does not say what one operation is", i.Operation)
	need(unitName.MatchString(i.Unit), "the unit %q is not something per second", i.Unit)
	need(paramName.MatchString(i.Noun), "the noun %q is not one lower-case word", i.Noun)
	if i.Lanes != "" {
		p, ok := i.Param(i.Lanes)
		need(ok && p.Kind == kernels.Int && p.Min == 1, "the lanes parameter %q is not a whole number from 1 up", i.Lanes)
	}
	if i.Rate != "" {
		p, ok := i.Param(i.Rate)
		need(ok && p.Kind == kernels.Int && p.Min == 0 && p.Default == "0", "the rate parameter %q is not a whole number from 0 up with the default 0", i.Rate)
		need(!i.Batched, "operations that are timed in batches cannot be paced")
	}
	seen := make(map[string]bool)
	for _, p := range i.Params {
		need(!seen[p.Name], "the parameter %q stands twice", p.Name)
		seen[p.Name] = true
		if err := checkParam(p); err != nil {
			errs = append(errs, fmt.Errorf("parameter %q: %w", p.Name, err))
		}
		if err := checkServers(i, p); err != nil {
			errs = append(errs, fmt.Errorf("parameter %q: %w", p.Name, err))
		}
	}
	return errs
}

// sentence tells whether s is one line that begins with a capital and ends with a stop.
func sentence(s string) bool {
	return s != "" && unicode.IsUpper([]rune(s)[0]) && strings.HasSuffix(s, ".") && !strings.Contains(s, "\n")
}

// checkParam checks the name, the text, the default and the listed values of a parameter.
func checkParam(p kernels.Param) error {
	var errs []error
	if !paramName.MatchString(p.Name) {
		errs = append(errs, errors.New("the name is not lower-case letters, digits and underscores"))
	}
	if !sentence(p.Doc) {
		errs = append(errs, fmt.Errorf("the text %q is not a sentence with a capital and a full stop", p.Doc))
	}
	if p.Kind == kernels.Word && len(p.Values) == 0 {
		errs = append(errs, errors.New("a word lists no values"))
	}
	if len(p.Values) > 0 && !slices.Contains(p.Values, p.Default) {
		errs = append(errs, fmt.Errorf("the default %q is not among the values %q", p.Default, p.Values))
	}
	for i, v := range p.Values {
		if slices.Contains(p.Values[:i], v) {
			errs = append(errs, fmt.Errorf("the value %q stands twice", v))
		}
		errs = append(errs, checkValue(p, v))
	}
	return errors.Join(append(errs, checkValue(p, p.Default))...)
}

// checkValue checks one value: of the parameter's kind, in canonical text, within bounds.
func checkValue(p kernels.Param, v string) error {
	switch p.Kind {
	case kernels.Word:
		if v == "" {
			return errors.New("a word is empty")
		}
	case kernels.Bool:
		if v != "true" && v != "false" {
			return fmt.Errorf("%q is neither true nor false", v)
		}
	case kernels.Service:
		return checkService(p, v)
	case kernels.Int:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != v {
			return fmt.Errorf("%q is not a whole number in canonical text", v)
		}
		return within(p, n)
	case kernels.Size:
		n, err := kernels.ParseSize(v)
		if err != nil || kernels.FormatSize(n) != v {
			return fmt.Errorf("%q is not a size in canonical text", v)
		}
		if len(p.Values) == 0 {
			return within(p, n)
		}
	default:
		return fmt.Errorf("there is no kind %q", p.Kind)
	}
	return nil
}

// checkService checks the default of a service and what addresses it may have. The names are
// those of each worker, so that no value can be listed.
func checkService(p kernels.Param, v string) error {
	var errs []error
	if v != kernels.Embedded || len(p.Values) > 0 {
		errs = append(errs, fmt.Errorf("the default is %q, and %d values are listed; a service has the default %q and lists none", v, len(p.Values), kernels.Embedded))
	}
	if len(p.Schemes) == 0 {
		errs = append(errs, errors.New("a service names no scheme of its addresses"))
	}
	for _, s := range p.Schemes {
		if !schemeName.MatchString(s) {
			errs = append(errs, fmt.Errorf("%q is no scheme of a URL", s))
		}
	}
	return errors.Join(errs...)
}

// checkServers checks that a service which depends on another parameter tells its servers for
// each value of that one, and their schemes all together; its own default has to go with it.
func checkServers(i kernels.Info, p kernels.Param) error {
	if p.Of == "" {
		if len(p.Servers) > 0 {
			return errors.New("it has servers by the value of a parameter, and does not name the parameter")
		}
		return nil
	}
	of, ok := i.Param(p.Of)
	if !ok || p.Kind != kernels.Service || len(of.Values) == 0 || len(p.Servers) != len(of.Values) {
		return fmt.Errorf("it depends on %q: only a service can, and on a parameter with a list of values, with servers for each of them", p.Of)
	}
	var errs []error
	var schemes []string
	for _, v := range of.Values {
		s, there := p.Servers[v]
		if !there || !s.Embedded && len(s.Schemes) == 0 {
			errs = append(errs, fmt.Errorf("there is no server where %s is %s", p.Of, v))
		}
		schemes = append(schemes, s.Schemes...)
	}
	if !p.Servers[of.Default].Embedded {
		errs = append(errs, fmt.Errorf("where %s is %s, both by default, there is no server %s", p.Of, of.Default, p.Default))
	}
	if a, b := distinct(schemes), distinct(p.Schemes); !slices.Equal(a, b) {
		errs = append(errs, fmt.Errorf("its schemes are %q, those of its servers %q", b, a))
	}
	return errors.Join(errs...)
}

// distinct sorts texts and keeps each once.
func distinct(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

// within checks that n lies between the bounds of its parameter.
func within(p kernels.Param, n int64) error {
	if n < p.Min || n > p.Max {
		return fmt.Errorf("%d lies outside %d to %d", n, p.Min, p.Max)
	}
	return nil
}
