package steady

import (
	"fmt"
	"math"

	"benchd/worker/stats"
)

// When one level is none after all.
const (
	driftErrors = 4.5 // a slope is beyond chance at this many standard errors
	driftSize   = 1.6 // and is a drift when it moves the level by this many standard deviations

	cycleShare  = 0.42 // a swing that makes this part of the variance is one
	cycleChance = 0.01 // and is so strong by chance this seldom
	cycleStep   = 0.5  // of the number of swings in the series that are tried, from two on

	minCrossings = 3 // jumps from one level to the other that make a habit
)

// unrest says in a sentence why the series has no steady part though its last change lies in
// the first half; it is empty when it has one. Whoever has only changes of level to tell
// them with would take a slow drift, a quick swing or quick jumps for noise.
func unrest(samples, clipped []float64, parts []part, n noise) string {
	last := parts[len(parts)-1:]
	from := last[0].from
	for _, sentence := range []string{
		drift(clipped, parts, n), drift(clipped[from:], last, n),
		swing(clipped, parts, n), swing(clipped[from:], last, n),
		jumps(samples[from:]), jumps(smooth(samples[from:])),
	} {
		if sentence != "" {
			return sentence
		}
	}
	return ""
}

// drift tells when a straight line describes the samples better than their levels do.
func drift(samples []float64, parts []part, n noise) string {
	slope, rest := line(samples)
	count := float64(len(samples))
	around := math.Sqrt(rest / (count - 2))
	chance := around * math.Sqrt(12/(count*count*count)*n.longer())
	moved := math.Abs(slope) * count
	if moved == 0 || moved < max(band*math.Abs(n.level), driftSize*around, driftErrors*chance*count) {
		return ""
	}
	if rest > levelled(samples, parts) {
		return ""
	}
	center, half := mean(samples), slope*(count-1)/2
	return fmt.Sprintf("the level drifts from %.4g to %.4g over %d slices", center-half, center+half, len(samples))
}

// line gives the slope of the least-squares line and the squares that it leaves.
func line(samples []float64) (slope, rest float64) {
	center, middle := mean(samples), float64(len(samples)-1)/2
	along, across := 0.0, 0.0
	for i, v := range samples {
		along += (float64(i) - middle) * (float64(i) - middle)
		across += (float64(i) - middle) * (v - center)
	}
	slope = across / along
	for i, v := range samples {
		d := v - center - slope*(float64(i)-middle)
		rest += d * d
	}
	return slope, rest
}

// levelled is the squares that the parts' levels leave.
func levelled(samples []float64, parts []part) float64 {
	rest := 0.0
	for _, p := range parts {
		v := samples[p.from-parts[0].from : p.to-parts[0].from]
		level := mean(v)
		for _, x := range v {
			rest += (x - level) * (x - level)
		}
	}
	return rest
}

// swing tells when one frequency makes most of the variance, and describes the samples
// better than their levels do. How likely that is by chance follows Fisher's test of the
// largest of m ordinates of the periodogram, which has the share g or more at most
// m·(1−g)^(m−1) times (Tests of significance in harmonic analysis, Proc. R. Soc. A 125, 1929).
func swing(samples []float64, parts []part, n noise) string {
	count := float64(len(samples))
	center, all := mean(samples), 0.0
	for _, v := range samples {
		all += (v - center) * (v - center)
	}
	most, at := 0.0, 0.0
	for k := 2.0; k < count/2; k += cycleStep {
		if p := ordinate(samples, k, center); p > most {
			most, at = p, k
		}
	}
	explained, amplitude := 2*most/count, 2*math.Sqrt(most)/count
	share := explained / all
	ordinates := count / 2 / cycleStep
	switch {
	case !(share >= cycleShare), // nor when all is 0
		ordinates*math.Pow(1-share, count/2-1) > cycleChance,
		2*amplitude < band*math.Abs(n.level),
		all-explained > levelled(samples, parts):
		return ""
	}
	return fmt.Sprintf("the level swings between %.4g and %.4g every %.1f slices", center-amplitude, center+amplitude, count/at)
}

// ordinate is the squared length of the Fourier coefficient of k swings, by Goertzel's
// recurrence. A swing of amplitude A has (A·n/2)².
func ordinate(samples []float64, k, center float64) float64 {
	twice := 2 * math.Cos(2*math.Pi*k/float64(len(samples)))
	one, two := 0.0, 0.0
	for _, v := range samples {
		one, two = v-center+twice*one-two, one
	}
	return one*one + two*two - twice*one*two
}

// jumps tells when the samples go to and fro between two levels with nothing between.
func jumps(samples []float64) string {
	m, two := stats.TwoModes(samples)
	if !two {
		return ""
	}
	crossings := 0
	for i := 1; i < len(samples); i++ {
		if (samples[i] < m.Between) != (samples[i-1] < m.Between) {
			crossings++
		}
	}
	if crossings < minCrossings {
		return ""
	}
	return fmt.Sprintf("the samples jump %d times between %.4g and %.4g", crossings, m.Low, m.High)
}

// smooth takes the median of each three neighbours, in which levels that last for some slices
// stand out from the noise.
func smooth(samples []float64) []float64 {
	out := make([]float64, 0, len(samples))
	for i := 1; i+1 < len(samples); i++ {
		out = append(out, stats.Middle(samples[i-1:i+2]))
	}
	return out
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
