package stats

// Doubts tells what speaks against taking the samples of a trial for draws around one level,
// each as "code: a sentence with numbers". The codes are bimodal and autocorrelated.
func Doubts(forks [][]float64) []string {
	return nil
}
