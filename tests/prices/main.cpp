// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "judge.hpp"

namespace {

using namespace laple;
using namespace laple::test;

void print_all(std::uint64_t machine, std::uint64_t messages) {
    fmt::print("{}\n", describe(draw_machine(machine).machine));
    for (const Verdict& verdict : judge(machine, messages))
        fmt::print("{:+7.1f} %  {:24} {}\n", 100 * verdict.error(), verdict.family, describe(verdict));
}

void print_errors(std::uint64_t machines, std::uint64_t messages) {
    std::vector<Verdict> verdicts;
    for (std::uint64_t machine = 0; machine < machines; ++machine) {
        for (Verdict& verdict : judge(machine, messages)) verdicts.push_back(std::move(verdict));
    }
    fmt::print("{:24} {:10} {:>6} {:>8} {:>8} {:>8} {:>8}  worst\n", "family", "collective", "cases",
               "median", "of nine", "of 95 %", "bias");
    const auto print = [](std::string_view family, std::string_view collective, const Errors& errors) {
        fmt::print("{:24} {:10} {:6} {:6.1f} % {:6.1f} % {:6.1f} % {:+6.1f} %  {}\n", family, collective,
                   errors.sizes.size(), 100 * errors.quantile(0.5), 100 * errors.quantile(0.9),
                   100 * errors.quantile(0.95), 100 * errors.bias, describe(errors.worst));
    };
    for (const auto& [key, errors] : errors_of(verdicts)) print(key.first, key.second, errors);
    for (Verdict& verdict : verdicts) {
        verdict.family = "all";
        verdict.collective = Collective::bcast;
    }
    for (const auto& [key, errors] : errors_of(verdicts)) print(key.first, "all", errors);
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("How far prices are from the simulator, on random machines, by family and collective.");
    std::uint64_t machines = 2000;
    std::uint64_t messages = 8000;
    std::optional<std::uint64_t> machine;
    app.add_option("--machines", machines, "judge the first so many of them (2000 take an hour)")
        ->capture_default_str();
    app.add_option("--machine", machine, "print every verdict on that one");
    app.add_option("--messages", messages, "simulate nothing that takes more messages")
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);
    machine ? print_all(*machine, messages) : print_errors(machines, messages);
    return 0;
}
