package host

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// leastMemory is what a worker and the larger kernels need together.
const leastMemory = 512 << 20

// memoryLimit looks at the control groups' limits of memory.
func (x *examination) memoryLimit() (view, error) {
	limit, err := x.tree.cgroupMemory()
	switch {
	case errors.Is(err, errNoLimit):
		return good("none")
	case err != nil:
		return view{}, err
	case limit < leastMemory:
		return view{Change, inBytes(limit), "Give it half a GB or more.", ""}, nil
	}
	return good("%s", inBytes(limit))
}

// swap looks at whether memory may go to a disk, and whether some did.
func (x *examination) swap() (view, error) {
	total, err1 := x.tree.meminfo("SwapTotal")
	free, err2 := x.tree.meminfo("SwapFree")
	if err := errors.Join(err1, err2); err != nil {
		return view{}, err1
	}
	if total == 0 {
		return good("none")
	}
	v := view{Note, fmt.Sprintf("%s of %s used", inBytes(total-free), inBytes(total)), "Switch it off while measuring.", "sudo swapoff -a"}
	if moved := x.noise.Swapped; total > free || moved != nil && *moved > 0 {
		v.state = Change
	}
	return v, nil
}

// hugePages looks at how the kernel makes huge pages by itself. The one in brackets holds.
func (x *examination) hugePages() (view, error) {
	const name = "sys/kernel/mm/transparent_hugepage/enabled"
	text, err := x.tree.text(name)
	if err != nil {
		return view{}, err
	}
	_, after, _ := strings.Cut(text, "[")
	mode, _, ok := strings.Cut(after, "]")
	switch {
	case !ok:
		return view{}, fmt.Errorf("read /%s: %q has nothing in brackets", name, text)
	case mode == "always":
		return view{Note, mode, "Let programs ask for them, and do so on all hosts that are compared.", "echo madvise | sudo tee /" + name}, nil
	}
	return good("%s", mode)
}

// numaBalancing looks at whether the kernel moves memory between nodes.
func (x *examination) numaBalancing() (view, error) {
	nodes := len(x.tree.glob("sys/devices/system/node/node[0-9]*"))
	if nodes <= 1 {
		return good("one node of memory")
	}
	v, err := x.tree.text("proc/sys/kernel/numa_balancing")
	if err != nil {
		return view{}, err
	}
	if v == "0" {
		return good("off, %d nodes", nodes)
	}
	return view{Change, fmt.Sprintf("on, %d nodes", nodes), "Switch it off while measuring.", "sudo sysctl -w kernel.numa_balancing=0"}, nil
}

// power looks at where the electricity comes from, as the kernel's class power_supply tells
// it. A mains plug says so for certain, one without current means a battery; without a plug
// the battery's own state does.
func (x *examination) power() (view, error) {
	unplugged, battery, status := false, false, ""
	for _, dir := range x.tree.glob("sys/class/power_supply/*") {
		kind, _ := x.tree.text(path.Join(dir, "type"))
		online, _ := x.tree.text(path.Join(dir, "online"))
		scope, _ := x.tree.text(path.Join(dir, "scope"))
		switch {
		case kind == "Mains" && online == "1":
			return good("mains power")
		case kind == "Mains" && online == "0":
			unplugged = true
		case kind == "Battery" && scope != "Device": // not that of a mouse
			battery = true
			status, _ = x.tree.text(path.Join(dir, "status"))
		}
	}
	switch {
	case unplugged, status == "Discharging":
		return view{Change, "on battery", "Plug it in.", ""}, nil
	case battery && (status == "" || status == "Unknown"):
		return view{}, errors.New("there is a battery, and the kernel does not tell whether it is drawn on")
	case battery:
		return good("the battery is not drawn on: mains power")
	}
	return x.noBattery()
}

// noBattery looks at what it means that the kernel knows of no battery: on metal that there is
// none, in a virtual machine nothing.
func (x *examination) noBattery() (view, error) {
	machine, err := x.tree.machine()
	switch {
	case err != nil:
		return view{}, errors.New("the kernel tells nothing of batteries here, nor whether this is a virtual machine")
	case machine != "none":
		return view{}, errors.New("no battery is shown to this virtual machine; whether the metal runs on one cannot be seen from inside")
	}
	return good("no battery: mains power")
}

// virtualization looks at what stands between the kernel and the metal.
func (x *examination) virtualization() (view, error) {
	switch {
	case x.machineErr != nil:
		return view{}, x.machineErr
	case x.metal():
		return good("none")
	}
	return view{Note, x.machine, "Repeat runs at other times of the day, and believe what stays.", ""}, nil
}

// tempFolder looks at the file system of the temporary files: the mount with the longest
// path above the folder, of several at one place the last; see proc_pid_mountinfo(5).
func (x *examination) tempFolder() (view, error) {
	text, err := x.tree.text("proc/self/mountinfo")
	if err != nil {
		return view{}, err
	}
	kind, at := "", ""
	for line := range strings.Lines(text) {
		left, right, _ := strings.Cut(line, " - ")
		where, what := strings.Fields(left), strings.Fields(right)
		if len(where) < 5 || len(what) < 1 || len(where[4]) < len(at) {
			continue
		}
		if where[4] == "/" || x.temp == where[4] || strings.HasPrefix(x.temp, where[4]+"/") {
			kind, at = what[0], where[4]
		}
	}
	switch kind {
	case "":
		return view{}, fmt.Errorf("read /proc/self/mountinfo: no file system is mounted above %s", x.temp)
	case "tmpfs", "ramfs":
		return view{Note, fmt.Sprintf("%s on %s", x.temp, kind), "Let TMPDIR name a folder on a disk for measuring databases.", ""}, nil
	}
	return good("%s on %s", x.temp, kind)
}

// inBytes writes a size as a person does.
func inBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	default:
		return fmt.Sprintf("%d MB", n>>20)
	}
}
