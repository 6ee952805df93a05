package host

import (
	"errors"
	"io/fs"
	"strings"
)

// virtualization tells what stands between the kernel and the metal, and between benchd and
// the kernel: "none", "kvm", "docker", "kvm, docker".
func (t tree) virtualization() (string, error) {
	machine, err := t.machine()
	container := t.container()
	switch {
	case container == "":
		return machine, err
	case err != nil:
		return "", err
	case machine == "none":
		return container, nil
	default:
		return machine + ", " + container, nil
	}
}

// machine names the hypervisor, "none" on metal. The firmware's words come first, since they
// name the product; the processor only tells that there is a hypervisor, and which kind.
func (t tree) machine() (string, error) {
	if kind := t.firmware(); kind != "" {
		return kind, nil
	}
	if kind, err := t.text("sys/hypervisor/type"); err == nil && kind != "" {
		return kind, nil
	}
	if t.hypervisor != "" {
		return t.hypervisor, nil
	}
	flags, isX86 := first(t.cpuinfo())["flags"]
	switch {
	case isX86 && strings.Contains(" "+flags+" ", " hypervisor "):
		return "unnamed hypervisor", nil
	case isX86, t.has("sys/class/dmi/id/sys_vendor"), t.has("proc/device-tree/model"):
		return "none", nil
	}
	return "", errors.New("neither the processor nor the firmware tells whether this is a virtual machine")
}

// firmware looks for the hypervisors' names in the DMI tables and in the device tree.
func (t tree) firmware() string {
	var words []string
	for _, name := range []string{
		"sys/class/dmi/id/sys_vendor", "sys/class/dmi/id/product_name", "sys/class/dmi/id/bios_vendor",
		"proc/device-tree/hypervisor/compatible",
	} {
		if text, err := t.text(name); err == nil {
			words = append(words, strings.Trim(text, "\x00"))
		}
	}
	all := strings.ToLower(strings.Join(words, "\n"))
	// Metal of a cloud carries its owner's name and is told apart by its product's name.
	if strings.Contains(all, ".metal") {
		return ""
	}
	for _, known := range [...][2]string{
		{"vmware", "vmware"},
		{"virtualbox", "virtualbox"},
		{"innotek", "virtualbox"},
		{"xen", "xen"},
		{"microsoft corporation\nvirtual machine", "hyper-v"},
		{"parallels", "parallels"},
		{"apple virtualization", "apple"},
		{"bhyve", "bhyve"},
		{"google compute engine", "kvm"},
		{"amazon ec2", "kvm"},
		{"openstack", "kvm"},
		{"kvm", "kvm"},
		{"qemu", "qemu"},
	} {
		if strings.Contains(all, known[0]) {
			return known[1]
		}
	}
	return ""
}

// container names the kind of container that this process is in, "" outside of one.
func (t tree) container() string {
	if kind, err := t.text("run/systemd/container"); err == nil && kind != "" {
		return kind
	}
	if t.has("run/.containerenv") {
		return "podman"
	}
	if t.has(".dockerenv") {
		return "docker"
	}
	groups, _ := t.text("proc/1/cgroup")
	for _, known := range [...][2]string{{"kubepods", "kubernetes"}, {"docker", "docker"}, {"lxc", "lxc"}, {"containerd", "containerd"}} {
		if strings.Contains(groups, known[0]) {
			return known[1]
		}
	}
	return ""
}

// has tells whether the machine has a file of that name.
func (t tree) has(name string) bool {
	_, err := fs.Stat(t.files, name)
	return err == nil
}
