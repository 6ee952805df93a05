package bench

import "benchd/kernels"

// A RunPage is one page of the list of runs.
type RunPage struct {
	Runs []Run  `json:"runs"`           // newest first, without their trials
	Next string `json:"next,omitempty"` // the cursor of the next page; left out on the last
}

// A KernelList is every kernel that can be asked for.
type KernelList struct {
	Kernels []KernelInfo `json:"kernels"`
}

// A KernelInfo describes one kernel: what it measures and which parameters it takes.
type KernelInfo struct {
	Name      string      `json:"name" example:"soap.echo"`
	Family    string      `json:"family" example:"soap"` // stands for all of its kernels in a request
	Title     string      `json:"title"`                 // one sentence
	Operation string      `json:"operation"`             // what one operation is
	Unit      string      `json:"unit" example:"call/s"` // of the score
	Lanes     string      `json:"lanes,omitempty"`       // the parameter that says how many lanes run
	Composite string      `json:"composite,omitempty"`   // the composite figure it is a member of
	Params    []ParamInfo `json:"params"`                // in the order in which a matrix varies them, the last fastest
}

// A ParamInfo describes one parameter of a kernel.
type ParamInfo struct {
	Name    string   `json:"name" example:"size"`
	Doc     string   `json:"doc"`                                     // one sentence
	Kind    string   `json:"kind" enums:"word,int,size,bool,service"` // service: the name of a service of the host, or "embedded"
	Default string   `json:"default" example:"1KB"`
	Values  []string `json:"values,omitempty"`  // all the allowed values, where they can be listed
	Schemes []string `json:"schemes,omitempty"` // of a service: those of the addresses that the kernel can use
	// Of is, of a service, the parameter on whose value it depends which servers there are, and
	// Servers tells them by that value; without it they are "embedded" and whatever is of Schemes.
	Of      string                 `json:"of,omitempty" example:"broker"`
	Servers map[string]ServersInfo `json:"servers,omitempty"`
	Min     *int64                 `json:"min,omitempty"` // bounds of an int, or of a size in bytes; the host's limits may be lower
	Max     *int64                 `json:"max,omitempty"`
}

// A ServersInfo tells which servers a parameter of kind service can be.
type ServersInfo struct {
	Embedded bool     `json:"embedded"` // one inside the worker
	Schemes  []string `json:"schemes"`  // those of the addresses of named services; none of them where it is empty
}

// DescribeKernels lists the kernels of a catalog in order.
func DescribeKernels(c *Catalog) KernelList {
	list := KernelList{Kernels: []KernelInfo{}}
	for _, f := range c.Families() {
		for _, k := range f.Kernels {
			list.Kernels = append(list.Kernels, describeKernel(f.Name, k.Info()))
		}
	}
	return list
}

func describeKernel(family string, i kernels.Info) KernelInfo {
	out := KernelInfo{
		Name: i.Name, Family: family, Title: i.Title, Operation: i.Operation, Unit: i.Unit,
		Lanes: i.Lanes, Composite: i.Composite, Params: make([]ParamInfo, len(i.Params)),
	}
	for n, p := range i.Params {
		out.Params[n] = ParamInfo{Name: p.Name, Doc: p.Doc, Kind: string(p.Kind), Default: p.Default, Values: p.Values, Schemes: p.Schemes, Of: p.Of, Servers: servers(p.Servers)}
		if bounded := p.Kind == kernels.Int || p.Kind == kernels.Size; bounded && len(p.Values) == 0 {
			out.Params[n].Min, out.Params[n].Max = &p.Min, &p.Max
		}
	}
	return out
}

func servers(by map[string]kernels.Servers) map[string]ServersInfo {
	if by == nil {
		return nil
	}
	out := make(map[string]ServersInfo, len(by))
	for v, s := range by {
		out[v] = ServersInfo{Embedded: s.Embedded, Schemes: append([]string{}, s.Schemes...)}
	}
	return out
}

// A SuiteList is every suite that can be asked for.
type SuiteList struct {
	Suites []Suite `json:"suites"`
}

// A HostList is every host that was ever seen.
type HostList struct {
	Hosts []Host `json:"hosts"`
}

// A Health says that the service, or the part of it that was asked, works.
type Health struct {
	Status string `json:"status" example:"ok"`
}

// A Problem is the body of every answer that is not a success (RFC 9457).
type Problem struct {
	Type      string       `json:"type" example:"about:blank"`                                                                       // always about:blank: the code tells the kinds apart
	Title     string       `json:"title" example:"Unprocessable Entity"`                                                             // the status in words
	Status    int          `json:"status" example:"422"`                                                                             // the HTTP status
	Detail    string       `json:"detail" example:"/cases/0/kernel: there is no kernel \"scimark.ftt\"; there are scimark.fft, ..."` // a sentence: what was wrong, where, what is allowed
	Code      string       `json:"code" example:"unknown_kernel"`                                                                    // stable: what a program looks at
	RequestID string       `json:"request_id,omitempty"`                                                                             // names the request in the service's log
	Errors    []FieldError `json:"errors,omitempty"`                                                                                 // what was wrong with which field
}
