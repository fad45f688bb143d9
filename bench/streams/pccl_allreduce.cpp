// SPDX-License-Identifier: BSD-3-Clause
// pccl_allreduce MASTER CONNECTIONS BYTES ITERATIONS: an allreduce of floats between two peers by PCCL
// (github.com/PrimeIntellect-ai/pccl), cut into as many operations as there are connections, as its
// documentation advises. Milliseconds of each on stdout. Built by hand (README.md): PCCL is no part of this
// project.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <ccoip.h>
#include <pccl.h>

namespace {

void require(pcclResult_t result, const char* what) {
    if (result == pcclSuccess) return;
    std::fprintf(stderr, "%s: PCCL's error %d\n", what, static_cast<int>(result));
    std::exit(1);
}

pcclComm_t* connect_to(const char* master, unsigned connections) {
    pcclCommCreateParams_t wanted{};
    wanted.master_address.inet.protocol = inetIPv4;
    inet_pton(AF_INET, master, wanted.master_address.inet.ipv4.data);
    wanted.master_address.port = CCOIP_PROTOCOL_PORT_MASTER;
    wanted.p2p_connection_pool_size = connections;
    pcclComm_t* comm = nullptr;
    require(pcclCreateCommunicator(&wanted, &comm), "communicator");
    require(pcclConnect(comm), "connect");
    return comm;
}

void wait_for_other(pcclComm_t* comm) {
    while (true) {
        int peers = 0;
        bool are_pending = false;
        require(pcclGetAttribute(comm, PCCL_ATTRIBUTE_GLOBAL_WORLD_SIZE, &peers), "peers");
        if (peers >= 2) return;
        require(pcclArePeersPending(comm, &are_pending), "pending peers");
        if (are_pending) require(pcclUpdateTopology(comm), "topology");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

std::vector<pcclReduceOpDescriptor_t> parts_of(std::vector<float>& data, std::vector<float>& sums,
                                               unsigned parts) {
    std::vector<pcclReduceOpDescriptor_t> all(parts);
    for (std::size_t i = 0; i < parts; ++i) {
        const std::size_t first = data.size() * i / parts;
        all[i].sendbuf = data.data() + first;
        all[i].recvbuf = sums.data() + first;
        all[i].descriptor.count = data.size() * (i + 1) / parts - first;
        all[i].descriptor.op = pcclSum;
        all[i].descriptor.tag = i;
        all[i].descriptor.src_descriptor.datatype = pcclFloat;
    }
    return all;
}

double milliseconds_of_one(pcclComm_t* comm, std::vector<pcclReduceOpDescriptor_t>& parts) {
    const auto started = std::chrono::steady_clock::now();
    pcclReduceInfo_t info{};
    const auto count = static_cast<int>(parts.size());
    require(pcclAllReduceMultipleWithRetry(parts.data(), parts.size(), comm, &info, count), "allreduce");
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count();
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::fprintf(stderr, "usage: pccl_allreduce MASTER CONNECTIONS BYTES ITERATIONS\n");
        return 2;
    }
    const auto connections = static_cast<unsigned>(std::atoi(argv[2]));
    require(pcclInit(), "init");
    pcclComm_t* const comm = connect_to(argv[1], connections);
    wait_for_other(comm);
    std::vector<float> data(std::strtoull(argv[3], nullptr, 10) / sizeof(float), 1.0F);
    std::vector<float> sums(data.size());
    auto parts = parts_of(data, sums, connections);
    std::vector<double> times(static_cast<std::size_t>(std::atoi(argv[4])));
    for (double& time : times) {
        std::fill(sums.begin(), sums.end(), 0.0F);
        time = milliseconds_of_one(comm, parts);
        std::printf("%.0f ", time);
        if (std::count(sums.begin(), sums.end(), 2.0F) != static_cast<std::ptrdiff_t>(sums.size()))
            std::printf("WRONG ");
    }
    std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                     times.end());
    std::printf("median %.1f ms\n", times[times.size() / 2]);
}
