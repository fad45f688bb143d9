// SPDX-License-Identifier: BSD-3-Clause
// docs/model.schema.json, against what is written.
#include <string>

#include <catch2/catch.hpp>

#include "base/file.hpp"
#include "model/model.hpp"

using namespace laple;

namespace {

Model full_model() {
    Model model;
    model.topology = Topology::from_clusters(4, {{0, 1}, {2, 3}});
    model.nodes = {{"a", {0, 1}, "17"}, {"b", {2, 3}}};
    model.node_levels = {{"node", {{0, 1}, {2, 3}}}};
    model.inside = {Seconds(1), Seconds(1)};
    model.between = LatencyMatrix(2);
    model.matrix = LatencyMatrix(2);
    const Curve curve({{0, Seconds(1)}, {8, Seconds(2)}});
    const Plogp plogp{Seconds(1), curve, curve, curve, curve, curve, curve};
    model.links.clusters = {{plogp, 1, 1, 1, 1, 1, 1, 1, 1, true, true}, {}};
    model.links.links = {
        {0, 1, plogp, {{{1, 1.0}}, 0.5}, {{{1, 1.0}}, 0.5}, {{{8, 1.0}}}, {{{8, 1.0}}}, true}};
    model.links.sweeps = 1;
    model.links.next_step = Seconds(1);
    model.links.job = {4,
                       {{"bcast", curve},
                        {"reduce", curve},
                        {"allreduce", curve},
                        {"barrier", curve},
                        {"allgather", curve},
                        {"gather", curve},
                        {"scatter", curve},
                        {"alltoall", curve},
                        {"reduce_scatter", curve},
                        {"scan", curve},
                        {"exscan", curve}},
                       Seconds(1),
                       plogp,
                       {{"bcast", 8, 0, "ring", {Seconds(1)}, Seconds(1)}},
                       true,
                       Seconds(1)};
    model.links.warnings = {"slow"};
    return model;
}

/// Every member of `value`, at any depth, is a property of `schema`. Returns the first one that is not.
std::string undescribed(const Json& value, const Json& schema, const Json& root) {
    if (schema.contains("$ref")) {
        const auto pointer = schema["$ref"].get<std::string>().substr(1);
        return undescribed(value, root[Json::json_pointer(pointer)], root);
    }
    if (value.is_array() && schema.contains("items")) {
        for (const Json& item : value) {
            const std::string found = undescribed(item, schema["items"], root);
            if (!found.empty()) return found;
        }
    }
    if (!value.is_object()) return "";
    for (const auto& [name, member] : value.items()) {
        if (!schema.contains("properties") || !schema["properties"].contains(name)) return name;
        const std::string found = undescribed(member, schema["properties"][name], root);
        if (!found.empty()) return name + "/" + found;
    }
    return "";
}

/// Every property of `schema` is a member of `value`, at any depth; of an array the first item counts.
/// Returns the first one that is not.
std::string unwritten(const Json& value, const Json& schema, const Json& root) {
    if (schema.contains("$ref")) {
        const auto pointer = schema["$ref"].get<std::string>().substr(1);
        return unwritten(value, root[Json::json_pointer(pointer)], root);
    }
    if (schema.contains("items") && value.is_array())
        return value.empty() ? "an item" : unwritten(value[0], schema["items"], root);
    if (!schema.contains("properties")) return "";
    for (const auto& [name, property] : schema["properties"].items()) {
        if (!value.contains(name)) return name;
        const std::string missing = unwritten(value[name], property, root);
        if (!missing.empty()) return name + "/" + missing;
    }
    return "";
}

Json schema() {
    return Json::parse(read_file(LAPLE_SOURCE_DIR "/docs/model.schema.json"));
}

}  // namespace

TEST_CASE("the schema describes all that a model holds", "[schema]") {
    CHECK(undescribed(Json::parse(model_text(full_model())), schema(), schema()) == "");
}

TEST_CASE("a model holds all that the schema describes", "[schema]") {
    CHECK(unwritten(Json::parse(model_text(full_model())), schema(), schema()) == "");
}
