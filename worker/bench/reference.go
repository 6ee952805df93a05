package bench

import "benchd/kernels"

// A Reference is one figure of the articles that the project grew from, with what it was
// measured on. Figures that an article measured together are one table.
type Reference struct {
	Table        string         `json:"table" example:"scimark-small"`
	Source       string         `json:"source" example:"java-on-many-machines"` // short name of the article
	Line         int            `json:"line" example:"15"`                      // of the article's text, counted from 1
	Kernel       string         `json:"kernel" example:"scimark"`               // the kernel, or the composite, that measures the same
	Params       kernels.Params `json:"params" swaggertype:"object"`            // as far as the article tells them, in canonical text
	Comparable   bool           `json:"comparable"`                             // a score of the kernel with these parameters means the same
	Metric       string         `json:"metric" example:"throughput"`
	Unit         string         `json:"unit" example:"Mflop/s"`
	Better       string         `json:"better" enums:"higher,lower"`
	Value        *float64       `json:"value" extensions:"x-nullable"`         // null when it failed
	Error        *float64       `json:"error" extensions:"x-nullable"`         // half-width of the interval; null where the article gives none
	StableCycles *int64         `json:"stable_cycles" extensions:"x-nullable"` // operations until the speed was stable; null where the article does not tell
	System       string         `json:"system,omitempty" example:"Linux 4.15.0 64-bit"`
	Runtime      string         `json:"runtime,omitempty" example:"Oracle 1.8.0_161 64-bit"` // Java virtual machine, compiler or library; the client's where the server had another
	Server       string         `json:"server,omitempty"`                                    // the server's runtime, where it was another
	CPU          string         `json:"cpu,omitempty" example:"1x Intel Core i7-7700 @3.6GHz"`
	MHz          *float64       `json:"mhz" extensions:"x-nullable"` // nominal; null where the article does not tell
	Reason       string         `json:"reason,omitempty"`            // why the value is null
	Note         string         `json:"note,omitempty"`              // what else is to be known of the figure
}

// A ReferenceTable is one table of an article.
type ReferenceTable struct {
	Name       string `json:"name" example:"scimark-small"`
	Source     string `json:"source" example:"java-on-many-machines"`
	Title      string `json:"title" example:"SciMark, small"` // a few words, as a sentence can use them
	Comparable bool   `json:"comparable"`                     // its figures mean the same as a score of ours
	Compares   string `json:"compares"`                       // a sentence: what is compared with what, or why nothing is
	Count      int    `json:"count" example:"127"`            // figures that have a value
	Failed     int    `json:"failed"`                         // figures without one
}

// A ReferenceList is the published figures that were asked for.
type ReferenceList struct {
	Tables     []ReferenceTable `json:"tables"` // those of the figures listed
	References []Reference      `json:"references"`
}

// A Standing tells where a score would stand in a table of published figures that mean the
// same.
type Standing struct {
	Table          string  `json:"table" example:"scimark-small"`
	Source         string  `json:"source" example:"java-on-many-machines"`
	Metric         string  `json:"metric" example:"throughput"`
	Unit           string  `json:"unit" example:"Mflop/s"`
	Better         string  `json:"better" enums:"higher,lower"`
	Count          int     `json:"count" example:"127"`            // figures that the score is compared with
	Rank           int     `json:"rank" example:"1"`               // place of the score among them, from 1; a tie takes the better place
	Fastest        float64 `json:"fastest" example:"2617.8"`       // the best of the figures
	Median         float64 `json:"median" example:"573.09"`        // their median
	Slowest        float64 `json:"slowest" example:"43"`           // the worst
	RatioToFastest float64 `json:"ratio_to_fastest" example:"3.1"` // how many times as fast as the fastest: above 1 is faster, whichever way is better
	RatioToMedian  float64 `json:"ratio_to_median" example:"14"`
	Text           string  `json:"text" example:"3.1 x the fastest of 127 figures (SciMark, small; java-on-many-machines)"`
}
