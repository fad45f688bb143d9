// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace laple::mpi {

/// To be made by each rank where MPI_Finalize or MPI_Session_finalize begins: while it lives, this thread
/// goes on answering others.
///
/// MPICH 4.0 and 4.1 over UCX disconnect in MPI_Finalize, and then block in a read from the process manager
/// (a barrier) until all ranks have done so. A rank whose disconnecting still needs an answer from one that
/// reads already waits for ever; between sites some milliseconds apart that is the rule (MPICH pull request
/// 6596, mended in 4.2). finalize.cpp stands before the functions that matter, so that this thread drives UCX
/// on until there is something to read.
class AnsweringOthers {
  public:
    AnsweringOthers();
    ~AnsweringOthers();
    AnsweringOthers(const AnsweringOthers&) = delete;
    AnsweringOthers& operator=(const AnsweringOthers&) = delete;

  private:
    bool was_answering_;
};

/// The same from now on, for programs that reach MPI's own MPI_Finalize directly.
void answer_others_in_finalize();

}  // namespace laple::mpi
