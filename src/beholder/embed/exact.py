"""Matrix products that are the same to the bit on every processor.

A BLAS adds up in an order of its own, which differs with the processor, the number of threads and a
row's place in the matrix; with it differ the last bits of a sum. Numbers on a coarse enough grid
have no last bits to lose: each product and each partial sum is a multiple of one step and fits into
the 53 bits of a float64, so that every order gives the same, exact sum.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray

_FINE = 24
"""Binary places of vectors of length one: a product of two takes 48, which leaves 5 for the sum."""
_STEPS = 1e6
"""Steps of a cosine from 0 to 1: a vector on the fine grid has length one up to half a step."""

_TAYLOR = [1.0 / math.factorial(degree) for degree in range(8)]


def on_grid(numbers: FloatArray, places: int) -> npt.NDArray[np.float64]:
    """Return numbers rounded to multiples of 2 to the power of minus ``places``, float64."""
    rounded: npt.NDArray[np.float64] = np.multiply(
        numbers,
        2.0**places,
        dtype=np.float64,
    )
    np.rint(rounded, out=rounded)
    rounded *= 2.0**-places
    return rounded


def exp(numbers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the exponential of numbers that are not positive, within 1e-8 of its value.

    That of numpy and of C libraries differs in its last bits from processor to processor. This one
    consists of additions and multiplications, which do not: a power of 2 times the polynomial of
    Taylor of degree 7, at most log(2) / 2 from 0. Numbers below -60 count as -60.
    """
    # exp(x) = 2**k * exp(r), with k the nearest whole number to x / log(2) and
    # r what remains; Horner's scheme gives the polynomial of r.
    numbers = np.maximum(numbers, -60.0)
    powers = numbers * (1.0 / math.log(2.0))
    np.rint(powers, out=powers)
    numbers -= powers * math.log(2.0)
    exponentials = numbers * _TAYLOR[7]
    for degree in range(6, 0, -1):
        exponentials += _TAYLOR[degree]
        exponentials *= numbers
    exponentials += 1.0
    # From 2**52 on a float64 ends in the bits of its whole number; moved to its exponent, they make
    # it 2 to the power of that number. ldexp takes several times as long.
    powers += 2.0**52 + 1023.0
    bits = powers.view(np.int64)
    bits <<= 52
    exponentials *= powers
    return exponentials


def products(a: FloatArray, b: FloatArray) -> npt.NDArray[np.float64]:
    """Return (n, m) inner products of each row of (n, D) with each row of (m, D).

    Exact for float32 rows on a grid of 2**-24, to which they are rounded, if the lengths of two
    rows multiply to less than 32. Rows of float64 keep all their digits and get the usual product.
    """
    if np.result_type(a, b) != np.float32:
        return a @ b.T
    sums: npt.NDArray[np.float64] = _fine_steps(a) @ _fine_steps(b).T
    sums *= 2.0 ** (-2 * _FINE)
    return sums


def _fine_steps(numbers: FloatArray) -> npt.NDArray[np.float64]:
    steps = numbers.astype(np.float64)
    steps *= 2.0**_FINE
    return np.rint(steps, out=steps)


def cosines(a: FloatArray, b: FloatArray) -> npt.NDArray[np.float64]:
    """Return (n, m) cosines, 0..1, of rows of length one or zero; negative ones count as 0.

    Rounded to six decimals, so that a vector has the cosine 1 with itself.
    """
    similarities = products(a, b)
    similarities *= _STEPS
    np.rint(similarities, out=similarities)
    similarities /= _STEPS
    return similarities.clip(0.0, 1.0, out=similarities)
