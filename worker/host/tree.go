package host

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"benchd/worker/bench"
)

// A tree is the file system of a Linux machine. Everything is read through it, so that the
// readers can be tried on machines that are not at hand.
type tree struct {
	files fs.FS
	// hypervisor names the hypervisor as the processor tells it, "" when it does not.
	hypervisor string
}

// readTree fills in everything that a Linux machine tells in files.
func readTree(t tree, s *bench.HostSnapshot) {
	readCPU(t, s)
	readSystem(t, s)
	readVolatile(t, s)
}

// readCPU fills in the facts of the processors.
func readCPU(t tree, s *bench.HostSnapshot) {
	f, cpus := &s.Facts, t.cpuinfo()
	f.CPUModel = cpuModel(cpus)
	if n := t.online(cpus); n > 0 {
		f.Threads = n
	}
	note(s, "microcode", &f.Microcode, func() (string, error) { return microcode(cpus) })
	note(s, "sockets", &f.Sockets, func() (int, error) { return t.countTopology("physical_package_id") })
	note(s, "cores", &f.Cores, func() (int, error) { return t.countTopology("thread_siblings_list") })
	for _, c := range []struct {
		name  string
		into  **int64
		level string
	}{
		{"cache_l1d_bytes", &f.CacheL1d, "1"},
		{"cache_l2_bytes", &f.CacheL2, "2"},
		{"cache_l3_bytes", &f.CacheL3, "3"},
	} {
		note(s, c.name, c.into, func() (int64, error) { return t.cache(c.level) })
	}
	note(s, "governor", &f.Governor, t.governor)
	note(s, "turbo", &f.Turbo, t.turbo)
	note(s, "smt", &f.SMT, t.smt)
}

// readSystem fills in the facts of memory, software and limits.
func readSystem(t tree, s *bench.HostSnapshot) {
	f := &s.Facts
	f.OS = "linux"
	note(s, "memory_bytes", &f.Memory, t.memory)
	note(s, "distribution", &f.Distribution, t.distribution)
	note(s, "kernel", &f.Kernel, func() (string, error) { return t.text("proc/sys/kernel/osrelease") })
	note(s, "libc", &f.Libc, t.libc)
	note(s, "virtualization", &f.Virtualization, t.virtualization)
	note(s, "cgroup_cpu_cores", &f.CgroupCPU, func() (float64, error) { return t.cgroupCPU(f.Threads) })
	note(s, "cgroup_memory_bytes", &f.CgroupMemory, t.cgroupMemory)
}

// readVolatile fills in the readings that change by themselves.
func readVolatile(t tree, s *bench.HostSnapshot) {
	v := &s.Volatile
	note(s, "mhz", &v.MHz, t.megahertz)
	note(s, "free_memory_bytes", &v.FreeMemory, func() (int64, error) { return t.meminfo("MemAvailable") })
	note(s, "load1", &v.Load1, func() (float64, error) { return t.number("proc/loadavg", 0) })
	note(s, "load5", &v.Load5, func() (float64, error) { return t.number("proc/loadavg", 1) })
	note(s, "temperature_celsius", &v.Temperature, t.temperature)
	note(s, "uptime_s", &v.Uptime, func() (float64, error) { return t.number("proc/uptime", 0) })
}

// text reads a whole file and trims white space around it. Its error is a sentence part that
// names the file as a person would.
func (t tree) text(name string) (string, error) {
	b, err := fs.ReadFile(t.files, name)
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return "", fmt.Errorf("read /%s: %w", name, err)
	}
	return strings.TrimSpace(string(b)), nil
}

// number reads the field of a file that the index points at as a finite number.
func (t tree) number(name string, index int) (float64, error) {
	text, err := t.text(name)
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(text)
	if index >= len(fields) {
		return 0, fmt.Errorf("read /%s: it has %d fields, not %d", name, len(fields), index+1)
	}
	n, err := strconv.ParseFloat(fields[index], 64)
	if err != nil || n-n != 0 { // the difference is NaN for infinities and NaN
		return 0, fmt.Errorf("read /%s: %q is not a number", name, fields[index])
	}
	return n, nil
}

// glob finds the files that match a pattern. A pattern here is always well formed.
func (t tree) glob(pattern string) []string {
	names, _ := fs.Glob(t.files, pattern)
	return names
}

// fields reads lines of a name, a separator and a value, as /proc and os-release have them.
// An empty line begins the next record; lines without a separator are passed over.
func fields(text, separator string) []map[string]string {
	var records []map[string]string
	record := map[string]string{}
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		name, value, ok := strings.Cut(lines.Text(), separator)
		switch {
		case ok:
			record[strings.TrimSpace(name)] = strings.TrimSpace(value)
		case name == "" && len(record) > 0:
			records = append(records, record)
			record = map[string]string{}
		}
	}
	if len(record) > 0 {
		records = append(records, record)
	}
	return records
}

// first gives the first record, which is empty when there is none.
func first(records []map[string]string) map[string]string {
	if len(records) == 0 {
		return nil
	}
	return records[0]
}
