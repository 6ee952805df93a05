package host

import (
	"strings"

	"github.com/klauspost/cpuid/v2"

	"benchd/worker/bench"
)

// askChip fills in the facts that the system did not tell and the processor itself does.
func askChip(s *bench.HostSnapshot) {
	f, cache := &s.Facts, cpuid.CPU.Cache
	if f.CPUModel == "" || f.CPUModel == "unknown" {
		if name := squeeze(cpuid.CPU.BrandName); name != "" {
			f.CPUModel = name
		}
	}
	for _, c := range []struct {
		name string
		into **int64
		size int
	}{
		{"cache_l1d_bytes", &f.CacheL1d, cache.L1D},
		{"cache_l2_bytes", &f.CacheL2, cache.L2},
		{"cache_l3_bytes", &f.CacheL3, cache.L3},
	} {
		if *c.into == nil && c.size > 0 {
			size := int64(c.size)
			*c.into = &size
			delete(s.Unknown, c.name)
		}
	}
}

// chipHypervisor names the hypervisor that the processor tells of, "" when it tells of none.
func chipHypervisor() string {
	raw := strings.Trim(cpuid.CPU.HypervisorVendorString, "\x00 ")
	for _, known := range [...][2]string{
		{"KVMKVMKVM", "kvm"},
		{"Microsoft Hv", "hyper-v"},
		{"VMwareVMware", "vmware"},
		{"XenVMMXenVMM", "xen"},
		{"TCGTCGTCGTCG", "qemu"},
		{"bhyve bhyve", "bhyve"},
		{"VBoxVBoxVBox", "virtualbox"},
		{"prl hyperv", "parallels"},
	} {
		if strings.HasPrefix(raw, known[0]) {
			return known[1]
		}
	}
	return raw
}
