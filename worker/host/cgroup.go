package host

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// errNoLimit is the reason for a limit that is null since nothing limits.
var errNoLimit = errors.New("no control group sets a limit")

// A hierarchy is where a controller's control groups are mounted and which of them this
// process is in.
type hierarchy struct {
	mount string // folder of the mounted root
	group string // folder of the group, at or below mount
	v2    bool
}

// groups lists the folders from the process's own group up to the mounted root. Limits of
// all of them hold.
func (h hierarchy) groups() []string {
	dirs := []string{h.group}
	for dir := h.group; dir != h.mount; {
		dir = path.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

// cgroupCPU tells how many cores the control groups let this process use, the tightest of
// quotas and sets of CPUs. The set counts only when it leaves out CPUs that are online.
func (t tree) cgroupCPU(online int) (float64, error) {
	h, err := t.hierarchy("cpu")
	if err != nil {
		return 0, err
	}
	var limits []float64
	for _, dir := range h.groups() {
		if cores, ok := t.quota(dir, h.v2); ok {
			limits = append(limits, cores)
		}
	}
	if n, ok := t.cpuset(); ok && n < online {
		limits = append(limits, float64(n))
	}
	if len(limits) == 0 {
		return 0, errNoLimit
	}
	return slices.Min(limits), nil
}

// quota reads the CPU bandwidth of one group in cores: cpu.max in version 2, see
// cgroup-v2.rst; two files in version 1, with a quota of -1 for none.
func (t tree) quota(dir string, v2 bool) (cores float64, ok bool) {
	var quota, period float64
	var err1, err2 error
	if v2 {
		quota, err1 = t.number(path.Join(dir, "cpu.max"), 0) // "max" is no number: no limit
		period, err2 = t.number(path.Join(dir, "cpu.max"), 1)
	} else {
		quota, err1 = t.number(path.Join(dir, "cpu.cfs_quota_us"), 0)
		period, err2 = t.number(path.Join(dir, "cpu.cfs_period_us"), 0)
	}
	const most = 1e15 // microseconds: what lies beyond is no quota
	if err1 != nil || err2 != nil || quota <= 0 || quota > most || period < 1 {
		return 0, false
	}
	return quota / period, true
}

// cpuset counts the CPUs of the process's own group, which the kernel has narrowed already
// by those of the groups above.
func (t tree) cpuset() (int, bool) {
	h, err := t.hierarchy("cpuset")
	if err != nil {
		return 0, false
	}
	name := "cpuset.effective_cpus"
	if h.v2 {
		name = "cpuset.cpus.effective"
	}
	text, err := t.text(path.Join(h.group, name))
	if err != nil {
		return 0, false
	}
	n, err := countList(text)
	return n, err == nil
}

// cgroupMemory tells how many bytes the control groups let this process use, the tightest
// of all limits. Version 1 writes "no limit" as a number near 2^63.
func (t tree) cgroupMemory() (int64, error) {
	h, err := t.hierarchy("memory")
	if err != nil {
		return 0, err
	}
	name := "memory.limit_in_bytes"
	if h.v2 {
		name = "memory.max"
	}
	limit := int64(1) << 60
	for _, dir := range h.groups() {
		text, _ := t.text(path.Join(dir, name))
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			limit = min(limit, n)
		}
	}
	if limit == 1<<60 {
		return 0, errNoLimit
	}
	return limit, nil
}

// hierarchy finds the control groups of a controller; see cgroups(7). A controller that no
// version 1 hierarchy has belongs to version 2, whose line has the number 0 and no names.
func (t tree) hierarchy(controller string) (hierarchy, error) {
	text, err := t.text("proc/self/cgroup")
	if err != nil {
		return hierarchy{}, err
	}
	group, v2 := "", true
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if slices.Contains(strings.Split(parts[1], ","), controller) {
			group, v2 = parts[2], false
			break
		}
		if parts[0] == "0" && parts[1] == "" {
			group = parts[2]
		}
	}
	if group == "" {
		return hierarchy{}, fmt.Errorf("this process is in no control group for %s", controller)
	}
	return t.mounted(controller, group, v2)
}

// mounted finds the folder of a group from the mounts; see proc_pid_mountinfo(5). A
// container may see a mount whose root is not the hierarchy's: the group's path is then
// relative to that root, and outside of it the mounted root is all that can be seen.
func (t tree) mounted(controller, group string, v2 bool) (hierarchy, error) {
	text, err := t.text("proc/self/mountinfo")
	if err != nil {
		return hierarchy{}, err
	}
	for line := range strings.Lines(text) {
		left, right, _ := strings.Cut(line, " - ")
		at, fs := strings.Fields(left), strings.Fields(right)
		if len(at) < 5 || len(fs) < 3 {
			continue
		}
		isV2 := fs[0] == "cgroup2"
		isV1 := fs[0] == "cgroup" && slices.Contains(strings.Split(fs[2], ","), controller)
		if v2 && !isV2 || !v2 && !isV1 {
			continue
		}
		mount := path.Join(".", path.Clean("/"+at[4]))
		return hierarchy{mount: mount, group: path.Join(mount, within(group, at[3])), v2: v2}, nil
	}
	return hierarchy{}, fmt.Errorf("no control groups for %s are mounted", controller)
}

// within gives the path of a group below the root that is mounted, cleaned so that it can
// never lead out of it; "/" when the group is not below the root.
func within(group, root string) string {
	if root == "/" {
		root = ""
	}
	below, ok := strings.CutPrefix(group, root)
	if !ok || !strings.HasPrefix(below, "/") {
		return "/"
	}
	return path.Clean(below)
}
