package host

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// memoryGrain is what memory is rounded to: the kernel and the firmware keep a part for
// themselves that varies a little from boot to boot.
const memoryGrain = 64 << 20

// memory tells the main memory in bytes, to the nearest grain.
func (t tree) memory() (int64, error) {
	total, err := t.meminfo("MemTotal")
	return roundMemory(total), err
}

// roundMemory rounds bytes to the nearest grain, and never to nothing.
func roundMemory(bytes int64) int64 {
	return max(1, (bytes+memoryGrain/2)/memoryGrain) * memoryGrain
}

// meminfo reads a line of /proc/meminfo in bytes.
func (t tree) meminfo(name string) (int64, error) {
	text, err := t.text("proc/meminfo")
	if err != nil {
		return 0, err
	}
	value, ok := first(fields(text, ":"))[name]
	if !ok {
		return 0, fmt.Errorf("/proc/meminfo has no line %s", name)
	}
	kib, err := strconv.ParseInt(strings.TrimSuffix(value, " kB"), 10, 64)
	if err != nil || kib < 0 || kib > 1<<50 {
		return 0, fmt.Errorf("read /proc/meminfo: %s is %q, not a size in kB", name, value)
	}
	return kib << 10, nil
}

// distribution tells the name and version of the Linux distribution; see os-release(5).
func (t tree) distribution() (string, error) {
	text, err := t.text("etc/os-release")
	if err != nil {
		if text, err = t.text("usr/lib/os-release"); err != nil {
			return "", err
		}
	}
	for _, record := range fields(text, "=") {
		if name := strings.Trim(record["PRETTY_NAME"], `"'`); name != "" {
			return name, nil
		}
	}
	return "", errors.New("os-release has no PRETTY_NAME")
}

// The C libraries tell their version in their own text: glibc in the sentence that it prints
// when it is run, musl in a string of its own.
var (
	glibcVersion = regexp.MustCompile(`^GNU C Library [^\n]*version ([0-9.]*[0-9])`)
	muslVersion  = regexp.MustCompile("\x00(1\\.[0-9]+\\.[0-9]+)\x00")
)

// libc tells the C library that programs of this machine use. benchd itself needs none; what
// it measures outside may.
func (t tree) libc() (string, error) {
	for _, dir := range []string{"lib", "lib64", "usr/lib", "usr/lib64", "lib/*-linux-gnu", "usr/lib/*-linux-gnu"} {
		for _, name := range t.glob(path.Join(dir, "libc.so.6")) {
			if text, err := t.text(name); err == nil {
				sentence := text[max(0, strings.Index(text, "GNU C Library ")):]
				return named("glibc", glibcVersion, sentence), nil
			}
		}
	}
	for _, name := range t.glob("lib/ld-musl-*.so.1") {
		if text, err := t.text(name); err == nil {
			return named("musl", muslVersion, text), nil
		}
	}
	return "", errors.New("no C library was found; benchd needs none")
}

// named gives the library's name with the version that its text has, if it has one.
func named(library string, version *regexp.Regexp, text string) string {
	if m := version.FindStringSubmatch(text); m != nil {
		return library + " " + m[1]
	}
	return library
}

// temperature gives the hottest of the processors' sensors in degrees Celsius.
func (t tree) temperature() (float64, error) {
	sensors := t.sensors("sys/class/hwmon/hwmon*", "name", "temp*_input")
	if len(sensors) == 0 {
		sensors = t.sensors("sys/class/thermal/thermal_zone*", "type", "temp")
	}
	hottest, found := 0.0, false
	for _, name := range sensors {
		milli, err := t.number(name, 0)
		if err == nil && (!found || milli/1000 > hottest) {
			hottest, found = milli/1000, true
		}
	}
	if !found {
		return 0, errors.New("no sensor of the processor's temperature is offered")
	}
	return hottest, nil
}

// sensors finds the readings of devices whose kind is that of a processor.
func (t tree) sensors(devices, kind, readings string) []string {
	var names []string
	for _, dir := range t.glob(devices) {
		text, _ := t.text(path.Join(dir, kind))
		switch {
		case text == "coretemp", text == "k10temp", text == "zenpower", text == "x86_pkg_temp", strings.HasPrefix(text, "cpu"):
			names = append(names, t.glob(path.Join(dir, readings))...)
		}
	}
	return names
}
