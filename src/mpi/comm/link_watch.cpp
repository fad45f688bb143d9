// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/link_watch.hpp"

#include "collectives/drift/link_spans.hpp"
#include "mpi/exec/transport.hpp"

namespace laple::mpi {

DriftWatch::Finding LinkWatch::before_call(MPI_Comm inner) {
    const DriftWatch::Due due = watch_.next();
    if (due == DriftWatch::Due::nothing) return {};
    const Seconds start = clock_time();
    DriftWatch::Finding finding;
    if (due == DriftWatch::Due::begin) {
        begin(inner);
    } else {
        finish();
        if (!has_failed_) finding = watch_.conclude(spans_);
    }
    cost_ += clock_time() - start;
    return finding;
}

void LinkWatch::begin(MPI_Comm inner) {
    spans_ = watch_.spans();
    const int links = machine_.cluster_count() * machine_.cluster_count();
    spans_.resize(static_cast<std::size_t>(links));
    has_failed_ = PMPI_Iallreduce(MPI_IN_PLACE, spans_.data(), links, MPI_DOUBLE, MPI_MAX, inner,
                                  &reduction_) != MPI_SUCCESS;
}

void LinkWatch::finish() {
    if (reduction_ != MPI_REQUEST_NULL && PMPI_Wait(&reduction_, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        has_failed_ = true;
}

void LinkWatch::add(const StepTimes& times) {
    std::vector<LinkSpans::Arrival> arrivals;
    for (const StepTime& step : times.steps()) {
        if (step.kind == StepKind::recv && step.end > Seconds(0))
            arrivals.push_back({step.peer, step.bytes, step.end});
    }
    LinkSpans spans(machine_.cluster_count());
    spans.add(arrivals, rank_, machine_);
    watch_.add(spans.all());
}

}  // namespace laple::mpi
