// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/trees/tree.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

#include <fmt/format.h>

#include "base/index.hpp"

namespace laple {
namespace {

/// Calls use(child, length) for each child of `first`, the root of the run [first, first + size): a child's
/// subtree is the run of that length that it begins. Binomial: the child that covers the farthest part of a
/// run of up to 2^h members starts at the largest power of two below its size.
template <typename Use>
void for_each_child(Shape shape, int first, int size, Use use) {
    if (size <= 1) return;
    switch (shape.kind) {
        case Shape::Kind::flat:
            for (int i = 1; i < size; ++i) use(first + i, 1);
            return;
        case Shape::Kind::chain:
            return use(first + 1, size - 1);
        case Shape::Kind::binomial: {
            int left = size;  // members not yet given to a child, the run's root included
            for (int half = static_cast<int>(std::bit_floor(static_cast<unsigned>(size - 1))); half >= 1;
                 half /= 2) {
                if (half >= left) continue;
                use(first + half, left - half);
                left = half;
            }
            return;
        }
        case Shape::Kind::kary: {
            const int others = size - 1;
            const int branches = std::min(shape.arity, others);
            int begin = first + 1;
            for (int branch = 0; branch < branches; ++branch) {
                const int length = others / branches + (branch < others % branches ? 1 : 0);
                use(begin, length);
                begin += length;
            }
            return;
        }
    }
}

struct Run {
    Rank low;
    Rank high;
    int size;
};

/// The span of ranks below `rank`; clears `in_order` when some subtree has a gap.
Run run_below(const Tree& tree, Rank rank, bool& in_order) {
    Run run{rank, rank, 1};
    for (const Rank child : tree.children[at(rank)]) {
        const Run below = run_below(tree, child, in_order);
        run.low = std::min(run.low, below.low);
        run.high = std::max(run.high, below.high);
        run.size += below.size;
    }
    if (run.high - run.low + 1 != run.size) in_order = false;
    return run;
}

}  // namespace

std::string name_of(Shape shape) {
    switch (shape.kind) {
        case Shape::Kind::flat:
            return "flat";
        case Shape::Kind::binomial:
            return "binomial";
        case Shape::Kind::chain:
            return "chain";
        case Shape::Kind::kary:
            return shape.arity == 2 ? "binary" : fmt::format("{}ary", shape.arity);
    }
    return "";
}

std::optional<Shape> shape_named(std::string_view name) {
    if (name == "flat") return Shape{Shape::Kind::flat};
    if (name == "binomial") return Shape{Shape::Kind::binomial};
    if (name == "chain") return Shape{Shape::Kind::chain};
    if (name == "binary") return Shape{Shape::Kind::kary, 2};
    int arity = 0;
    const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), arity);
    const std::string_view rest = name.substr(static_cast<std::size_t>(end - name.data()));
    if (status == std::errc{} && rest == "ary" && arity >= 2 && arity <= 64 && !name.starts_with('0')) {
        return Shape{Shape::Kind::kary, arity};
    }
    return std::nullopt;
}

ShapeLinks links_of(Shape shape, int size) {
    struct Subtree {
        int first;
        int size;
    };
    ShapeLinks links{std::vector<int>(at(size), -1), std::vector<std::vector<int>>(at(size))};
    std::vector<Subtree> open{{0, size}};  // not recursive: a chain may be thousands of members long
    while (!open.empty()) {
        const Subtree run = open.back();
        open.pop_back();
        for_each_child(shape, run.first, run.size, [&](int child, int length) {
            links.parent[at(child)] = run.first;
            links.children[at(run.first)].push_back(child);
            open.push_back({child, length});
        });
    }
    return links;
}

RankLinks links_of_member(Shape shape, int size, int member) {
    RankLinks links;
    int first = 0;
    int length = size;
    while (first != member) {
        links.parent = first;
        for_each_child(shape, links.parent, length, [&](int child, int below) {
            if (child > member || member >= child + below) return;
            first = child;
            length = below;
        });
    }
    for_each_child(shape, member, length, [&](int child, int) { links.children.push_back(child); });
    return links;
}

Tree Tree::lone_root(int size, Rank root) {
    Tree tree;
    tree.root = root;
    tree.parent.assign(at(size), kNotInTree);
    tree.children.resize(at(size));
    tree.parent[at(root)] = kNoParent;
    return tree;
}

void Tree::link(Rank from, Rank to) {
    parent[at(to)] = from;
    children[at(from)].push_back(to);
}

RankLinks links_in(const Tree& tree, Rank rank) {
    return {tree.parent[at(rank)], tree.children[at(rank)]};
}

std::vector<int> depths_below(const Tree& tree, Rank top) {
    std::vector<int> depth(tree.parent.size(), -1);
    std::vector<Rank> open{top};
    depth[at(top)] = 0;
    while (!open.empty()) {
        const Rank rank = open.back();
        open.pop_back();
        for (const Rank child : tree.children[at(rank)]) {
            depth[at(child)] = depth[at(rank)] + 1;
            open.push_back(child);
        }
    }
    return depth;
}

bool keeps_rank_order(const Tree& tree) {
    bool in_order = true;
    run_below(tree, tree.root, in_order);
    return in_order;
}

}  // namespace laple
