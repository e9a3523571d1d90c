"""Spectral learning of latent junction trees, transcribed from the thesis line by line, dense and slow.

A junction tree is `children`, a dict of node to its children in order (leaves have none), and its root.
``inside[i]`` are the observed variables O_i below the separator of node i, ``outside[i]`` the sets O_{-i}
(one for Algorithm 6 itself, several for the linear system of section 5.5), and ``size[i]`` its joint states.
``P(a, b, c)`` is the joint table of some observed variables.
"""

import numpy as np
from numpy.linalg import pinv, svd


def algorithms_6_and_7(P, children, root, inside, outside, size):
    """Parikh (2015), Algorithms 6 and 7: the estimated probability of a row.

    The separator of a leaf without `inside` has at least as many joint states as the leaf has categories:
    its parameter is the identity (after eq. 5.22).
    """
    U, inverse = {}, {}
    for i in inside:
        # Step 1: a thin singular value decomposition of the matricised P(O_i, O_{-i}).
        matrix = np.hstack(
            [matricised(P(*inside[i], *group), len(inside[i])) for group in outside[i]]
        )
        U[i] = svd(matrix, full_matrices=False)[0][:, : size[i]]
        inverse[i] = pinv(U[i].T @ matrix)

    def parameter(i):
        """Step 2: P(C_i) of the root and of the internal nodes."""
        groups = [inside.get(j, (j,)) for j in children[i]]
        variables = [name for group in groups for name in group]
        views = [()] if i == root else outside[i]
        tables = [P(*variables, *view) for view in views]
        widths = [int(np.prod(tables[0].shape[a : a + len(g)])) for a, g in starts(groups)]
        tensor = np.concatenate([table.reshape(*widths, -1) for table in tables], axis=-1)
        if i != root:
            tensor = tensor @ inverse[i]
        for mode, j in enumerate(children[i]):
            if j in U:
                tensor = np.moveaxis(np.tensordot(tensor, U[j], (mode, 0)), -1, mode)
        return tensor

    def leaf_parameter(i):
        if i not in inside:
            return np.eye(P(i).size)
        assert inside[i] == (i,)
        return np.hstack([matricised(P(i, *group), 1) for group in outside[i]]) @ inverse[i]

    nodes = {i: parameter(i) for i in children}
    leaves = {j: leaf_parameter(j) for i in children for j in children[i] if j not in children}

    def message(i, row):
        """Algorithm 7."""
        if i in leaves:
            return leaves[i][row[i]]
        out = nodes[i]
        for j in children[i]:
            out = np.tensordot(message(j, row), out, (0, 0))
        return out

    return lambda row: message(root, row)[0]


def matricised(table, n_first):
    """The first variables to rows, the others to columns."""
    return table.reshape(int(np.prod(table.shape[:n_first])), -1)


def starts(groups):
    at = 0
    for group in groups:
        yield at, group
        at += len(group)
