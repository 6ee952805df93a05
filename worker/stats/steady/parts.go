package steady

import (
	"math"
	"slices"

	"benchd/worker/stats"
)

// What a change is. The figures were chosen on the labelled series of the tests; those of
// them that say what a person would call a change are band and spreads.
const (
	band       = 0.01 // levels closer than this part of the level are one
	spreads    = 1.6  // levels closer than this many standard deviations of the noise are one
	chances    = 3.6  // levels closer than this many standard errors of their difference are one
	shortest   = 3    // slices of a segment, at least
	penalty    = 3.0  // of a change, times ln(n); 3 is the BIC's for a mean, a variance and a place
	dearest    = 1.3  // times the penalty, at most, for noise with memory
	window     = 7    // slices around a sample that tell whether it is a spike
	spike      = 4.0  // standard deviations of the noise beyond which a sample is a spike
	mostSpikes = 0.1  // part of the samples that can be spikes
	finest     = 1e-3 // noise below this part of the level is taken for it
	maxMemory  = 0.6  // the most that a sample is taken to resemble the one before

	lowerSteps = 0.5586 // mean of the smaller four fifths of the steps, over their standard deviation
	sigma      = 1.4826 // standard deviations in the median distance of normal noise
)

// A part is a segment of the series with one level.
type part struct {
	from, to int
	level    float64 // median
	spread   float64 // standard deviation of the noise, from the median of the distances
}

// noise is what the whole series says about its noise, changes of level left out.
type noise struct {
	level float64 // median of the series
	// memory is how much a sample resembles the one before, 0 to maxMemory: the lag-one
	// correlation, taken from the steps between neighbours so that a few jumps do not count.
	memory float64
	spread float64 // standard deviation, from the same steps
}

// longer is the factor by which memory makes the variance of a mean larger.
func (n noise) longer() float64 { return (1 + n.memory) / (1 - n.memory) }

// noiseOf estimates the noise. For a correlation r between neighbours, steps over one slice
// have the variance 2σ²(1−r) and over two 2σ²(1−r²): their ratio is 1+r.
func noiseOf(samples []float64) noise {
	one, two := steps(samples, 1), steps(samples, 2)
	n := noise{level: stats.Middle(samples)}
	if one > 0 {
		ratio := two / one
		n.memory = min(max(ratio*ratio-1, 0), maxMemory)
	}
	n.spread = one / lowerSteps / math.Sqrt(2*(1-n.memory))
	return n
}

// steps is the typical size of a step over some slices: the mean of the smaller four fifths.
func steps(samples []float64, over int) float64 {
	var d []float64
	for i := over; i < len(samples); i++ {
		d = append(d, math.Abs(samples[i]-samples[i-over]))
	}
	slices.Sort(d)
	sum := 0.0
	for _, v := range d[:len(d)*4/5] {
		sum += v
	}
	return sum / float64(max(1, len(d)*4/5))
}

// clip draws spikes in to where they begin: samples that are far from the median of those
// around them, in terms of how far samples mostly are. The first slices are left alone, since
// a slow start is no spike, and so is a series in which spikes are not the exception.
func clip(samples []float64) []float64 {
	around := make([]float64, len(samples))
	away := make([]float64, len(samples))
	for i := range samples {
		around[i] = stats.Middle(samples[max(0, i-window/2):min(len(samples), i+window/2+1)])
		away[i] = math.Abs(samples[i] - around[i])
	}
	far := spike * sigma * stats.Middle(away)
	out, spikes := slices.Clone(samples), 0
	for i := shortest; i < len(out); i++ {
		if away[i] > far {
			out[i] = around[i] + math.Copysign(far, samples[i]-around[i])
			spikes++
		}
	}
	if float64(spikes) > mostSpikes*float64(len(samples)) {
		return samples
	}
	return out
}

// cut cuts the series where its mean or variance changes. Memory makes chance runs longer,
// and a change dearer.
func cut(samples []float64, n noise) []int {
	price := penalty * math.Log(float64(len(samples))) * min(n.longer(), dearest)
	floor := finest * n.level
	return PELT(samples, price, shortest, floor*floor)
}

// join makes parts of the segments that begin at the changes, and joins neighbours of one
// level, the most alike first, until none are.
func join(samples []float64, changes []int, n noise) []part {
	bounds := append(append([]int{0}, changes...), len(samples))
	for {
		parts := partsOf(samples, bounds)
		most, least := 0, 1.0
		for i := 1; i < len(parts); i++ {
			if d := distance(parts[i-1], parts[i], n); d < least {
				most, least = i, d
			}
		}
		switch {
		case most == 0 && len(parts) > 1:
			return parts
		case most == 0:
			return widest(samples, changes, n)
		}
		bounds = slices.Delete(bounds, most, most+1)
	}
}

// widest cuts at the change with the widest step, if one is wide enough: small steps that
// were joined one after another may hide a large one.
func widest(samples []float64, changes []int, n noise) []part {
	best, most := partsOf(samples, []int{0, len(samples)}), 1.0
	for _, at := range changes {
		parts := partsOf(samples, []int{0, at, len(samples)})
		if d := distance(parts[0], parts[1], n); d >= most {
			best, most = parts, d
		}
	}
	return best
}

// within is the memory that is left around the levels of the segments, which a ramp or a
// swing does not feign. A mean of few samples draws them to it, for which 1/n is added.
func (n noise) within(samples []float64, changes []int) noise {
	along, all, lost, from := 0.0, 0.0, 0.0, 0
	for _, to := range append(slices.Clone(changes), len(samples)) {
		v := samples[from:to]
		level := mean(v)
		for i, x := range v {
			all += (x - level) * (x - level)
			if i > 0 {
				along += (x - level) * (v[i-1] - level)
			}
		}
		lost++
		from = to
	}
	if all > 0 {
		n.memory = min(n.memory, max(0, along/all+lost/float64(len(samples))))
	}
	return n
}

func partsOf(samples []float64, bounds []int) []part {
	var parts []part
	for i := 1; i < len(bounds); i++ {
		p := part{from: bounds[i-1], to: bounds[i]}
		v := samples[p.from:p.to]
		p.level = stats.Middle(v)
		away := make([]float64, len(v))
		for j := range v {
			away[j] = math.Abs(v[j] - p.level)
		}
		p.spread = sigma * stats.Middle(away)
		parts = append(parts, p)
	}
	return parts
}

// distance tells how far two levels are apart; below 1 they are one. They are two when they
// differ by more than a band around the level, by more than the noise, and by more than
// chance would have it in parts so short.
func distance(a, b part, n noise) float64 {
	na, nb := float64(a.to-a.from), float64(b.to-b.from)
	variance := (na*a.spread*a.spread + nb*b.spread*b.spread) / (na + nb)
	variance = min(variance, n.spread*n.spread) // a ramp is not noise
	chance := chances * math.Sqrt(variance*n.longer()*(1/na+1/nb))
	least := max(band*min(math.Abs(a.level), math.Abs(b.level)), spreads*math.Sqrt(variance), chance)
	if least == 0 {
		least = math.SmallestNonzeroFloat64
	}
	return math.Abs(a.level-b.level) / least
}
