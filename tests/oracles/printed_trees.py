"""Spectral algorithms for latent trees, transcribed from the papers line by line, dense and slow.

A tree is `children`, a dict of node to its children in order (leaves have none), and its root. ``star[i]`` is
the leaf X_{i*} that stands for the subtree of node i. ``P(a, b, c)`` is the joint table of some leaves.
"""

from itertools import product

import numpy as np
from numpy.linalg import pinv, svd


def frequencies(rows, cards):
    """The tables P of rows, by counting them one by one."""

    def P(*leaves):
        table = np.zeros([cards[leaf] for leaf in leaves])
        for row in rows:
            table[tuple(row[leaf] for leaf in leaves)] += 1
        return table / len(rows)

    return P


def leaves_below(children, i):
    if not children.get(i):
        return [i]
    return [leaf for j in children[i] for leaf in leaves_below(children, j)]


def parents(children):
    return {j: i for i, below in children.items() for j in below}


def neighbours(ring, i):
    """The left and the right sibling in a cyclic order."""
    place = ring.index(i)
    return ring[place - 1], ring[(place + 1) % len(ring)]


def adopting_siblings(children, root, star):
    """Parikh, Song & Xing (2011), after eq. 28: a node of two children adopts a child of X_{lambda_i}."""
    parent = parents(children)
    siblings = {}

    def ring(i):
        if i == root or len(children[i]) > 2:
            return list(children[i])
        left, _ = siblings[i]
        adopted = left
        for child in children.get(left, ()):
            if star[left] in leaves_below(children, child):
                adopted = child
        return [*children[i], adopted]

    todo = [root]
    while todo:
        i = todo.pop()
        for j in children.get(i, ()):
            siblings[j] = neighbours(ring(i), j)
            todo.append(j)
    assert set(siblings) == set(parent)
    return siblings


def uncle_siblings(children, root):
    """Parikh (2015), 7.2: a node with one sibling has an uncle on its left, in Algorithm 12 the right one."""
    parent = parents(children)
    siblings = {}
    for i, below in children.items():
        for j in below:
            left, right = neighbours(list(below), j)
            if len(below) == 2 and i != root:
                _, left = neighbours(list(children[parent[i]]), i)
            siblings[j] = left, right
    return siblings


def algorithm_1_of_2011(P, children, root, star, k):
    """Parikh, Song & Xing (2011), Algorithm 1: the estimated probability of a row."""
    siblings = adopting_siblings(children, root, star)
    left = {i: star[siblings[i][0]] for i in siblings}  # the leaf lambda_i^*
    right = {i: star[siblings[i][1]] for i in siblings}  # the leaf rho_i^*
    U = {}  # step 3: for each leaf
    for i in leaves_below(children, root):
        _, _, Vt = svd(P(left[i], i))
        U[i] = Vt[:k].T
    T, one, L = {}, {}, {}
    for i in children:
        j1, jJ = children[i][0], children[i][-1]
        one[i] = pinv(P(star[jJ], right[jJ]) @ U[right[jJ]]) @ P(star[jJ])  # (30)
        if i == root:
            r = P(star[j1]) @ U[star[j1]]  # (32)
            continue
        T[i] = np.einsum(  # (29)
            "abc,ax,yb,cz->xyz",
            P(star[j1], left[i], right[i]),
            U[star[j1]],
            pinv(P(left[i], star[i]) @ U[star[i]]),
            U[right[i]],
        )
    for i in leaves_below(children, root):  # (31), for all x_i
        table = P(left[i], i, right[i])
        inverse = pinv(P(left[i], i) @ U[i])
        L[i] = [inverse @ table[:, x] @ U[right[i]] for x in range(table.shape[1])]

    def message(i, row):
        if not children.get(i):
            return L[i][row[i]]
        return np.einsum("xyz,x->yz", T[i], product_of(i, row))  # (33)

    def product_of(i, row):
        out = one[i]
        for j in reversed(children[i]):
            out = message(j, row) @ out
        return out

    return lambda row: r @ product_of(root, row)  # (34)


