// SPDX-License-Identifier: BSD-3-Clause
#include "model/render.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "base/index.hpp"

namespace laple {
namespace {

// The size of things in pixels.
constexpr int kHostWidth = 110;
constexpr int kHostHeight = 24;
constexpr int kGap = 8;
constexpr int kTitle = 20;
constexpr int kHostsInARow = 4;
constexpr int kWidest = 1400;

constexpr const char* kFills[] = {"#e8eef7", "#d6e4f5", "#f4f1e4", "#e9f5e4"};

std::string xml_escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        result += c == '&'   ? "&amp;"
                  : c == '<' ? "&lt;"
                  : c == '>' ? "&gt;"
                  : c == '"' ? "&quot;"
                             : std::string(1, c);
    }
    return result;
}

std::string dot_escaped(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

/// What is drawn inside a group of `level` (-1: all): groups of the next level, or nodes.
struct Box {
    std::string title;
    std::vector<Box> boxes;
    std::vector<std::string> hosts;
    int level = -1;
    int group = 0;
};

/// The nodes of a model; one for each rank when it knows none.
std::vector<Node> nodes_of(const Model& model) {
    if (!model.nodes.empty()) return model.nodes;
    std::vector<Node> nodes;
    for (Rank rank = 0; rank < model.topology.size(); ++rank)
        nodes.push_back({fmt::format("rank {}", rank), {rank}});
    return nodes;
}

Box box_of(const Model& model, int level, int group) {
    const Topology& topology = model.topology;
    const int innermost = topology.level_count() - 1;
    Box box;
    box.level = level;
    box.group = group;
    const auto holds = [&](Rank rank) { return level < 0 || topology.group_of(level, rank) == group; };
    if (level < innermost) {
        for (int inner = 0; inner < topology.group_count(level + 1); ++inner) {
            if (holds(topology.members(level + 1, inner).front()))
                box.boxes.push_back(box_of(model, level + 1, inner));
        }
    } else {
        for (const Node& node : nodes_of(model)) {
            if (holds(node.ranks.front()))
                box.hosts.push_back(node.ranks.size() == 1
                                        ? node.host
                                        : fmt::format("{} ({} ranks)", node.host, node.ranks.size()));
        }
    }
    box.title = level < 0            ? describe(model)
                : level == innermost ? fmt::format("cluster {}", group)
                                     : fmt::format("group {}", group);
    const auto cluster = at(group);
    if (level == innermost && cluster < model.inside.size() && model.inside[cluster] > Seconds(0))
        box.title += ", " + format_seconds(model.inside[cluster]);
    return box;
}

class DotWriter {
  public:
    std::string write(const Model& model) {
        text_ = "graph laple {\n  compound=true; node [shape=box, fontsize=10];\n";
        add(box_of(model, -1, 0), "  ");
        for (int a = 0; a < model.between.nodes(); ++a) {
            for (int b = a + 1; b < model.between.nodes(); ++b) {
                text_ += fmt::format("  n{} -- n{} [label=\"{}\", ltail={}, lhead={}];\n", first_[at(a)],
                                     first_[at(b)], format_seconds(model.between.at(a, b)), anchor_[at(a)],
                                     anchor_[at(b)]);
            }
        }
        return text_ + "}\n";
    }

  private:
    /// Innermost boxes come in the order of their clusters only if groups outside them do not change it.
    void add(const Box& box, const std::string& indent) {
        const int id = boxes_++;
        text_ += fmt::format("{0}subgraph cluster{1} {{\n{0}  label=\"{2}\";\n", indent, id,
                             dot_escaped(box.title));
        for (const Box& inner : box.boxes) add(inner, indent + "  ");
        if (box.boxes.empty()) {
            const auto cluster = at(box.level < 0 ? 0 : box.group);
            if (first_.size() <= cluster) {
                first_.resize(cluster + 1);
                anchor_.resize(cluster + 1);
            }
            first_[cluster] = nodes_;
            anchor_[cluster] = fmt::format("cluster{}", id);
        }
        for (const std::string& host : box.hosts)
            text_ += fmt::format("{}  n{} [label=\"{}\"];\n", indent, nodes_++, dot_escaped(host));
        text_ += indent + "}\n";
    }

    std::string text_;
    int boxes_ = 0;
    int nodes_ = 0;
    std::vector<int> first_;           // by cluster: a node of it
    std::vector<std::string> anchor_;  // by cluster: its subgraph
};

struct Size {
    int width = 0;
    int height = 0;
};

class SvgWriter {
  public:
    std::string write(const Model& model) {
        const Box all = box_of(model, -1, 0);
        const Size size = place(all, kGap, kGap, 0);
        return fmt::format(
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
                   "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n",
                   size.width + 2 * kGap, size.height + 2 * kGap) +
               text_ + "</svg>\n";
    }

  private:
    /// Draws a box with all that is in it at (x, y). Boxes stand side by side until a row is full.
    Size place(const Box& box, int x, int y, int depth) {
        const std::size_t start = text_.size();
        Size size{kGap, kTitle};
        if (box.boxes.empty()) {
            const int count = static_cast<int>(box.hosts.size());
            for (int i = 0; i < count; ++i) {
                draw(x + kGap + i % kHostsInARow * (kHostWidth + kGap),
                     y + kTitle + i / kHostsInARow * (kHostHeight + kGap), {kHostWidth, kHostHeight},
                     "#ffffff", box.hosts[at(i)]);
            }
            const int rows = (count + kHostsInARow - 1) / kHostsInARow;
            size.width += std::max(std::min(count, kHostsInARow), 2) * (kHostWidth + kGap);
            size.height += rows * (kHostHeight + kGap);
        } else {
            int row_x = kGap;
            int row_height = 0;
            for (const Box& inner : box.boxes) {
                if (row_x > kWidest) {
                    row_x = kGap;
                    size.height += row_height + kGap;
                    row_height = 0;
                }
                const Size used = place(inner, x + row_x, y + size.height, depth + 1);
                row_x += used.width + kGap;
                row_height = std::max(row_height, used.height);
                size.width = std::max(size.width, row_x);
            }
            size.height += row_height + kGap;
        }
        // Behind what is inside it: earlier in the text.
        std::string inside = text_.substr(start);
        text_.resize(start);
        draw(x, y, size, kFills[at(depth) % std::size(kFills)], box.title);
        text_ += inside;
        return size;
    }

    void draw(int x, int y, Size size, const char* fill, const std::string& label) {
        text_ += fmt::format(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"{}\" stroke=\"#556\"/>"
            "<text x=\"{}\" y=\"{}\">{}</text>\n",
            x, y, size.width, size.height, fill, x + 6, y + 15, xml_escaped(label));
    }

    std::string text_;
};

}  // namespace

std::string dot_text(const Model& model) {
    return DotWriter().write(model);
}

std::string svg_text(const Model& model) {
    return SvgWriter().write(model);
}

}  // namespace laple
