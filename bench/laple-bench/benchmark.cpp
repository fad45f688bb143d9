// SPDX-License-Identifier: BSD-3-Clause
#include "bench/laple-bench/benchmark.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace laple::bench {

std::string to_string(Benchmark benchmark) {
    const std::string_view end = benchmark.form == Form::counts             ? "v"
                                 : benchmark.form == Form::counts_and_types ? "w"
                                                                            : "";
    return fmt::format("{}{}", name_of(benchmark.collective), end);
}

const std::vector<Benchmark>& all_benchmarks() {
    static const std::vector<Benchmark> all = [] {
        std::vector<Benchmark> found;
        for (const Collective collective : kAllCollectives) found.push_back({collective, Form::one_count});
        for (const Collective collective :
             {Collective::allgather, Collective::gather, Collective::scatter, Collective::alltoall})
            found.push_back({collective, Form::counts});
        found.push_back({Collective::alltoall, Form::counts_and_types});
        return found;
    }();
    return all;
}

std::vector<std::string> benchmark_names() {
    std::vector<std::string> names;
    for (const Benchmark benchmark : all_benchmarks()) names.push_back(to_string(benchmark));
    return names;
}

Benchmark parse_benchmark(std::string_view name) {
    const std::vector<std::string> names = benchmark_names();
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return all_benchmarks()[static_cast<std::size_t>(found - names.begin())];
    const std::string nearest = nearest_name(std::string(name), names);
    throw Error(fmt::format("unknown collective \"{}\"", name),
                nearest.empty() ? fmt::format("name one of {}", fmt::join(names, ", "))
                                : fmt::format("did you mean {}?", nearest));
}

}  // namespace laple::bench
