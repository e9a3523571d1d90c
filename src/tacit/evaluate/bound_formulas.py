"""The printed sample sizes as formulas: numbers in, the natural logarithm of a number of rows out.

Where print has O(...) or an unnamed constant, the factor is taken as 1. A singular value of zero asks for
infinitely many rows. Letters are those of the papers.
"""

from __future__ import annotations

from math import expm1, inf, log, log1p


def log_or_minus_infinity(value: float) -> float:
    """The natural logarithm, -inf at zero."""
    return log(value) if value > 0 else -inf


def tensor_log_rows(
    *,
    S_H: float,
    S_O: float,
    d_max: int,
    e_max: int,
    n_nodes: int,
    alpha: float,
    beta: float,
    error: float,
    failure: float,
) -> float:
    """Parikh (2015), Theorem 2 for junction trees, and Theorem 1 for latent trees, where e_max is 1.

    (4 S_H^2 / (3 beta^2))^d_max S_O^e_max ln(n_nodes / failure) n_nodes^2 / (error^2 alpha^4)
    """
    return (
        d_max * (log(4 / 3) + 2 * log(S_H) - 2 * log_or_minus_infinity(beta))
        + e_max * log(S_O)
        + log(log(n_nodes / failure))
        + 2 * log(n_nodes)
        - 2 * log(error)
        - 4 * log_or_minus_infinity(alpha)
    )


def matrix_log_rows(
    *,
    S_H: float,
    S_O: float,
    degree: int,
    chain: int,
    n_leaves: int,
    pair: float,
    emission: float,
    error: float,
    failure: float,
    error_in_log: bool = False,
) -> float:
    """Parikh, Song & Xing (2011), Theorem 1; Parikh (2015), Theorem 3, with S_O = 1; Goyal (2013), section 5.

    (degree S_H)^(2 chain + 1) S_O / (pair^4 emission^2 error^2) log(n_leaves / failure)

    `pair` and `emission` are singular values, not their powers. Goyal divides by the error inside the
    logarithm, too (`error_in_log`).
    """
    inside = failure * error if error_in_log else failure
    return (
        (2 * chain + 1) * log(degree * S_H)
        + log(S_O)
        - 4 * log_or_minus_infinity(pair)
        - 2 * log_or_minus_infinity(emission)
        - 2 * log(error)
        + log(log(n_leaves / inside))
    )


def hmm_log_rows(
    *,
    k: int,
    t: int,
    pair: float,
    emission: float,
    n_frequent: int,
    error: float,
    failure: float,
) -> float:
    """Goyal (2013), section 5, after Hsu, Kakade & Zhang (2012), Theorem 6.

    (t / error)^2 (k / (emission^2 pair^4) + k n_frequent / (emission^2 pair^2)) log(1 / failure)
    """
    log_pair = log_or_minus_infinity(pair)
    log_sum = log1p(n_frequent * pair**2) - 4 * log_pair
    return (
        2 * (log(t) - log(error))
        + log(k)
        - 2 * log_or_minus_infinity(emission)
        + log_sum
        + log(log(1 / failure))
    )


def chain_log_rows(*, S_H: int, chain: int, pair: float, emission: float, error: float) -> float:
    """The remark after Theorem 1 of 2011 and Theorem 3 of 2015: S_H chain^2 / (pair^4 emission^2 error^2)."""
    return (
        log(S_H)
        + 2 * log(chain)
        - 4 * log_or_minus_infinity(pair)
        - 2 * log_or_minus_infinity(emission)
        - 2 * log(error)
    )


def grammar_log_rows(
    *,
    k: int,
    n_rules: int,
    tree_size: int,
    Lambda: float,
    sigma: float,
    error: float,
    failure: float,
) -> float:
    """Goyal (2013), section 5, after Cohen et al. (2013); the only bound with all its constants.

    128 k^2 / (((1 + error)^(1 / (2 tree_size + 1)) - 1)^2 Lambda^2 sigma^4) log(2 k n_rules / failure)
    """
    root = expm1(log1p(error) / (2 * tree_size + 1))
    return (
        log(128)
        + 2 * log(k)
        - 2 * log(root)
        - 2 * log_or_minus_infinity(Lambda)
        - 4 * log_or_minus_infinity(sigma)
        + log(log(2 * k * n_rules / failure))
    )


def sentence_log_rows(
    *,
    m: int,
    p: int,
    length: int,
    phi: float,
    sigma: float,
    gap: float,
    similar: float,
    failure: float,
) -> float:
    """Parikh (2015), Theorem 4: when the brackets of a sentence are all right.

    m^2 phi^2 log(p^2 length^2 / failure) / (min(sigma^2 gap^2, sigma^2) similar^2)
    """
    return (
        2 * log(m)
        + 2 * log(phi)
        + log(log(p**2 * length**2 / failure))
        - 2 * log_or_minus_infinity(sigma)
        - 2 * log_or_minus_infinity(min(gap, 1.0))
        - 2 * log(similar)
    )
