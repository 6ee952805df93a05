package compare

// What the figures rest on, for tests against published values.
var (
	MannWhitney = mannWhitney
	TwoSided    = twoSided
	Quantile    = quantile
	UpperF      = upperF
	Digamma     = digamma
	Trigamma    = trigamma
	InverseTri  = inverseTrigamma
)
