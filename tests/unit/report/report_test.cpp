// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/comm/report.hpp"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

namespace laple::mpi {
namespace {

constexpr Seconds kMilli(1e-3);

/// Of a call that MPI does in 10 ms, and LaPle in 4.
Expectation expectation() {
    Expectation expected;
    expected.native = 10 * kMilli;
    expected.predicted = 4 * kMilli;
    expected.is_native_measured = true;
    return expected;
}

/// Ten calls by LaPle, each of which took `time`.
void add_ten(Report& report, Collective collective, const char* function, Seconds time,
             const Expectation& expected = expectation()) {
    for (int i = 0; i < 10; ++i) report.add(collective, function, 8, "flat/binomial", time, expected);
}

/// Of calls that take ten times as long.
Expectation ten_times() {
    Expectation expected = expectation();
    expected.native *= 10;
    expected.predicted *= 10;
    return expected;
}

/// What a report says last.
std::string verdict(const Report& report, Report::Job job) {
    const std::string text = report.text("LaPle", job);
    return text.substr(text.rfind('\n', text.size() - 2) + 1);
}

std::string verdict(const Report& report, Seconds wall) {
    Report::Job job;
    job.duration.wall = wall;
    return verdict(report, job);
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what is saved is MPI's own less what is predicted", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
    CHECK(
        verdict(report, 100 * kMilli) ==
        "Blocking collectives took 40.0 ms of 100 ms (40.0 %); LaPle did 10 of 10 calls. It has saved about "
        "60.0 ms: without it the job would have taken 1.60 times as long (MPI's own calls: as measured).\n");
}

TEST_CASE("a report ends with how to learn why, where a model is known", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
    add_ten(report, Collective::barrier, "Barrier", 5 * kMilli);
    add_ten(report, Collective::alltoall, "Alltoallv", 90 * kMilli, {});  // nothing is predicted of it
    add_ten(report, Collective::allreduce, "Iallreduce", 90 * kMilli);
    Report::Job job;
    job.duration.wall = kMilli;
    CHECK_FALSE(has(report.text("LaPle", job), "laple-plan"));
    job.model_file = "m.json";
    CHECK(verdict(report, job) == "Why flat/binomial: laple-plan explain barrier --model m.json\n");
    add_ten(report, Collective::bcast, "Bcast", 9 * kMilli);
    CHECK(verdict(report, job) == "Why flat/binomial: laple-plan explain bcast 8 --model m.json\n");
}

TEST_CASE("calls that take longer than predicted save no less", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 8 * kMilli);
    CHECK(has(verdict(report, 100 * kMilli), "It has saved about 60.0 ms: "));
}

TEST_CASE("no more is saved than the share of the predicted time that calls took", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", kMilli);  // as on its root, which waits for nobody
    CHECK(has(verdict(report, 100 * kMilli), "It has saved about 15.0 ms: "));
    SECTION("over all calls: others took the time instead") {
        add_ten(report, Collective::allreduce, "Allreduce", 8 * kMilli);
        CHECK(has(verdict(report, 200 * kMilli), "It has saved about 120 ms: "));
    }
    SECTION("over all calls: they do not make up for all of it") {
        add_ten(report, Collective::allreduce, "Allreduce", 5 * kMilli);
        CHECK(has(verdict(report, 200 * kMilli), "It has saved about 90.0 ms: "));
    }
    SECTION("calls of which nothing is known take no part") {
        add_ten(report, Collective::allreduce, "Allreduce", 8 * kMilli, {});
        CHECK(has(verdict(report, 200 * kMilli), "It has saved about 15.0 ms: "));
    }
}

TEST_CASE("threads lose the job's time once", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
    add_ten(report, Collective::allreduce, "Allreduce", 4 * kMilli);
    CHECK(has(verdict(report, 40 * kMilli),
              "took 40.0 ms of 40.0 ms (100.0 %); LaPle did 20 of 20 calls. It has "
              "saved about 60.0 ms: without it the job would have taken 2.50 times"));
}

TEST_CASE("what goes on beside the program saves nothing", "[report]") {
    Report report;
    add_ten(report, Collective::allreduce, "Iallreduce", 4 * kMilli);
    add_ten(report, Collective::allreduce, "Allreduce_init", 4 * kMilli);
    const std::string all = verdict(report, 100 * kMilli);
    CHECK(has(all, "Blocking collectives took 0.00 us of 100 ms (0.0 %); LaPle did 20 of 20 calls."));
    CHECK(has(all, "What calls save that go on beside the program cannot be told."));
}

TEST_CASE("LaPle's own set-up is no part of the program", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 40 * kMilli, ten_times());
    Report::Job job;
    job.duration = {1000 * kMilli, 500 * kMilli, Seconds(0)};
    SECTION("it counts against what was saved") {
        const std::string text = report.text("LaPle", job);
        CHECK(has(text, "saved about 600 ms: without it the job would have taken 1.10 times as long"));
        CHECK(has(text, "LaPle's own set-up took 500 ms"));
        CHECK(has(text, "It is in the job's time."));
    }
    SECTION("which may be less") {
        job.duration = {2000 * kMilli, 1000 * kMilli, Seconds(0)};
        const std::string text = report.text("LaPle", job);
        CHECK(has(text,
                  "It has saved about 600 ms (MPI's own calls: as measured), less than its own "
                  "set-up took"));
        CHECK_FALSE(has(text, "times as long"));
    }
    SECTION("of little set-up nothing is said") {
        job.duration.set_up = 49 * kMilli;
        CHECK_FALSE(has(report.text("LaPle", job), "set-up"));
        job.duration.wall = 60 * kMilli;
        job.duration.set_up = 49 * kMilli;  // nor where it is most of a short job
        CHECK_FALSE(has(report.text("LaPle", job), "set-up"));
    }
    SECTION("a profile is without it") {
        job.is_profile = true;
        const std::string text = report.text("LaPle", job);
        CHECK(has(text, "Blocking ones took 400 ms of 500 ms (80.0 %)"));
        CHECK(has(text, "It is not in the times above."));
    }
}

