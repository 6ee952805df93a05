package host

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cpuinfo reads /proc/cpuinfo, one record for each CPU. On some architectures a last record
// tells of the board; it has no "processor" and is dropped.
func (t tree) cpuinfo() []map[string]string {
	text, err := t.text("proc/cpuinfo")
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(fields(text, ":"), func(cpu map[string]string) bool {
		return cpu["processor"] == ""
	})
}

// cpuModel names the processors: the same name on every boot, white space squeezed, and all
// of them where a machine mixes kinds.
func cpuModel(cpus []map[string]string) string {
	var names []string
	for _, cpu := range cpus {
		if name := oneModel(cpu); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "unknown"
	}
	return strings.Join(names, " + ")
}

// oneModel names one CPU by what its architecture offers: x86 a name, arm64 numbers,
// riscv64 a micro-architecture.
func oneModel(cpu map[string]string) string {
	if name := cpu["model name"]; name != "" {
		return squeeze(name)
	}
	if implementer := cpu["CPU implementer"]; implementer != "" {
		return armModel(implementer, cpu["CPU part"])
	}
	if uarch := cpu["uarch"]; uarch != "" {
		return squeeze(uarch)
	}
	return squeeze(cpu["isa"])
}

// squeeze makes one space of every run of white space, which firmware pads names with.
func squeeze(name string) string { return strings.Join(strings.Fields(name), " ") }

// armModel names an arm64 core from the fields of its MIDR register. Cores that are not in
// the table keep their numbers, which are as stable as a name.
func armModel(implementer, part string) string {
	id := implementer + " " + part
	for _, core := range [...][2]string{
		{"0x41 0xd03", "Arm Cortex-A53"},
		{"0x41 0xd05", "Arm Cortex-A55"},
		{"0x41 0xd07", "Arm Cortex-A57"},
		{"0x41 0xd08", "Arm Cortex-A72"},
		{"0x41 0xd09", "Arm Cortex-A73"},
		{"0x41 0xd0a", "Arm Cortex-A75"},
		{"0x41 0xd0b", "Arm Cortex-A76"},
		{"0x41 0xd0c", "Arm Neoverse-N1"},
		{"0x41 0xd40", "Arm Neoverse-V1"},
		{"0x41 0xd49", "Arm Neoverse-N2"},
		{"0x41 0xd4f", "Arm Neoverse-V2"},
		{"0xc0 0xac3", "Ampere-1"},
	} {
		if core[0] == id {
			return core[1]
		}
	}
	return "arm64 implementer " + implementer + " part " + part
}

// microcode tells the revision of the microcode of the first CPU.
func microcode(cpus []map[string]string) (string, error) {
	revision := first(cpus)["microcode"]
	switch revision {
	case "":
		return "", errors.New("/proc/cpuinfo names no microcode: this architecture has none, or the hypervisor hides it")
	case "0xffffffff":
		return "", errors.New("the hypervisor hides the microcode's revision")
	}
	return revision, nil
}

// online counts the logical CPUs that are online, 0 when that is not told.
func (t tree) online(cpus []map[string]string) int {
	if text, err := t.text("sys/devices/system/cpu/online"); err == nil {
		if n, err := countList(text); err == nil {
			return n
		}
	}
	return len(cpus)
}

// countList counts a list of CPUs as the kernel writes it: "0-3,8,10-11".
func countList(text string) (int, error) {
	const most = 1 << 16 // CPUs that any kernel can be built for
	total := 0
	for _, part := range strings.Split(strings.TrimSpace(text), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		from, err1 := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if err1 != nil || err2 != nil || to < from || to > most {
			return 0, fmt.Errorf("%q is not a list of CPUs", text)
		}
		total += to - from + 1
	}
	return total, nil
}

