// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>

namespace laple {

/// The first line of what an MPI says of itself (MPI_Get_library_version): "MPICH Version: 4.0.2".
std::string version_of_mpi(const std::string& library);

/// How models name the MPI that they were measured with: by its version, its device where it tells of one,
/// and those variables of `environment` by which users choose what messages go by. Over TCP rates are others
/// than over InfiniBand.
///
///     "MPICH Version: 4.0.2; device ch4:ucx; UCX_TLS=tcp"
std::string name_of_mpi(const std::string& library, const std::map<std::string, std::string>& environment);

/// Whether the MPI that a model names is of this version, whatever its messages went by. Older models name
/// the version alone.
bool is_of_version(const std::string& name, const std::string& version);

}  // namespace laple