TEST_CASE("waiting for all ranks in the first call is a collective's time, and that of late ranks",
          "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
    const Report::Duration duration{200 * kMilli, 50 * kMilli, 60 * kMilli};
    CHECK(report.times(duration).total.count() == Approx(100e-3));
    CHECK(report.times(duration).late.count() == Approx(60e-3));
    Report::Job job;
    job.duration = duration;
    CHECK(has(report.text("LaPle", job), "Blocking collectives took 100 ms of 200 ms (50.0 %)"));
}

TEST_CASE("a kind of call shows the means of what was expected of its calls", "[report]") {
    Report report;
    for (const double native : {1.0, 9.0})
        report.add(Collective::bcast, "Bcast", 8, kNativeCall, kMilli,
                   {2 * native * kMilli, native * kMilli});
    report.add(Collective::bcast, "Bcast", 8, kNativeCall, kMilli, {});
    Report::Job job;
    CHECK(has(report.text("LaPle", job), "    10.0 ms    5.00 ms\n"));
    CHECK(report.json("LaPle", job)["collectives"][0]["native"] == Approx(5e-3));
}

TEST_CASE("a report in JSON has what its text says", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli, expectation());
    Expectation left;
    left.reason = "nothing is predicted to be faster";
    report.add(Collective::barrier, "Barrier", 0, kNativeCall, kMilli, left);
    Report::Job job;
    job.ranks = 4;
    job.network = "4 ranks in 2 clusters (2 2)";
    job.source = "measured by this job";
    job.model_file = "m.json";
    job.duration.wall = 100 * kMilli;
    job.trials = "one\ntwo\n";
    const Json json = report.json("LaPle", job);
    CHECK(json["format"] == "laple-report-1");
    CHECK(json["ranks_of_world"] == 4);
    CHECK(json["network"] == job.network);
    CHECK(json["source"] == job.source);
    CHECK(json["model_file"] == "m.json");
    CHECK(json["in_collectives"] == Approx(41e-3));
    CHECK(json["saved"] == Approx(60e-3));
    CHECK_FALSE(json.contains("gain"));
    CHECK(json["collectives"][0]["saved"] == Approx(60e-3));
    CHECK(json["collectives"][1]["reason"] == left.reason);
    CHECK(json["trials"] == Json::array({"one", "two"}));
    REQUIRE(json["verdict"].size() == 1);
    CHECK(has(report.text("LaPle", job), json["verdict"][0].get<std::string>() + "\n"));
}

TEST_CASE("a profile does not promise what is not known", "[report]") {
    Report report;
    Report::Job job;
    job.is_profile = true;
    job.duration.wall = 100 * kMilli;
    const auto text = [&] { return report.text("LaPle", job); };
    SECTION("no times") {
        report.add(Collective::bcast, "Bcast", 8, "flat/binomial", kMilli, {}, Report::DoneBy::mpi);
        CHECK(has(text(), "What LaPle would gain is not known: "));
        CHECK(report.json("LaPle", job)["gain"].is_null());
    }
    SECTION("all of them MPI's own") {
        report.add(Collective::bcast, "Bcast", 8, kNativeCall, kMilli, {}, Report::DoneBy::mpi);
        CHECK(has(text(), "LaPle would leave all blocking ones to MPI, and gain nothing."));
    }
    SECTION("calls that are started") {
        add_ten(report, Collective::bcast, "Bcast", 5 * kMilli);
        report.add(Collective::bcast, "Ibcast", 8, kNativeCall, Seconds(0), {}, Report::DoneBy::mpi);
        CHECK(has(text(), "Of 1 calls that were started (non-blocking, persistent) nothing is predicted."));
        CHECK(has(text(), "LaPle would do 10 of 10 blocking calls itself"));
    }
}

