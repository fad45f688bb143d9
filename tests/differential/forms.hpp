// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include <mpi.h>

#include "support/random.hpp"

namespace laple::test {

/// A way to describe so many elements of a type to MPI: plain, in larger units, with holes, back to front, or
/// before the address that MPI gets.
class Form {
  public:
    /// One drawn from those that fit.
    Form(MPI_Datatype element, std::size_t extent, std::size_t elements, Random& random);
    ~Form();
    Form(const Form&) = delete;
    Form& operator=(const Form&) = delete;

    MPI_Datatype type() const { return type_; }
    int count() const { return count_; }
    const std::string& name() const { return name_; }
    /// How much memory it needs.
    std::size_t bytes() const { return bytes_; }
    /// What to give to MPI for a message in `memory`, which starts there.
    void* address(std::byte* memory) const { return memory + origin_; }

  private:
    void make_vector(MPI_Datatype element, std::size_t extent, std::size_t elements);
    void make_backwards(MPI_Datatype element, std::size_t extent, std::size_t elements);
    void make_before(MPI_Datatype element, std::size_t extent, std::size_t elements);
    void make_units(MPI_Datatype element, std::size_t extent, std::size_t elements, std::size_t in_unit);

    MPI_Datatype type_ = MPI_DATATYPE_NULL;
    int count_ = 0;
    std::string name_ = "plain";
    std::size_t bytes_ = 0;
    std::ptrdiff_t origin_ = 0;
    bool is_derived_ = false;
};

}  // namespace laple::test
