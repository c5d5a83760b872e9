package typed

import (
	"context"

	"github.com/teaselfuzz/teasel"
)

const (
	largestFactor = 1 << 16 // largest factor that is searched; a larger one is found as the remaining cofactor
	maxDivisors   = 16      // number of divisors that are tried
)

// product searches values of two numbers for which the difference of the operands is 0, if the difference is a product of the two plus other
// terms: for example, width times height must equal a size. Integer solutions are few and far apart, so that Newton's method does not
// find them. Four executions determine the equation, if it has this form:
//
//	f(u, v) = k·u·v + p·u + q·v + r = 0   if and only if   (k·u + q)·(k·v + p) = p·q - k·r
//
// The divisors of the right side give the candidates for u and v.
func (x *solver) product(ctx context.Context, op teasel.Operand) error {
	r := x.w.Rand()
	at := r.IntN(len(x.moving))
	other := (at + 1 + r.IntN(len(x.moving)-1)) % len(x.moving)
	i, j := x.moving[at], x.moving[other]
	u, v := int64(x.nodes[i].load(x.numbers[i].p)), int64(x.nodes[j].load(x.numbers[j].p))
	var f [4]int64
	for c := range f {
		var ok bool
		var err error
		if f[c], ok, err = x.probe(ctx, op.Site, map[int]uint64{i: uint64(u + int64(c&1)), j: uint64(v + int64(c>>1))}); err != nil || !ok {
			return err
		}
	}
	e := equation(u, v, f)
	if e.k == 0 || e.right == 0 {
		return nil
	}
	ds := divisors(magnitude(e.right))
	r.Shuffle(len(ds), func(a, b int) { ds[a], ds[b] = ds[b], ds[a] })
	tried := 0
	for _, d := range ds {
		for _, d := range [2]int64{int64(d), -int64(d)} {
			u, v, ok := e.solution(d)
			if !ok || tried == maxDivisors {
				continue
			}
			tried++
			if _, _, err := x.probe(ctx, op.Site, map[int]uint64{i: uint64(u), j: uint64(v)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// bilinear is the equation (k·u + q)·(k·v + p) = right.
type bilinear struct{ k, p, q, right int64 }

// equation returns the equation of a function with the values f at (u, v), (u+1, v), (u, v+1) and (u+1, v+1).
func equation(u, v int64, f [4]int64) bilinear {
	k := f[3] - f[2] - f[1] + f[0]
	p, q := f[1]-f[0]-k*v, f[2]-f[0]-k*u
	rest := f[0] - k*u*v - p*u - q*v
	return bilinear{k, p, q, p*q - k*rest}
}

// solution returns the solution with k·u + q = d, and false if it is not an integer one.
func (e bilinear) solution(d int64) (u, v int64, ok bool) {
	u, v = d-e.q, e.right/d-e.p
	return u / e.k, v / e.k, e.right%d == 0 && u%e.k == 0 && v%e.k == 0
}

// divisors returns the divisors of n that are products of its prime factors up to largestFactor and of the remaining cofactor, at most some
// hundreds.
func divisors(n uint64) []uint64 {
	ds := []uint64{1}
	multiply := func(factor uint64, known int) {
		for _, d := range ds[:known] {
			ds = append(ds, d*factor)
		}
	}
	for factor := uint64(2); factor <= largestFactor && factor*factor <= n; factor++ {
		power, known := uint64(1), len(ds)
		for n%factor == 0 && len(ds) < 256 {
			n /= factor
			power *= factor
			multiply(power, known)
		}
	}
	if n > 1 {
		multiply(n, len(ds))
	}
	return ds
}
