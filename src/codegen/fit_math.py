"""Prints the coefficients of math_coefficients.h: of polynomials, and of one quotient of two.

Each function is fitted by Remez' exchange algorithm in 60 digits, to the least largest error weighted as
stated. Run with any Python that has mpmath: python3 fit_math.py > math_coefficients.h
"""

from mpmath import mp, mpf, matrix, lu_solve, cos, pi, exp, expm1, coth, log, sin, atan, asin, erf, erfc, sqrt, tan

mp.dps = 60


def remez(f, weight, low, high, degree, denominator=0):
    """The p / q, of polynomials of these degrees with q(0) = 1, that minimizes max |p / q - f| · weight on [low, high]:
    their coefficients and that maximum."""
    low, high = mpf(low), mpf(high)
    n = degree + denominator + 2
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * n)) for i in range(n)]
    grid = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / 600) for i in range(601)]
    values = [(x, f(x), weight(x)) for x in grid]
    q = [mpf(1)]
    for _ in range(12 if denominator == 0 else 24):
        a, b = matrix(n, n), matrix(n, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                a[i, j] = x**j
            for j in range(denominator):
                a[i, degree + 1 + j] = -f(x) * x ** (j + 1)
            a[i, n - 1] = (-1) ** i * horner(q, x) / weight(x)
            b[i] = f(x)
        solution = lu_solve(a, b)
        c = [solution[j] for j in range(degree + 1)]
        q = [mpf(1)] + [solution[degree + 1 + j] for j in range(denominator)]
        errors = [(horner(c, x) / horner(q, x) - y) * w for x, y, w in values]
        # One extremum for each run of equal signs.
        extrema, run = [], [0]
        for i in range(1, len(errors)):
            if (errors[i] < 0) != (errors[run[-1]] < 0):
                extrema.append(max(run, key=lambda k: abs(errors[k])))
                run = []
            run.append(i)
        extrema.append(max(run, key=lambda k: abs(errors[k])))
        if len(extrema) < n:
            break
        while len(extrema) > n:
            extrema.pop(0 if abs(errors[extrema[0]]) < abs(errors[extrema[-1]]) else -1)
        points = [grid[i] for i in extrema]
    return c, q, max(abs(e) for e in errors)


def horner(c, x):
    y = mpf(0)
    for a in reversed(c):
        y = y * x + a
    return y


def show(name, comment, f, weight, low, high, degree):
    c, _, error = remez(f, weight, low, high, degree)
    print(f"// {comment}; weighted error {float(error):.1e}.")
    show_array(name, c)
    print()


def show_quotient(name, comment, f, weight, low, high, degree, denominator):
    c, q, error = remez(f, weight, low, high, degree, denominator)
    print(f"// {comment}; weighted error {float(error):.1e}.")
    show_array(name + "Numerator", c)
    show_array(name + "Denominator", q)
    print()


def show_array(name, c):
    print(f"inline constexpr double {name}[] = {{")
    for a in c:
        print(f"    {float(a)!r},")
    print("};")


def main():
    half_ln2 = log(2) / 2 * mpf("1.001")
    tiny = mpf("1e-12")

    def exp_rest(r):  # (e^r - 1 - r) / r²
        return (expm1(r) - r) / r**2 if abs(r) > tiny else mpf(1) / 2

    def wide_coth(z):  # r coth(r / 2) in z = r²
        return sqrt(z) * coth(sqrt(z) / 2) if z > tiny else mpf(2)

    def coth_weight(z):  # what it adds to the error of e^r = (r coth(r / 2) + r) / (r coth(r / 2) - r)
        return 2 * sqrt(z) / (wide_coth(z) ** 2 - z) + tiny

    def log_rest(f):  # (log(1 + f) - f + f²/2) / f³
        return (log(1 + f) - f + f**2 / 2) / f**3 if abs(f) > tiny else mpf(1) / 3

    def log_ratio(z):  # (log((1 + s) / (1 - s)) - 2 s) / (s z), z = s²
        if z < tiny:
            return mpf(2) / 3
        s = sqrt(z)
        return (log((1 + s) / (1 - s)) - 2 * s) / (s * z)

    def odd_rest(g, limit):  # (g(x) - x) / x³ in z = x²
        return lambda z: (g(sqrt(z)) - sqrt(z)) / (z * sqrt(z)) if z > tiny else mpf(limit)

    def cos_rest(z):  # (cos x - 1 + z / 2) / z²
        return (cos(sqrt(z)) - 1 + z / 2) / z**2 if z > tiny else mpf(1) / 24

    def erf_ratio(z):  # erf(x) / x
        return erf(sqrt(z)) / sqrt(z) if z > tiny else 2 / sqrt(pi)

    def erf_tail(low, high):  # -log(erfc t) where t = middle + u · radius
        middle, radius = mpf(low + high) / 2, mpf(high - low) / 2
        value = lambda u: -log(erfc(middle + u * radius))
        return value, lambda u: erfc(middle + u * radius) / erf(middle + u * radius)

    print("// Made by fit_math.py: coefficients from the constant term up.")
    print("#ifndef ATTUNE_CODEGEN_MATH_COEFFICIENTS_H_\n#define ATTUNE_CODEGEN_MATH_COEFFICIENTS_H_\n")
    print("namespace attune {\n")
    show("kExpF32", "(e^r - 1 - r) / r², |r| <= ln 2 / 2", exp_rest, lambda r: r**2 + tiny, -half_ln2, half_ln2, 4)
    show("kLogisticF32", "r coth(r / 2) in r², |r| <= ln 2 / 2", wide_coth, coth_weight, 0, half_ln2**2, 2)
    print("// e^r = 1 + slope · r + r²/2, |r| <= h = ln 2 / 64: slope - 1 = h²/10 is what a line takes best from r³/6, by")
    print(f"// least squares; largest relative error {float((half_ln2 / 32) ** 3 / 15):.1e}.")
    print(f"inline constexpr double kTableSlopeF32 = {float(1 + (half_ln2 / 32) ** 2 / 10)!r};\n")
    show("kExpF64", "(e^r - 1 - r) / r², |r| <= ln 2 / 2", exp_rest, lambda r: r**2 + tiny, -half_ln2, half_ln2, 9)
    root = sqrt(mpf(2))
    show("kLogF32", "(log(1 + f) - f + f²/2) / f³, 1 + f in [1/√2, √2]", log_rest, lambda f: f**2 + tiny,
         1 / root - 1, root - 1, 8)
    show("kLogF64", "(2 atanh(s) - 2 s) / s³ in s², 1 + f = (1 + s) / (1 - s) in [1/√2, √2]", log_ratio,
         lambda z: z + tiny, 0, ((root - 1) / (root + 1)) ** 2, 6)
    quarter = (pi / 4) ** 2 * mpf("1.001")
    show("kSin", "(sin x - x) / x³ in x², |x| <= π/4", odd_rest(sin, mpf(-1) / 6), lambda z: z + tiny, 0, quarter, 5)
    show("kCos", "(cos x - 1 + x²/2) / x⁴ in x², |x| <= π/4", cos_rest, lambda z: z**2 + tiny, 0, quarter, 5)
    show("kAtan", "(atan x - x) / x³ in x², |x| <= tan(π/8)", odd_rest(atan, mpf(-1) / 3), lambda z: z + tiny, 0,
         tan(pi / 8) ** 2 * mpf("1.001"), 10)
    show("kAsin", "(asin x - x) / x³ in x², |x| <= 1/2", odd_rest(asin, mpf(1) / 6), lambda z: z + tiny, 0, mpf("0.2501"), 12)
    show_quotient("kErfF32", "erf(x) / x in x², |x| <= 3.92", erf_ratio, lambda z: 1 / erf_ratio(z), 0, mpf("15.3664"),
                  5, 5)
    show("kErfF64", "erf(x) / x in x², |x| <= 1.25", erf_ratio, lambda z: 1 / erf_ratio(z), 0, mpf("1.57"), 12)
    value, weight = erf_tail(mpf("1.2"), mpf("6"))
    show("kErfTailF64", "-log(erfc t), t = 3.6 + 2.4 u, |u| <= 1", value, weight, -1, 1, 17)
    print("}  // namespace attune\n\n#endif  // ATTUNE_CODEGEN_MATH_COEFFICIENTS_H_")


main()