TEST_CASE("little is called little, and less than nothing nothing", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
    CHECK(has(verdict(report, Seconds(10)),
              "It has saved about 60.0 ms, less than 1 % of the job (MPI's own calls: as "
              "measured)."));
    Expectation worse = expectation();
    worse.native = kMilli;
    add_ten(report, Collective::allreduce, "Allreduce", 4 * kMilli, worse);
    CHECK(has(verdict(report, Seconds(1)), "It has saved about 30.0 ms: "));
    add_ten(report, Collective::reduce, "Reduce", 4 * kMilli, worse);
    CHECK(has(verdict(report, Seconds(1)), "By all that is known it has saved nothing."));
}

TEST_CASE("one predicted time of MPI's own makes the sum a prediction", "[report]") {
    Report report;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
    Expectation predicted = expectation();
    predicted.is_native_measured = false;
    add_ten(report, Collective::allreduce, "Allreduce", 4 * kMilli, predicted);
    CHECK(has(verdict(report, 100 * kMilli), "(MPI's own calls: as predicted)"));
}

TEST_CASE("MPI's own calls are measured when all are, and bounded when some are", "[report]") {
    Report report;
    Expectation bound = expectation();
    bound.is_native_measured = false;
    bound.is_native_at_most = true;
    report.add(Collective::bcast, "Bcast", 8, "flat/binomial", 4 * kMilli, bound);
    report.add(Collective::bcast, "Bcast", 8, "flat/binomial", 4 * kMilli, expectation());
    const auto line = report.json("LaPle", {})["collectives"][0];
    CHECK(line["is_native_measured"] == false);
    CHECK(line["is_native_at_most"] == true);
}

TEST_CASE("what trials have shown counts for more than what was predicted", "[report]") {
    Report report;
    Expectation slow = expectation();
    slow.tried = 12 * kMilli;
    add_ten(report, Collective::bcast, "Bcast", 12 * kMilli, slow);
    CHECK(has(verdict(report, Seconds(1)), "By all that is known it has saved nothing."));
    Report::Job job;
    job.duration.wall = Seconds(1);
    CHECK(has(report.text("LaPle", job), "   4.00 ms    10.0 ms\n"));  // predicted, and MPI's own
    Expectation fast = expectation();
    fast.tried = 5 * kMilli;
    add_ten(report, Collective::allreduce, "Allreduce", 20 * kMilli, fast);
    CHECK(has(verdict(report, Seconds(1)), "It has saved about 30.0 ms: "));
}

TEST_CASE("where MPI's own may take less than predicted, the gain is a bound", "[report]") {
    Report report;
    Expectation bound = expectation();
    bound.is_native_measured = false;
    bound.is_native_at_most = true;
    add_ten(report, Collective::bcast, "Bcast", 4 * kMilli, bound);
    CHECK(
        has(verdict(report, 100 * kMilli),
            "It has saved up to 60.0 ms: without it the job would have taken up to 1.60 times as long (MPI's "
            "own calls: as predicted, from a connection that was still growing faster)."));
    Report::Job job;
    job.duration.wall = 100 * kMilli;
    CHECK(has(report.text("LaPle", job), " <10.0 ms\n"));
    CHECK(report.json("LaPle", job)["collectives"][0]["is_native_at_most"] == true);
    job.is_profile = true;
    CHECK(has(verdict(report, job),
              "save up to 60.0 ms: the job would take at least 40.0 ms (up to 2.50 times as"));
    CHECK(has(report.text("LaPle", job), "<10.0 ms   <60.0 ms\n"));
}

