"""Writes vectors.txt: values of f64 functions, from mpmath with 400 bits (pip install mpmath).

    python3 make_vectors.py > vectors.txt

One line a value: the function, its arguments as the bits of f64s (or a plain integer with `i` before it), the bits of the result
rounded to f64, and what the rounding left out, in thousandths of a unit in the last place.
"""

import random
import struct
import sys

from mpmath import mp, mpf

mp.prec = 400
random.seed(20)
POINTS = 120


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def ulp(x):
    """The distance of f64s around x."""
    if x == 0:
        return mpf(2) ** -1074
    exponent = int(mp.floor(mp.log(abs(x), 2)))
    if mpf(2) ** exponent > abs(x):
        exponent -= 1
    return mpf(2) ** (max(exponent, -1022) - 52)


def rounded(exact):
    """The nearest f64, ties to even, and the rest in units in the last place."""
    unit = ulp(exact)
    scaled = exact / unit
    whole = int(mp.nint(scaled))
    value = float(mpf(whole) * unit)
    return value, scaled - whole


def magnitudes(low, high, sign=False):
    """Spread evenly by exponent."""

    def draw():
        x = 2.0 ** random.uniform(low, high)
        return -x if sign and random.random() < 0.5 else x

    return draw


def between(low, high):
    return lambda: random.uniform(low, high)


def mix(*draws):
    return lambda: random.choice(draws)()


def erfinv(x):
    return mp.erfinv(x)


def erfcinv(x):
    """Newton's method on the logarithm: mp.erfinv(1 - x) would need as many bits as x has zeros."""
    if x >= 0.5:
        return mp.erfinv(1 - x)
    y = mp.sqrt(-mp.log(x)) if x < 0.1 else mpf(0.5)
    for _ in range(60):
        step = (mp.log(mp.erfc(y)) - mp.log(x)) * mp.erfc(y) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
        y += step
        if abs(step) < mpf(2) ** -300:
            break
    return y


def root(*xs):
    return mp.sqrt(sum(x * x for x in xs))


wide = magnitudes(-1000, 1000, sign=True)
tame = magnitudes(-40, 12, sign=True)
small = magnitudes(-30, 0, sign=True)
positive = magnitudes(-1060, 1000)

