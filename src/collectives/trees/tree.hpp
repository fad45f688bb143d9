// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"

namespace laple {

/// The shape of a tree over an ordered list of members, the first of which is the root. Every subtree of
/// every shape covers a run of consecutive members that starts with the subtree's own root, so that a
/// reduction along it can keep the order of the operands.
///
///     flat        0 ─┬─ 1          chain   0 ── 1 ── 2 ── 3
///                    ├─ 2
///                    └─ 3          binomial   0 ─┬─ 4 ─┬─ 6 ── 7      the farthest first,
///                                                ├─ 2  └─ 5           each child has half of what is left
///     kary (k = 2)   0 ─┬─ 1 ─┬─ 2               └─ 1   …
///                       │     └─ 3
///                       └─ 4 ─┬─ 5
///                             └─ 6
///
/// (Barchet-Estefanel and Mounié, 2004, for their costs: docs/algorithms.md)
struct Shape {
    enum class Kind { flat, binomial, kary, chain };
    Kind kind = Kind::flat;
    int arity = 2;  ///< of kary only

    bool operator==(const Shape&) const = default;
};

/// "flat", "binomial", "binary", "5ary", "chain".
std::string name_of(Shape shape);

/// The inverse; nothing for any other text. An arity is 2 … 64; "2ary" is "binary".
std::optional<Shape> shape_named(std::string_view name);

/// For each member of a tree of `size` members in that shape: its parent's index (-1 for member 0) and its
/// children's, in the order in which a broadcast serves them.
struct ShapeLinks {
    std::vector<int> parent;
    std::vector<std::vector<int>> children;
};
ShapeLinks links_of(Shape shape, int size);

/// A tree over ranks of a communicator. Ranks that are not in it have parent kNotInTree.
struct Tree {
    static constexpr Rank kNoParent = -1;
    static constexpr Rank kNotInTree = -2;

    Rank root = 0;
    std::vector<Rank> parent;                 ///< by rank
    std::vector<std::vector<Rank>> children;  ///< by rank, in the order in which a broadcast serves them

    static Tree lone_root(int size, Rank root);
    void link(Rank from, Rank to);
    bool contains(Rank rank) const { return parent[static_cast<std::size_t>(rank)] != kNotInTree; }
};

/// The neighbours of one rank in a tree.
struct RankLinks {
    Rank parent = Tree::kNoParent;
    std::vector<Rank> children;  ///< in the order in which a broadcast serves them
};
/// Those of one of `size` members in that shape, as links_of() says of all.
RankLinks links_of_member(Shape shape, int size, int member);
/// `rank` must be in `tree`.
RankLinks links_in(const Tree& tree, Rank rank);

/// For each rank the number of edges that lead to it from `top`; -1 for ranks that are not below `top`.
std::vector<int> depths_below(const Tree& tree, Rank top);

/// Whether a reduction along `tree` can combine operands in rank order: every subtree holds consecutive
/// ranks.
bool keeps_rank_order(const Tree& tree);

}  // namespace laple
