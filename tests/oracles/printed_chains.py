"""Spectral learning of sequences, transcribed from the papers line by line, dense and slow."""

import numpy as np
from numpy.linalg import pinv, svd


def triples_of(sequences, windows):
    """The triples x_1, x_2, x_3 that LearnHMM takes, and the first symbols that b_1 is about."""
    if windows == "first":
        triples = [tuple(x[:3]) for x in sequences if len(x) >= 3 and -1 not in x[:3]]
        return triples, [a for a, _, _ in triples]
    triples = [tuple(x[t : t + 3]) for x in sequences for t in range(len(x) - 2)]
    return triples, [x[0] for x in sequences if len(x)]


def learn_hmm(sequences, n, m, windows="first"):
    """Hsu, Kakade & Zhang (2012), section 3 (the survey, section 3.1): the parameters of a sample."""
    triples, firsts = triples_of(sequences, windows)
    triples = [abc for abc in triples if -1 not in abc]
    firsts = [a for a in firsts if a != -1]
    P_1, P_21, P_3x1 = np.zeros(n), np.zeros((n, n)), np.zeros((n, n, n))
    for a, b, c in triples:
        P_1[a] += 1 / len(triples)
        P_21[b, a] += 1 / len(triples)
        P_3x1[b][c, a] += 1 / len(triples)  # P_3x1[x] = Pr[x_3 = i, x_2 = x, x_1 = j]
    begun = np.array([firsts.count(a) / len(firsts) for a in range(n)])
    return surrogates(P_1, P_21, P_3x1, m, begun)


def surrogates(P_1, P_21, P_3x1, m, begun):
    U = svd(P_21)[0][:, :m]
    b_1 = U.T @ begun
    b_inf = pinv(P_21.T @ U) @ P_1
    B = [(U.T @ P_3x1[x]) @ pinv(U.T @ P_21) for x in range(len(P_1))]
    return b_1, b_inf, B


def joint(parameters, x):
    """Pr[x_1, ..., x_t] = b_inf' B_{x_t} ... B_{x_1} b_1."""
    b, b_inf, B = parameters
    for symbol in x:
        b = B[symbol] @ b
    return b_inf @ b


def conditional(parameters, x):
    """Pr[x_t = . | x_{1:t-1}], with b_{t+1} = B b_t / (b_inf' B b_t)."""
    b, b_inf, B = parameters
    for symbol in x:
        b = B[symbol] @ b / (b_inf @ B[symbol] @ b)
    values = np.array([b_inf @ B[symbol] @ b for symbol in range(len(B))])
    return values / values.sum()


def hankel_automaton(f, f_first, f_last, prefixes, suffixes, n, m):
    """Balle et al. (2013), as in the survey, section 3.3: alpha_1, alpha_inf and A_sigma.

    ``f`` are the values in the blocks, ``f_first(v)`` and ``f_last(u)`` those of the vectors h.
    """
    H = np.array([[f((*u, *v)) for v in suffixes] for u in prefixes])
    V = svd(H)[2][:m].T
    inverse = pinv(H @ V)
    h_S = np.array([f_first(v) for v in suffixes])
    h_P = np.array([f_last(u) for u in prefixes])
    steps = []
    for sigma in range(n):
        H_sigma = np.array([[f((*u, sigma, *v)) for v in suffixes] for u in prefixes])
        steps.append(inverse @ H_sigma @ V)
    return h_S @ V, inverse @ h_P, steps
