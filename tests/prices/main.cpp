// SPDX-License-Identifier: BSD-3-Clause
//
// How far prices are from the simulator, on random machines, by family and collective.
//
//   build/dev/bin/price-judge                      2000 machines (some minutes)
//   build/dev/bin/price-judge --machines 200       the first 200 of them
//   build/dev/bin/price-judge --machine 17         every verdict on machine 17
//   build/dev/bin/price-judge --messages 1500      nothing that takes more messages (default: 8000)

#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "judge.hpp"

namespace {

using namespace laple;
using namespace laple::test;

std::uint64_t number_of(std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

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
    std::uint64_t machines = 2000;
    std::uint64_t messages = 8000;
    const char* machine = nullptr;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (std::strcmp(argv[i], "--machine") == 0) machine = argv[i + 1];
        if (std::strcmp(argv[i], "--machines") == 0) machines = number_of(argv[i + 1]);
        if (std::strcmp(argv[i], "--messages") == 0) messages = number_of(argv[i + 1]);
    }
    if (machine != nullptr) {
        print_all(number_of(machine), messages);
    } else {
        print_errors(machines, messages);
    }
    return 0;
}