// countTopology counts the distinct values that a topology file has over all CPUs: sockets
// by their id, cores by the list of threads that share one.
func (t tree) countTopology(file string) (int, error) {
	values := t.distinct("sys/devices/system/cpu/cpu[0-9]*/topology/" + file)
	if len(values) == 0 {
		return 0, errors.New("the kernel tells no topology of the CPUs")
	}
	if slices.Contains(values, "-1") {
		return 0, errors.New("the firmware tells no topology of the CPUs")
	}
	return len(values), nil
}

// distinct gives the sorted distinct contents of the files that match a pattern.
func (t tree) distinct(pattern string) []string {
	var values []string
	for _, name := range t.glob(pattern) {
		if text, err := t.text(name); err == nil && text != "" {
			values = append(values, text)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// cache tells the size of the first CPU's cache of a level that holds data.
func (t tree) cache(level string) (int64, error) {
	for _, dir := range t.glob("sys/devices/system/cpu/cpu0/cache/index*") {
		kind, _ := t.text(path.Join(dir, "type"))
		if at, _ := t.text(path.Join(dir, "level")); at != level || kind == "Instruction" {
			continue
		}
		text, err := t.text(path.Join(dir, "size"))
		if err != nil {
			return 0, err
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(text, "K"), 10, 64)
		if err != nil || kib <= 0 || kib > 1<<40 {
			return 0, fmt.Errorf("read /%s/size: %q is not a size", dir, text)
		}
		return kib << 10, nil
	}
	return 0, fmt.Errorf("the kernel tells of no cache of level %s", level)
}

// governor tells how the kernel chooses the CPUs' clocks.
func (t tree) governor() (string, error) {
	governors := t.distinct("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	switch len(governors) {
	case 0:
		return "", errors.New("the kernel does not set the CPUs' clocks here, as is usual in a virtual machine")
	case 1:
		return governors[0], nil
	default:
		return "mixed: " + strings.Join(governors, ", "), nil
	}
}

// turbo tells whether the CPUs may go beyond their nominal clock. intel_pstate tells the
// opposite in no_turbo; the other drivers have one switch for all CPUs.
func (t tree) turbo() (bool, error) {
	if v, err := t.text("sys/devices/system/cpu/intel_pstate/no_turbo"); err == nil {
		return v == "0", nil
	}
	if v, err := t.text("sys/devices/system/cpu/cpufreq/boost"); err == nil {
		return v == "1", nil
	}
	return false, errors.New("no driver of the CPUs' clocks tells whether they may go beyond nominal")
}

// smt tells whether cores run more than one thread at a time. In a virtual machine to which
// each CPU is shown as a core of its own the kernel takes it for metal without such threads,
// and what the metal does is not to be seen from inside.
func (t tree) smt() (bool, error) {
	v, err := t.text("sys/devices/system/cpu/smt/active")
	if err != nil {
		return false, err
	}
	if control, _ := t.text("sys/devices/system/cpu/smt/control"); v == "1" || control != "notsupported" {
		return v == "1", nil
	}
	switch machine, err := t.machine(); {
	case err != nil:
		return false, fmt.Errorf("the kernel sees one thread on each core, which tells nothing in a virtual machine, and %w", err)
	case machine != "none":
		return false, errors.New("the kernel sees one thread on each core, but in a virtual machine it cannot know whether its CPUs share cores of the metal")
	}
	return false, nil
}

// megahertz gives the mean of the CPUs' present clocks.
func (t tree) megahertz() (float64, error) {
	var sum float64
	var n int
	for _, name := range t.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq") {
		if khz, err := t.number(name, 0); err == nil && khz > 0 {
			sum, n = sum+khz/1000, n+1
		}
	}
	if n == 0 {
		for _, cpu := range t.cpuinfo() {
			if mhz, err := strconv.ParseFloat(cpu["cpu MHz"], 64); err == nil && mhz > 0 {
				sum, n = sum+mhz, n+1
			}
		}
	}
	if n == 0 {
		return 0, errors.New("neither the kernel nor the processor tells the present clock")
	}
	return sum / float64(n), nil
}
