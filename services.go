package main

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"benchd/kernels/catalog"
	"benchd/worker/bench"
)

// serviceFlags name servers outside, at which this worker may measure. Requests ask for them
// by their names; the addresses stay with the worker.
type serviceFlags struct {
	Service  []string `help:"A server outside at which this host may measure, by the name that requests use; several in the environment are parted by spaces." placeholder:"NAME=URL" sep:"none" env:"BENCHD_SERVICES"`
	Services string   `help:"File with more of them: a JSON object of URLs by name, or of {\"url\":…, \"ca\":\"FILE.pem\"}. URLs with passwords belong here, where other users of the machine do not see them." placeholder:"FILE" env:"BENCHD_SERVICES_FILE"`
}

// addresses gives the address of each service by its name, as kernels.Addr has it.
//
// No error holds anything of a URL: it may have a password in it.
func (f serviceFlags) addresses() (map[string]string, error) {
	addrs := make(map[string]string)
	for _, text := range f.Service {
		for _, pair := range strings.Fields(text) {
			name, url, ok := strings.Cut(pair, "=")
			if !ok {
				return nil, errors.New("--service is written NAME=URL; one has no \"=\"")
			}
			if err := addService(addrs, name, url, nil); err != nil {
				return nil, fmt.Errorf("--service: %w", err)
			}
		}
	}
	if f.Services != "" {
		if err := readServices(addrs, f.Services); err != nil {
			return nil, fmt.Errorf("--services %s: %w", f.Services, err)
		}
	}
	return addrs, nil
}

// refuse says what a request asks for that this host has not, a named service or a label, and
// nil when it has all. It is for a run in this process alone: elsewhere a run waits for a host
// that has it, and here no other host will ever come. What else is wrong with a request the API
// says best.
func (f workerFlags) refuse(body []byte) error {
	addrs, err := f.addresses()
	if err != nil {
		return err
	}
	schemes := make(map[string]string)
	for name, addr := range addrs {
		schemes[name], _, _ = strings.Cut(strings.ToLower(addr), ":")
	}
	spec, present, err := bench.ParseSpec(body)
	if err != nil {
		return nil
	}
	known := bench.NewCatalog(catalog.Families())
	_, cases, err := known.Resolve(spec, present, f.limits(), schemes)
	if err != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(spec.Hosts.Labels)) {
		if v, there := f.Label[name]; !there || v != spec.Hosts.Labels[name] {
			return fmt.Errorf("this host has no label %q; --label gives it one", name+"="+spec.Hosts.Labels[name])
		}
	}
	for _, c := range cases {
		for _, need := range known.Needs(c) {
			if !need.Met(schemes) {
				return fmt.Errorf("this host %s; %s", need.Unmet(schemes), has(schemes))
			}
		}
	}
	return nil
}

// has tells which services a host has: "it has axis (http) and mq (amqp)".
func has(schemes map[string]string) string {
	if len(schemes) == 0 {
		return "it has none: --service NAME=URL gives it one"
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(schemes)) {
		names = append(names, fmt.Sprintf("%s (%s)", name, schemes[name]))
	}
	return "it has " + strings.Join(names, ", ")
}

// addService adds a service, whose server's certificate only the authority is to vouch for, if
// there is one.
func addService(addrs map[string]string, name, addr string, authority []byte) error {
	if err := bench.CheckService(name); err != nil {
		return err
	}
	if _, twice := addrs[name]; twice {
		return fmt.Errorf("the service %q is named twice", name)
	}
	u, err := url.Parse(addr)
	switch {
	case err != nil || u.Scheme == "" || u.Hostname() == "":
		return fmt.Errorf("the address of the service %q is no URL with a scheme and a host, such as http://127.0.0.1:8080/axis", name)
	case strings.Contains(addr, "#"):
		return fmt.Errorf("the address of the service %q has a part behind \"#\", which no server sees; leave it out", name)
	}
	if authority != nil && u.Scheme == "http" {
		return fmt.Errorf("the service %q has a \"ca\", and http has no certificates; is it https?", name)
	}
	if authority != nil {
		addr += "#ca=" + base64.RawURLEncoding.EncodeToString(authority)
	}
	addrs[name] = addr
	return nil
}

// readServices adds the services of a file. Its names are told apart as they come, since a
// JSON object that has one twice would keep the last in silence.
func readServices(addrs map[string]string, file string) error {
	text, err := readFile(file)
	if err != nil {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(text))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return errors.New("it is no JSON object of services by name")
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return notServices(in)
		}
		var raw json.RawMessage
		if err := in.Decode(&raw); err != nil {
			return notServices(in)
		}
		if err := addFromFile(addrs, fmt.Sprint(name), raw, filepath.Dir(file)); err != nil {
			return err
		}
	}
	if _, err := in.Token(); err != nil {
		return notServices(in)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("it has more after its JSON object, at byte %d", in.InputOffset())
	}
	return nil
}

func notServices(in *json.Decoder) error {
	return fmt.Errorf("it is no JSON near byte %d", in.InputOffset())
}

// addFromFile adds one service of a file in a folder.
func addFromFile(addrs map[string]string, name string, raw json.RawMessage, folder string) error {
	var s struct {
		URL string `json:"url"`
		CA  string `json:"ca"`
	}
	if json.Unmarshal(raw, &s.URL) != nil {
		in := json.NewDecoder(bytes.NewReader(raw))
		in.DisallowUnknownFields()
		if err := in.Decode(&s); err != nil {
			return fmt.Errorf("the service %q is a URL or an object of \"url\" and \"ca\": %w", name, err)
		}
	}
	if s.CA == "" {
		return addService(addrs, name, s.URL, nil)
	}
	if !filepath.IsAbs(s.CA) {
		s.CA = filepath.Join(folder, s.CA)
	}
	authority, err := readAuthority(s.CA)
	if err != nil {
		return fmt.Errorf("the authority of the service %q: %w", name, err)
	}
	return addService(addrs, name, s.URL, authority)
}

// readAuthority reads the one certificate of a PEM file, as DER.
func readAuthority(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, fmt.Errorf("%s holds no certificate in PEM", file)
	}
	if _, err := x509.ParseCertificate(block.Bytes); err != nil {
		return nil, fmt.Errorf("%s holds no certificate: %w", file, err)
	}
	if more, _ := pem.Decode(rest); more != nil {
		return nil, fmt.Errorf("%s holds more than one certificate; the authority is one", file)
	}
	return block.Bytes, nil
}