TEST_CASE("where ranks share cores no gain is told", "[report]") {
    Report::Job job;
    job.duration.wall = 100 * kMilli;
    job.shared_cores = "4 ranks share the 2 cores of a host";
    const std::string words =
        "What is gained cannot be told here: 4 ranks share the 2 cores of a host, so that calls take as long "
        "as "
        "ranks wait for a core. Run no more ranks than cores.\n";
    Report report;
    Expectation unknown;
    SECTION("which is not said where nothing is known of it") {
        add_ten(report, Collective::bcast, "Bcast", 4 * kMilli, unknown);
        CHECK(has(verdict(report, job), "What it has saved is not known"));
        CHECK_FALSE(has(verdict(report, job), "cores"));
    }
    SECTION("of a job with LaPle") {
        add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
        CHECK(verdict(report, job) ==
              "Blocking collectives took 40.0 ms of 100 ms (40.0 %); LaPle did 10 of 10 calls. " + words);
    }
    SECTION("of a profile") {
        job.is_profile = true;
        add_ten(report, Collective::bcast, "Bcast", 4 * kMilli);
        CHECK(has(verdict(report, job), words));
        CHECK_FALSE(has(report.text("LaPle", job), "times as fast"));
    }
}

TEST_CASE("a profile's bound is what MPI's calls took", "[report]") {
    Report report;
    for (int i = 0; i < 10; ++i)
        report.add(Collective::bcast, "Bcast", 8, "flat/binomial", 5 * kMilli, expectation(),
                   Report::DoneBy::mpi);
    Report::Job job;
    job.duration.wall = 100 * kMilli;
    job.is_profile = true;
    CHECK(has(report.text("LaPle", job),
              "save about 30.0 ms: the job would take 70.0 ms (1.43 times as fast; "));
}

TEST_CASE("a profile says what each kind of call would gain", "[report]") {
    Report report;
    const auto add = [&report](const char* function, const std::string& algorithm, Seconds time) {
        report.add(Collective::bcast, function, 8, algorithm, time, expectation(), Report::DoneBy::mpi);
    };
    for (int i = 0; i < 10; ++i) add("Bcast", "flat/binomial", 5 * kMilli);
    add("Ibcast", "flat/binomial", Seconds(0));
    Report::Job job;
    job.duration.wall = 100 * kMilli;
    job.is_profile = true;
    job.messages = "messages\n";
    job.remainder = "the rest\n";
    const std::string text = report.text("LaPle", job);
    CHECK(has(text, " MPI's own       gain\n"));
    CHECK(has(text, "    4.00 ms    10.0 ms    30.0 ms\n"));  // of 60, the share that calls took
    CHECK(has(text, "    4.00 ms    10.0 ms          -\nmessages\n"));
    CHECK(has(text, "the rest\n"));
    job.is_profile = false;
    CHECK_FALSE(has(report.text("LaPle", job), "gain\n"));
}

TEST_CASE("what calls take beyond MPI's own time is waiting for late ranks", "[report]") {
    Report report;
    const auto add = [&report](const char* function, const std::string& algorithm, Seconds time) {
        report.add(Collective::bcast, function, 8, algorithm, time, expectation(), Report::DoneBy::mpi);
    };
    add("Bcast", "flat/binomial", 30 * kMilli);
    add("Allreduce", kNativeCall, 15 * kMilli);
    add("Barrier", kNativeCall, kMilli);  // less does not make up for it
    add("Ibcast", kNativeCall, Seconds(1));
    CHECK(report.times({Seconds(1)}).late.count() == Approx(25e-3));
    CHECK(report.times({Seconds(1)}).total.count() == Approx(46e-3));
    CHECK(report.times({10 * kMilli}).late.count() == Approx(10e-3));
}

namespace {

/// A profile of calls of all ranks, which MPI has done.
struct ComparedProfile {
    Report report;
    Report::Job job;
    Expectation expected = expectation();

    ComparedProfile() {
        expected.is_native_measured = false;
        job.duration.wall = 1000 * kMilli;
        job.is_profile = true;
    }
    void add_ten(Collective collective, const char* function, Bytes bytes, Seconds time,
                 bool is_of_all_ranks = true) {
        for (int i = 0; i < 10; ++i)
            report.add(collective, function, bytes, "flat/binomial", time, expected, Report::DoneBy::mpi,
                       is_of_all_ranks);
    }
    /// Of each kind in its order: calls, -calls, seconds.
    void learn(const std::vector<double>& least) {
        report.learn_least(report.kinds_to_compare(), least, least);
    }
    double gain() const { return report.json("LaPle", job)["gain"].get<double>(); }
    std::string text() const { return report.text("LaPle", job); }
};

}  // namespace

