// SPDX-License-Identifier: BSD-3-Clause
#include "model/mpi_name.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

namespace laple {
namespace {

constexpr const char* kSeparator = "; ";
constexpr const char* kDevice = " Device:";  // "MPICH Device:    ch4:ofi"
constexpr std::array kOfTransport{"FI_PROVIDER", "I_MPI_FABRICS", "UCX_NET_DEVICES", "UCX_TLS"};

/// The line that begins there, its columns apart by single spaces: MPICH aligns them by tabs.
std::string line_at(const std::string& text, std::size_t begin) {
    std::string line = text.substr(begin, text.find('\n', begin) - begin);
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return std::isspace(c) != 0; }, ' ');
    line.erase(std::unique(line.begin(), line.end(), [](char a, char b) { return a == ' ' && b == ' '; }),
               line.end());
    return line;
}

}  // namespace

std::string version_of_mpi(const std::string& library) {
    return line_at(library, 0);
}

std::string name_of_mpi(const std::string& library, const std::map<std::string, std::string>& environment) {
    std::string name = version_of_mpi(library);
    const std::size_t device = library.find(kDevice);
    if (device != std::string::npos)
        name += kSeparator + ("device" + line_at(library, device + std::string(kDevice).size()));
    for (const char* variable : kOfTransport) {
        const auto found = environment.find(variable);
        if (found != environment.end()) name += kSeparator + found->first + "=" + found->second;
    }
    return name;
}

bool is_of_version(const std::string& name, const std::string& version) {
    return name == version || name.starts_with(version + kSeparator);
}

}  // namespace laple
