// The event and the graph clock on a device that only keeps books: their readings, the order of their calls, and their
// leftovers.
#include <catch2/catch_test_macros.hpp>
#include <memory>

#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/timing/subject.hpp"
#include "tests/gpu/fake_device.hpp"

using namespace pace;
using namespace pace::gpu;
using namespace pace::timing;
using namespace std::chrono_literals;
using testing::FakeDevice;
using testing::FakeSubject;
using Log = std::vector<std::string>;

namespace {

// A subject whose output can be taken out and put back.
struct KeepingSubject final : FakeSubject {
  using FakeSubject::FakeSubject;
  std::shared_ptr<void> keep_output() override { return std::make_shared<int>(output); }
  void put_back_output(const std::shared_ptr<void>& kept) override { output = *std::static_pointer_cast<int>(kept); }
};

}  // namespace

TEST_CASE("launches slower than the work are timed without a block, and not behind one") {
  FakeDevice device;
  device.launch_cost = 5us;
  FakeSubject subject{device, 3us};
  EventClock clock(device);
  // Before the warm-up is over: starts at 0, the fourth launch at 20 us, its work ends at 23 us.
  CHECK(clock.sample(subject, 0, 4) == 23us);
  CHECK(device.blocks == 0);
  clock.warmed_up();
  CHECK(clock.sample(subject, 0, 4) == 12us);
  CHECK(device.blocks == 1);
  CHECK_FALSE(device.still_blocked());
  CHECK(subject.prepared == 2);
}

TEST_CASE("time(body) never blocks, since it knows nothing of the body") {
  FakeDevice device;
  EventClock clock(device);
  clock.warmed_up();
  CHECK(clock.time([&] { device.work(7us); }) == 8us);
  CHECK(device.blocks == 0);
}

TEST_CASE("a sample of more calls than a batch is the sum of its batches") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  EventClock clock(device, {.batch = 4});
  clock.warmed_up();
  CHECK(clock.sample(subject, 2, 10) == 30us);
  CHECK(device.blocks == 3);
  CHECK(subject.runs == 10);
  CHECK(subject.sets == std::vector<std::size_t>(10, 2));
}

TEST_CASE("a call that waits for the device is released, halves the batch, and is at last not blocked") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  subject.waits = true;
  EventClock clock(device, {.time_out = 2s, .batch = 4});
  clock.warmed_up();
  // Batches of 4, 2 and 1 time out; then each call is launched (1 us) and waited for (3 us), and so on.
  const Nanoseconds before = device.now();
  CHECK(clock.sample(subject, 0, 4) == 16us);
  CHECK(clock.time_outs() == 3);
  CHECK(device.now() - before > 3 * 2s);
  CHECK(clock.batch() == 0);
  CHECK(subject.prepared == 4);
  CHECK_FALSE(device.still_blocked());
  const int blocks = device.blocks;
  CHECK(clock.sample(subject, 0, 4) == 16us);
  CHECK(device.blocks == blocks);

  // Its rival is timed in the same way.
  FakeSubject other{device, 3us};
  CHECK(clock.sample(other, 0, 4) == 13us);
  CHECK(device.blocks == blocks);
  clock.forget();
  CHECK(clock.sample(other, 0, 4) == 12us);
  CHECK(clock.batch() == 4);
}

TEST_CASE("a kernel that never ends is named after the limit") {
  FakeDevice device;
  EventClock clock(device, {.longest = 2s});
  CHECK_THROWS_AS(clock.time([&] { device.hang(); }), NeverEnded);
  FakeDevice graphed;
  GraphClock graph(graphed, {.longest = 2s});
  CHECK_THROWS_AS(graph.time([&] { graphed.hang(); }), NeverEnded);
}

TEST_CASE("a graph is captured once for a subject, its operands and a number of calls") {
  FakeDevice device;
  device.launch_cost = 5us;
  device.log_only = {"begin_capture", "launch", "destroy graph", "abandon_capture"};
  FakeSubject subject{device, 3us};
  {
    GraphClock clock(device);
    CHECK(clock.sample(subject, 0, 4) == 12us);
    CHECK(device.log == Log{"begin_capture", "launch", "launch"});
    CHECK(subject.runs == 1 + 4);
    CHECK(clock.sample(subject, 0, 4) == 12us);
    CHECK(subject.runs == 1 + 4);
    CHECK(clock.kernels_per_call() == 1);
    CHECK(device.log == Log{"begin_capture", "launch", "launch", "launch"});
    CHECK(clock.sample(subject, 1, 4) == 12us);
    CHECK(clock.sample(subject, 0, 6) == 18us);
    // The graph of 4 calls on set 0 went when the graph of 6 came.
    CHECK(device.log == Log{"begin_capture", "launch", "launch", "launch", "begin_capture", "launch", "launch",
                            "destroy graph", "begin_capture", "launch", "launch"});
    CHECK(device.current_stream() == FakeDevice::Stream{0});
  }
  CHECK(device.live == 0);
}

TEST_CASE("each cycle captures its graphs anew, in the same pool, and the last ones are freed before") {
  FakeDevice device;
  device.log_only = {"begin_capture", "destroy graph"};
  FakeSubject one{device, 3us}, other{device, 3us};
  GraphClock clock(device);
  for (int cycle = 0; cycle < 2; ++cycle) {
    clock.begin_cycle();
    for (auto* subject : {&one, &other, &one, &other}) CHECK(clock.sample(*subject, 0, 4) == 12us);
  }
  CHECK(device.log ==
        Log{"begin_capture", "begin_capture", "destroy graph", "destroy graph", "begin_capture", "begin_capture"});
  CHECK(device.capture_pools == std::vector<int>{1, 1, 1, 1});
}

