// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/discovery.hpp"

#include <memory>

#include "mpi/probe/nodes.hpp"
#include "mpi/probe/prober.hpp"
#include "mpi/probe/provenance.hpp"
#include "topology/clustering.hpp"
#include "topology/survey.hpp"

namespace laple::mpi {
namespace {

std::optional<Model> lead(Prober& prober, const std::vector<Node>& nodes) {
    const ClusteringOptions options;
    const std::unique_ptr<Survey> survey = survey_sites(by_name(nodes), options);
    if (!prober.survey(*survey, kSettle)) return std::nullopt;
    Model model = model_of(survey->findings(), nodes, options, mpi_version());
    model.date = now_in_utc();
    model.version = LAPLE_VERSION;
    return model;
}

}  // namespace

std::optional<Model> discover(MPI_Comm comm, Seconds budget) {
    const Patience patience{now() + budget, nullptr};
    const NodeLayout layout(comm);
    if (!layout.is_good()) return std::nullopt;
    std::optional<Model> model;
    if (layout.probes() != MPI_COMM_NULL) {
        Prober prober(layout.probes(), patience);
        if (layout.nodes().empty()) {
            prober.follow();
        } else {
            model = lead(prober, layout.nodes());
            prober.dismiss();
        }
    }
    layout.rest_until_measured();
    return model;
}

}  // namespace laple::mpi