TEST_CASE("a profile compares calls of all ranks that none can leave early", "[report]") {
    ComparedProfile profile;
    profile.add_ten(Collective::allreduce, "Allreduce", 8, 30 * kMilli);
    profile.add_ten(Collective::allreduce, "Allreduce", 1000, 10 * kMilli);
    profile.add_ten(Collective::allgather, "Allgather", 8, kMilli, false);  // of some ranks
    profile.add_ten(Collective::bcast, "Bcast", 8, kMilli);
    profile.add_ten(Collective::barrier, "Ibarrier", 0, Seconds(0));
    CHECK(profile.report.kinds_to_compare() ==
          std::vector<std::string>{"Allreduce", "Allreduce 1024", "Allreduce 8"});
    const auto times = profile.report.times_to_compare({"Allreduce 8", "Allreduce", "Scan"});
    REQUIRE(times.size() == 9);
    CHECK(times[0] == 10);
    CHECK(times[1] == -10);
    CHECK(times[2] == Approx(300e-3));
    CHECK(times[3] == 20);
    CHECK(times[5] == Approx(400e-3));
    CHECK(times[6] == 0);
}

TEST_CASE("a profile takes for MPI's own time what the rank that waited least saw", "[report]") {
    ComparedProfile profile;
    profile.add_ten(Collective::allreduce, "Allreduce", 8, 30 * kMilli);
    CHECK(profile.gain() == Approx(60e-3));
    SECTION("more than was predicted") {
        profile.learn({10, -10, 240e-3, 10, -10, 240e-3});
        CHECK(profile.gain() == Approx(200e-3));
        CHECK(profile.report.times(profile.job.duration).late.count() == Approx(60e-3));
        CHECK(has(profile.text(), "    4.00 ms    24.0 ms     200 ms\n"));
        CHECK(has(profile.text(), "MPI's own calls as the rank that waited least saw them)"));
    }
    SECTION("less") {
        profile.learn({10, -10, 70e-3, 10, -10, 70e-3});
        CHECK(profile.gain() == Approx(30e-3));
        profile.learn({10, -10, 20e-3, 10, -10, 20e-3});  // LaPle's would take longer
        CHECK(profile.gain() == 0);
    }
    SECTION("of blocks of different sizes all calls of a function are compared") {
        profile.learn({10, -10, 150e-3, 0, -10, 0});
        CHECK(profile.gain() == Approx(110e-3));
    }
    SECTION("ranks that made different numbers of calls tell nothing") {
        profile.learn({9, -10, 150e-3, 0, -10, 0});
        CHECK(profile.gain() == Approx(60e-3));
    }
    SECTION("of other calls no more is saved than the share that they took") {
        profile.add_ten(Collective::bcast, "Bcast", 8,
                        5 * kMilli);  // half of what MPI's own are expected to take
        profile.learn({10, -10, 240e-3, 10, -10, 240e-3});
        CHECK(profile.gain() == Approx(200e-3 + 30e-3));
    }
}

TEST_CASE("a rank that had no blocks tells nothing of an alltoallv", "[report]") {
    ComparedProfile profile;
    profile.add_ten(Collective::alltoall, "Alltoallv", 8, 30 * kMilli);
    const std::vector<double> mean{10, -10, 280e-3};
    profile.report.learn_least({"Alltoallv"}, {10, -10, 1e-3}, mean);
    CHECK(profile.gain() == Approx(60e-3));
    profile.report.learn_least({"Alltoallv"}, {10, -10, 240e-3}, mean);
    CHECK(profile.gain() == Approx(200e-3));
}

TEST_CASE("of what was measured without late ranks a profile takes no more", "[report]") {
    ComparedProfile profile;
    profile.expected.is_native_measured = true;
    profile.add_ten(Collective::barrier, "Barrier", 0, 30 * kMilli);
    profile.learn({10, -10, 240e-3, 10, -10, 240e-3});
    CHECK(profile.gain() == Approx(60e-3));
    CHECK(has(profile.text(), "    4.00 ms    10.0 ms    60.0 ms\n"));
    profile.learn({10, -10, 90e-3, 10, -10, 90e-3});
    CHECK(profile.gain() == Approx(50e-3));
}

TEST_CASE("calls left to MPI are listed by their reason, and save nothing", "[report]") {
    Report report;
    Expectation expected = expectation();
    expected.reason = "LAPLE_TOPOLOGY=off";
    report.add(Collective::bcast, "Bcast", 8, kNativeCall, kMilli, expected);
    report.add(Collective::allreduce, "Iallreduce", 9, kNativeCall, Seconds(0), expected);
    Report::Job job;
    job.duration.wall = 100 * kMilli;
    const std::string text = report.text("LaPle", job);
    CHECK(has(text, "left to MPI: bcast 8, iallreduce 16: LAPLE_TOPOLOGY=off\n"));
    CHECK(has(text, "LaPle did 0 of 2 calls. MPI's own were as good, or nothing better is known"));
}

}  // namespace laple::mpi