UNARY = {
    "sin": (mp.sin, mix(tame, magnitudes(12, 1000, sign=True))),
    "cos": (mp.cos, mix(tame, magnitudes(12, 1000, sign=True))),
    "tan": (mp.tan, mix(tame, magnitudes(12, 1000, sign=True))),
    "sinpi": (mp.sinpi, magnitudes(-40, 30, sign=True)),
    "cospi": (mp.cospi, magnitudes(-40, 30, sign=True)),
    "asin": (mp.asin, mix(small, between(-1, 1))),
    "acos": (mp.acos, mix(small, between(-1, 1))),
    "atan": (mp.atan, tame),
    "sinh": (mp.sinh, mix(small, between(-710, 710))),
    "cosh": (mp.cosh, mix(small, between(-710, 710))),
    "tanh": (mp.tanh, mix(small, between(-25, 25))),
    "asinh": (mp.asinh, mix(tame, wide)),
    "acosh": (mp.acosh, mix(between(1, 4), magnitudes(0, 1000))),
    "atanh": (mp.atanh, mix(small, between(-1, 1))),
    "exp": (mp.exp, mix(small, between(-744, 709))),
    "exp2": (lambda x: mpf(2) ** x, mix(small, between(-1074, 1023))),
    "exp10": (lambda x: mpf(10) ** x, mix(small, between(-323, 308))),
    "expm1": (mp.expm1, mix(small, between(-40, 709))),
    "log": (mp.log, mix(positive, between(0.5, 2))),
    "log2": (lambda x: mp.log(x, 2), mix(positive, between(0.5, 2))),
    "log10": (mp.log10, mix(positive, between(0.5, 2))),
    "log1p": (mp.log1p, mix(small, positive, between(-0.999, 1))),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), wide),
    "rcbrt": (lambda x: mp.sign(x) / mp.cbrt(abs(x)), wide),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), positive),
    "erf": (mp.erf, mix(small, between(-6, 6))),
    "erfc": (mp.erfc, mix(small, between(-6, 26))),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), mix(small, between(-26, 30), magnitudes(5, 500))),
    "erfinv": (erfinv, mix(small, between(-1, 1))),
    "erfcinv": (erfcinv, mix(magnitudes(-1060, 0), between(0, 2))),
    "normcdf": (mp.ncdf, mix(small, between(-37, 8))),
    "normcdfinv": (lambda x: -mp.sqrt(2) * erfcinv(2 * x), mix(magnitudes(-1060, -1), between(0, 1))),
    "tgamma": (mp.gamma, mix(between(-20, 171), magnitudes(-500, 3), between(-170, 0))),
    "lgamma": (mp.loggamma, mix(between(0, 40), magnitudes(-500, 900))),
    "j0": (lambda x: mp.besselj(0, x), mix(between(0, 60), magnitudes(-20, 10))),
    "j1": (lambda x: mp.besselj(1, x), mix(between(0, 60), magnitudes(-20, 10))),
    "y0": (lambda x: mp.bessely(0, x), mix(between(0.01, 60), magnitudes(-20, 10))),
    "y1": (lambda x: mp.bessely(1, x), mix(between(0.01, 60), magnitudes(-20, 10))),
    "cyl_bessel_i0": (lambda x: mp.besseli(0, x), mix(between(-30, 30), between(30, 713), small)),
    "cyl_bessel_i1": (lambda x: mp.besseli(1, x), mix(between(-30, 30), between(30, 713), small)),
}
BINARY = {
    "atan2": (mp.atan2, mix(tame, wide), mix(tame, wide)),
    "pow": (lambda x, y: x**y, magnitudes(-30, 30), between(-30, 30)),
    "hypot": (root, mix(tame, wide), mix(tame, wide)),
    "rhypot": (lambda *x: 1 / root(*x), mix(tame, wide), mix(tame, wide)),
    "norm3d": (root, mix(tame, wide), mix(tame, wide), tame),
    "rnorm3d": (lambda *x: 1 / root(*x), mix(tame, wide), mix(tame, wide), tame),
    "norm4d": (root, tame, mix(tame, wide), tame, tame),
    "rnorm4d": (lambda *x: 1 / root(*x), tame, mix(tame, wide), tame, tame),
}
INTEGER = {
    "powi": (lambda x, n: x**n, magnitudes(-20, 20, sign=True), (-40, 40), "xn"),
    "jn": (lambda n, x: mp.besselj(n, x), between(0.1, 60), (2, 12), "nx"),
    "yn": (lambda n, x: mp.bessely(n, x), between(2, 60), (2, 12), "nx"),
}


def line(name, arguments, exact):
    exact = mp.re(exact)
    value, rest = rounded(exact)
    # Not functions' overflow and underflow: those are other tests' matter.
    if not 2.0**-1022 <= abs(value) < 2.0**1023:
        return False
    words = [f"i{a}" if isinstance(a, int) else f"{bits(a):x}" for a in arguments]
    print(name, *words, f"{bits(value):x}", int(mp.nint(rest * 1000)))
    return True


def main():
    for name, (function, *draws) in {**UNARY, **BINARY}.items():
        done = 0
        while done < POINTS:
            arguments = [draw() for draw in draws]
            done += line(name, arguments, function(*map(mpf, arguments)))
        print(name, file=sys.stderr)
    for name, (function, draw, (low, high), order) in INTEGER.items():
        done = 0
        while done < POINTS:
            x, n = draw(), random.randint(low, high)
            if order == "xn":
                done += line(name, [x, n], function(mpf(x), n))
            else:
                done += line(name, [n, x], function(n, mpf(x)))
        print(name, file=sys.stderr)


main()