TEST_CASE("once a launch was late, nothing is blocked, neither in later cycles nor for other subjects") {
  FakeDevice device;
  FakeSubject late{device, 3us}, other{device, 3us};
  GraphClock clock(device, {.time_out = 2s});
  device.launch_waits = true;
  CHECK(clock.sample(late, 0, 4) == 12us);
  device.launch_waits = false;
  CHECK(clock.time_outs() == 1);
  const int blocks = device.blocks;
  clock.begin_cycle();
  CHECK(clock.sample(late, 0, 4) == 12us);
  CHECK(device.blocks == blocks);
  CHECK(clock.sample(other, 0, 4) == 12us);
  CHECK(device.blocks == blocks);
  clock.forget();
  CHECK(clock.sample(other, 0, 4) == 12us);
  CHECK(device.blocks == blocks + 1);
}

TEST_CASE("a graph is launched behind a block, but for the first time; one that cannot be is not blocked again") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  GraphClock clock(device, {.time_out = 2s});
  CHECK(clock.sample(subject, 0, 4) == 12us);
  CHECK(device.blocks == 1);
  device.launch_waits = true;
  subject.prepared = 0;
  CHECK(clock.sample(subject, 0, 4) == 12us);
  CHECK(clock.sample(subject, 0, 4) == 12us);
  CHECK(device.blocks == 2);
  CHECK(clock.time_outs() == 1);
  CHECK(subject.prepared == 3);
  CHECK_FALSE(device.still_blocked());
}

TEST_CASE("more calls than a graph holds are launches of the same graph, scaled") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  GraphClock clock(device, {.calls = 4});
  CHECK(clock.sample(subject, 0, 10) == 30us);
  CHECK(subject.runs == 1 + 4);
}

TEST_CASE("all graphs of a clock are captured in one pool, until it forgets them") {
  FakeDevice device;
  FakeSubject one{device, 3us}, other{device, 3us};
  GraphClock clock(device);
  static_cast<void>(clock.sample(one, 0, 4));
  static_cast<void>(clock.sample(other, 0, 4));
  static_cast<void>(clock.sample(one, 1, 6));
  CHECK(device.capture_pools == std::vector<int>{1, 1, 1});
  clock.forget();
  static_cast<void>(clock.sample(one, 0, 4));
  CHECK(device.capture_pools == std::vector<int>{1, 1, 1, 2});
}

TEST_CASE("calls take turns on the sets of a rotation") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  GraphClock clock(device);
  CHECK(clock.sample(subject, std::vector<std::size_t>{4, 7, 5}, 6) == 18us);
  // Every set runs once before the capture.
  CHECK(subject.sets == std::vector<std::size_t>{4, 7, 5, 4, 7, 5, 4, 7, 5});
}

TEST_CASE("cold: each call has events of its own, and everything is driven out of the cache outside of them") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  GraphClock clock(device, {.cold = true, .calls = 4});
  device.log.clear();
  device.log_only = {"drop_persisting_lines", "evict", "record_node", "queue kernel"};
  CHECK(clock.sample(subject, 0, 2) == 6us);
  CHECK(device.log == Log{"queue kernel",  // before the capture
                          "evict",         // counting the kernels of a flush
                          "evict", "record_node", "queue kernel", "record_node", "evict", "record_node", "queue kernel",
                          "record_node", "drop_persisting_lines", "drop_persisting_lines"});
  CHECK(device.buffer_bytes == std::vector<std::size_t>{3000});
  CHECK(clock.last_times().size() == 2);
  CHECK(clock.last_times()[1] == 3us);
  CHECK(clock.kernels_per_call() == 1);
}

TEST_CASE("cold timing takes the place of persisting lines, and gives it back afterwards") {
  FakeDevice device;
  FakeSubject subject{device, 3us};
  GraphClock clock(device, {.cold = true, .calls = 4});
  static_cast<void>(clock.sample(subject, 0, 2));
  device.persisting = 300;
  device.log.clear();
  device.log_only = {"persisting 0", "persisting 300", "drop_persisting_lines", "launch"};
  static_cast<void>(clock.sample(subject, 0, 2));
  CHECK(device.log == Log{"persisting 0", "drop_persisting_lines", "launch", "persisting 300"});
  CHECK(device.persisting == 300);
  // A step that fails leaves the limit as it was.
  device.fail_at = device.steps + 2;
  CHECK_THROWS(clock.sample(subject, 0, 2));
  CHECK(device.persisting == 300);
  // The last step of a sample gives it back. If that fails, the sample stands.
  const auto before = device.steps;
  static_cast<void>(clock.sample(subject, 0, 2));
  device.fail_at = device.steps + (device.steps - before);
  CHECK_NOTHROW(clock.sample(subject, 0, 2));
  CHECK(device.steps == device.fail_at);
  CHECK(device.persisting == 0);
}

TEST_CASE("the output of a capture is there again after every replay") {
  FakeDevice device;
  KeepingSubject subject{device};
  GraphClock clock(device);
  static_cast<void>(clock.sample(subject, 0, 3));
  CHECK(subject.output == 4);  // one run before the capture, three in it
  static_cast<void>(clock.sample(subject, 1, 3));
  CHECK(subject.output == 8);
  static_cast<void>(clock.sample(subject, 0, 3));
  CHECK(subject.output == 4);
}

TEST_CASE("the oldest graphs go when there are too many") {
  FakeDevice device;
  FakeSubject subject{device};
  device.log_only = {"begin_capture"};
  GraphClock clock(device, {.kept = 2});
  for (const std::size_t set : {0, 1, 2, 2, 1, 0}) static_cast<void>(clock.sample(subject, set, 1));
  CHECK(device.log.size() == 4);
  clock.forget();
}
