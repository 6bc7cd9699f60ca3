"""Draw distinct items by weight, one after the other: a binary tree of sums says where a number between 0 and 1 falls.

Node k of the tree is the sum of its children 2k and 2k + 1, node 1 that of all; its second half are the leaves: the
items' weights in order, then zeros. An item that was drawn weighs 0. Sums above a changed leaf are added up anew:
subtracting would leave behind what rounding lost, beside which weights many times smaller vanish.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overlay_spark.kernels._jit import kernel, leaf


@kernel
def sum_tree(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The tree of some weights."""
    width = 1
    while width < len(weights):
        width *= 2
    tree = np.zeros(2 * width)
    tree[width : width + len(weights)] = weights
    for at in range(width - 1, 0, -1):
        tree[at] = tree[2 * at] + tree[2 * at + 1]
    return tree


@leaf
def set_weight(tree: NDArray[np.float64], item: int, weight: float) -> None:
    """Change the weight of an item; the tree is that of the new weights to the last bit."""
    at = (len(tree) >> 1) + item
    tree[at] = weight
    at >>= 1
    while at:
        tree[at] = tree[2 * at] + tree[2 * at + 1]
        at >>= 1


@leaf
def item_at(tree: NDArray[np.float64], share: float) -> int:
    """The first item with which the weights, added up in order, exceed ``share``, which is less than their sum.

    Where rounding loses that, the last item of the part it was looked for in. Never one that weighs 0, unless all do.
    """
    width = len(tree) >> 1
    at = 1
    while at < width:
        at *= 2
        if share >= tree[at] and tree[at + 1] > 0:
            share -= tree[at]
            at += 1
    return at - width


@kernel
def draw_items(
    weights: NDArray[np.float64], counts: NDArray[np.int64], uniforms: NDArray[np.float64]
) -> NDArray[np.int64]:
    """For each row of ``uniforms``, numbers from 0 to 1, as many distinct items as ``counts`` says, in drawn order.

    At every draw an item's chance is its share of the weights of those left, all of which must be above 0. Rows do not
    depend on each other. Work: log(items) a draw.
    """
    tree = sum_tree(weights)
    drawn = np.empty(counts.sum(), np.int64)
    end = 0
    for row in range(len(counts)):
        start = end
        end += counts[row]
        for i in range(start, end):
            drawn[i] = item_at(tree, uniforms[row, i - start] * tree[1])
            set_weight(tree, drawn[i], 0.0)
        for i in range(start, end):
            set_weight(tree, drawn[i], weights[drawn[i]])
    return drawn
