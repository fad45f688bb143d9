// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace laple::plan {

/// What to write where a model is missing: the files that earlier jobs of this user have left, the latest
/// first, each with what it is of. Only those with rates, and, unless `ranks` is 0, of so many ranks. ""
/// where there is none.
std::string kept_models(int ranks);

}  // namespace laple::plan