def algorithm_13(P, children, root, star, k):
    """Parikh (2015), Algorithms 13 and 14: the estimated probability of a row."""
    siblings = uncle_siblings(children, root)
    lam = {i: star[siblings[i][0]] for i in siblings}
    rho = {i: siblings[i][1] for i in siblings}
    U = {j: svd(P(star[j], lam[j]))[0][:, :k] for j in siblings}  # step 1: for each node

    def r_hat():  # (7.15)
        c1 = children[root][0]
        return U[c1].T @ P(star[c1])

    def T_hat(i):  # (7.16): axes c1, i, rho
        c1 = children[i][0]
        table = P(star[c1], lam[i], star[rho[i]])
        inverse = pinv(U[i].T @ P(star[i], lam[i]))  # (lambda, i)
        return np.einsum("abc,by,ax,cz->xyz", table, inverse, U[c1], U[rho[i]])

    def L_hat(i):  # (7.17): axes x, i, rho
        table = P(i, lam[i], star[rho[i]])
        inverse = pinv(U[i].T @ P(i, lam[i]))
        return np.einsum("xbc,by,cz->xyz", table, inverse, U[rho[i]])

    def one_hat(i):  # (7.18)
        c1 = children[i][0]
        return pinv(P(lam[c1], star[c1]) @ U[c1]) @ P(lam[c1])

    r, one = r_hat(), {i: one_hat(i) for i in children}
    T = {i: T_hat(i) for i in children if i != root}
    L = {i: L_hat(i) for i in leaves_below(children, root)}

    def M(i, row):
        if not children.get(i):
            return L[i][row[i]]
        return np.tensordot(product_of(i, row), T[i], 1)

    def product_of(i, row):
        out = one[i]
        for j in reversed(children[i]):
            out = M(j, row) @ out
        return out

    return lambda row: r @ product_of(root, row)


def algorithm_4(P, children, root, star, outside, k):
    """Parikh (2015), Algorithms 4 and 5, with the linear systems of 4.4.3.

    ``outside[i]`` are the leaves X_{-i*}, one for Algorithm 4 itself.
    """
    U, system = {}, {}
    for i in outside:
        side = np.hstack([P(star[i], leaf) for leaf in outside[i]])
        U[i] = svd(side)[0][:, :k]
        system[i] = pinv(U[i].T @ side)  # (cell outside, i)

    def core(i):
        below = children[i]
        stars = [star[j] for j in below]
        if i == root:
            table = P(*stars)[..., None]
        else:
            table = np.concatenate([P(*stars, leaf) for leaf in outside[i]], axis=-1) @ system[i]
        for mode, j in enumerate(below):
            table = np.moveaxis(np.tensordot(table, U[j], (mode, 0)), -1, mode)
        return table

    def leaf_parameter(i):
        return np.hstack([P(i, leaf) for leaf in outside[i]]) @ system[i]

    T = {i: core(i) for i in children}
    L = {i: leaf_parameter(i) for i in leaves_below(children, root)}

    def m(i, row):
        if not children.get(i):
            return L[i][row[i]]
        out = T[i]
        for j in children[i]:
            out = np.tensordot(m(j, row), out, (0, 0))
        return out

    return lambda row: m(root, row)[0]


def decompose(table, modes, cuts, k):
    """Song et al. (2013), Algorithm 1 with the linker of eq. 6: the dense tensor Q.

    `modes` names the axes of the table. Each cut is (leaves on one side that are still there, linker among
    them, linker on the other side); only the other side is decomposed further, as in the proof of theorem 4.
    """
    if not cuts:
        return table
    (inside, a, b), *others = cuts
    outside = [leaf for leaf in modes if leaf not in inside]
    order = [*inside, *outside]
    tensor = table.transpose([modes.index(leaf) for leaf in order])
    sizes = dict(zip(order, tensor.shape, strict=True))
    n_in = int(np.prod([sizes[leaf] for leaf in inside]))
    unfolded = tensor.reshape(n_in, -1)
    others_in = tuple(at for at, leaf in enumerate(inside) if leaf != a)
    others_out = tuple(len(inside) + at for at, leaf in enumerate(outside) if leaf != b)
    AtP = tensor.sum(axis=others_in)  # (a, outside...)
    PB = tensor.sum(axis=others_out).reshape(n_in, sizes[b])
    flat = AtP.reshape(sizes[a], -1)
    V_A = _row_space(flat)
    U_B = _row_space(PB.T)
    left, values, right = svd(U_B @ (U_B.T @ unfolded @ V_A) @ V_A.T, full_matrices=False)
    truncated = left[:, :k] * values[:k] @ right[:k]
    linker = pinv(PB, rcond=1e-10) @ truncated @ pinv(flat, rcond=1e-10)  # (6)
    rest = decompose(AtP, [a, *outside], others, k).reshape(sizes[a], -1)
    approximation = (PB @ linker @ rest).reshape(tensor.shape)
    return approximation.transpose([order.index(leaf) for leaf in modes])


def _row_space(matrix):
    _, values, right = svd(matrix, full_matrices=False)
    return right[values > 1e-10 * values[0]].T


def every_row(cards):
    return list(product(*map(range, cards)))
