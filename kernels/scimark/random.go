package scimark

// The generator's modulus is m1 = 2³¹ − 1; its seeding splits numbers at m2 = 2¹⁶.
const (
	m1  = 1<<31 - 1
	m2  = 1 << 16
	dm1 = 1.0 / m1
)

// lag is how many numbers the generator remembers.
const lag = 17

// ring is the length of the array that holds them: a power of two, so that a masked index
// needs no bounds check. The places from lag on stay unused.
const (
	ring = 32
	mask = ring - 1
)

// random is the generator of SciMark: subtractive with lags 17 and 5, after the UNI routine
// of the NIST core library. It must give the original's numbers bit by bit, or no result
// compares.
type random struct {
	m    [ring]int32
	i, j uint
}

// newRandom returns a generator that starts from the seed.
func newRandom(seed int32) *random {
	r := new(random)
	r.start(seed)
	return r
}

// start makes the generator's state from the seed.
func (r *random) start(seed int32) {
	s := min(max(seed, -seed), m1)
	if s%2 == 0 {
		s--
	}
	const k0, k1 = 9069 % m2, 9069 / m2
	*r = random{i: 4, j: lag - 1}
	j0, j1 := s%m2, s/m2
	for i := range lag {
		t := j0 * k0
		j1 = (t/m2 + j0*k1 + j1*k0) % (m2 / 2)
		j0 = t % m2
		r.m[i] = j0 + m2*j1
	}
}

// next returns the next number, from 0 to 1.
func (r *random) next() float64 {
	k := r.m[r.i&mask] - r.m[r.j&mask]
	if k < 0 {
		k += m1
	}
	r.m[r.j&mask] = k
	r.i, r.j = before(r.i), before(r.j)
	return dm1 * float64(k)
}

// before counts a place of the generator down, from 0 back to the last.
func before(i uint) uint {
	if i == 0 {
		return lag - 1
	}
	return i - 1
}

// vector returns the next n numbers.
func (r *random) vector(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = r.next()
	}
	return v
}

// matrix returns the next n·n numbers as n rows. The rows lie one behind the other in
// memory and are reached through slices of their own, the row pointers of the original.
func (r *random) matrix(n int) [][]float64 {
	return rows(r.vector(n*n), n)
}

// rows cuts numbers into rows of n.
func rows(v []float64, n int) [][]float64 {
	m := make([][]float64, n)
	for i := range m {
		m[i] = v[i*n : (i+1)*n : (i+1)*n]
	}
	return m
}
