package references

import "benchd/worker/bench"

// A source is an article and the file with its figures.
type source struct {
	name   string
	tables []bench.ReferenceTable // in the order of its text
}

// sources lists the articles. Every table of a data file is named here, which is where it is
// decided whether its figures mean the same as a score of ours.
func sources() []source {
	return []source{
		{"java-on-many-machines", []bench.ReferenceTable{
			{
				Name: "scimark-small", Title: "SciMark, small", Comparable: true,
				Compares: "The composite of the five kernels at the small size on one thread with the composite that SciMark 2.0 printed.",
			},
			{
				Name: "scimark-large", Title: "SciMark, large", Comparable: true,
				Compares: "The composite of the five kernels at the large size on one thread with the composite that SciMark 2.0 printed.",
			},
			{
				Name: "soap-axis", Title: "SOAP calls of four beans, Axis 1.1", Comparable: true,
				Compares: "Calls per second of one client, four beans and an array of strings in 2.2 KB there and back, however they are read and whether or not connections are kept, " +
					"with Axis 1.1 in Tomcat 5.0.18 as client and server on one machine.",
			},
			{
				Name: "soap-gsoap-axis", Title: "SOAP calls of four beans, gSOAP and Axis as client and server", Comparable: false,
				Compares: "Nothing: the eight pairs are there to compare a client and a server of either kind with each other.",
			},
			{
				Name: "soap-gsoap", Title: "SOAP calls of four beans, gSOAP", Comparable: true,
				Compares: "Calls per second of one client, four beans and an array of strings in 2.2 KB there and back, however they are read and whether or not connections are kept, " +
					"with gSOAP as client and server on one machine, whose code is generated for this one message.",
			},
		}},
		{"soaprunner", []bench.ReferenceTable{{
			Name: "engines", Title: "SOAP engines under SoapRunner", Comparable: false,
			Compares: "Nothing: the size and shape of the messages are not told.",
		}}},
		{"cxf-on-sparc", []bench.ReferenceTable{{
			Name: "cxf", Title: "CXF on a SPARC T4", Comparable: false,
			Compares: "Nothing: one figure is a lower bound with several load generators, the others are ratios.",
		}}},
		{"erlang-jvm", []bench.ReferenceTable{
			{
				Name: "echo", Title: "Erlang echo on the JVM", Comparable: true,
				Compares: "Round trips per second through the Erlang distribution with as many clients, to an echo in a process of its own with an echo in a thread of its own.",
			},
			{
				Name: "mailbox", Title: "mailbox to mailbox on the JVM", Comparable: true,
				Compares: "Messages per second between one pair of mailboxes inside one process; what one message carries is not told.",
			},
		}},
		{"page-small-heap", []bench.ReferenceTable{
			{
				Name: "page", Title: "a cached page under a small heap", Comparable: true,
				Compares: "Requests per second for a page of 12,795 bytes that is kept for 15 s, by 10 clients that connect anew for each, under the same limit of memory.",
			},
			{
				Name: "page-summary", Title: "a cached page under a small heap, further figures", Comparable: false,
				Compares: "Nothing: totals of one run of the load generator.",
			},
			{
				Name: "page-times", Title: "a cached page under a small heap, times of connections", Comparable: false,
				Compares: "Nothing: most figures are below the resolution of 1 ms.",
			},
			{
				Name: "page-percentiles", Title: "a cached page under a small heap, percentiles of the total time", Comparable: true,
				Compares: "Percentiles of the total time of a request, in ms, for a page of 12,795 bytes that is kept for 15 s, by 10 clients that connect anew for each, " +
					"under the same limit of memory; those published are whole milliseconds.",
			},
		}},
	}
}
