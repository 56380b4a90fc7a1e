// Which models are run: filters, partitions, and the YAML file's skip sections.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>
#include <utility>
#include <vector>

#include "benches/models/driver/selection.hpp"
#include "pace/core/error.hpp"

namespace {

using namespace pace::benches::models;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using Strings = std::vector<std::string>;

struct World {
  std::vector<KnownModel> models{{.name = "resnet50"},
                                 {.name = "Bert", .suite = Suite::huggingface},
                                 {.name = "vgg16"},
                                 {.name = "resnet18"},
                                 {.name = "mixer", .suite = Suite::timm}};
  Selection selection;
  Config config;
  Settings settings;
  Strings devices{"cpu"};

  [[nodiscard]] Chosen choose() const { return select_models(models, selection, config, settings, devices); }
  [[nodiscard]] Strings names() const {
    Strings names;
    for (const auto& model : choose().models) names.push_back(model.name);
    return names;
  }
};

TEST_CASE("all models, by name") {
  CHECK(World().names() == Strings{"Bert", "mixer", "resnet18", "resnet50", "vgg16"});
}

TEST_CASE("filters are searched for, without regard to case") {
  World world;
  world.selection.filters = {"NET", "^bert$"};
  CHECK(world.names() == Strings{"Bert", "resnet18", "resnet50"});
  world.selection.excluded = {"18|x"};
  CHECK(world.names() == Strings{"Bert", "resnet50"});
  world.selection.excluded_exactly = {"Bert"};
  CHECK(world.names() == Strings{"resnet50"});
}

TEST_CASE("a suite's models") {
  World world;
  world.selection.suite = Suite::huggingface;
  CHECK(world.names() == Strings{"Bert"});
}

TEST_CASE("partitions are slices of all models, made before the filters") {
  World world;
  world.selection.partitions = 2;
  CHECK(world.names() == Strings{"Bert", "mixer"});
  world.selection.partition = 1;
  CHECK(world.names() == Strings{"resnet18", "resnet50", "vgg16"});
  world.selection.filters = {"resnet"};
  CHECK(world.names() == Strings{"resnet18", "resnet50"});
  world.selection.partition = 0;
  CHECK_THAT(world.names(), IsEmpty());  // but not an error: another partition has them
  world.selection = {.partitions = 6, .partition = 2};
  CHECK_THAT(world.names(), IsEmpty());
  world.selection.partition = 5;
  CHECK(world.names().size() == 5);
}

TEST_CASE("a partition that is not there") {
  World world;
  world.selection.partitions = 2;
  for (const int id : {-1, 2, 3}) {
    world.selection.partition = id;
    CHECK_THROWS_MATCHES(world.choose(), InvalidPartition,
                         Message("Invalid partition id: expected 0 to 1 of 2 partitions, found " + std::to_string(id)));
  }
  // Upstream's first one too many has what no other slice of equal size has.
  world.settings.compat = true;
  world.selection.partition = 2;
  CHECK(world.names() == Strings{"vgg16"});
  world.selection.partition = 3;
  CHECK_THROWS_AS(world.choose(), InvalidPartition);
}

TEST_CASE("the YAML file skips models, and each of its sections only where it applies") {
  struct Case {
    const char* section;
    Names& (*list)(Config&);
    void (*apply)(World&);
  };
  const std::vector<Case> cases{
      {"skip.test.training", [](Config& c) -> Names& { return c.skip.training; },
       [](World& w) { w.settings.training = true; }},
      {"slow", [](Config& c) -> Names& { return c.slow; }, [](World& w) { w.selection.fast = true; }},
      {"skip.device.cpu", [](Config& c) -> Names& { return c.skip.cpu; },
       [](World& w) {
         w.devices = {"cuda", "cpu"};
       }},
      {"skip.device.cuda", [](Config& c) -> Names& { return c.skip.cuda; }, [](World& w) { w.devices = {"cuda:1"}; }},
      {"skip.control_flow", [](Config& c) -> Names& { return c.skip.control_flow; },
       [](World& w) {
         w.settings.backends = {"torchscript", "aot_inductor"};
       }},
  };
  for (const auto& each : cases) {
    CAPTURE(each.section);
    World world;
    world.devices = {"xpu"};
    world.settings.backends = {"torchscript"};
    each.list(world.config) = {"vgg16"};
    CHECK(world.names().size() == 5);
    each.apply(world);
    CHECK(world.names().size() == 4);
    CHECK(world.choose().skipped == std::vector<std::pair<std::string, std::string>>{{"vgg16", each.section}});
    world.selection.no_skip = true;
    CHECK(world.names().size() == 5);
  }
  World world;
  world.config.skip.all = {"vgg16"};
  world.config.skip.multiprocess = {"vgg16", "mixer"};
  CHECK(world.names() == Strings{"Bert", "resnet18", "resnet50"});
  CHECK(world.choose().skipped.back().second == "skip.all, skip.multiprocess");
}

TEST_CASE("each filter and each exclusion is about some model") {
  const std::string there = "'; there are Bert, mixer, resnet18, resnet50, vgg16";
  const auto refuses = [](const Selection& selection, const std::string& message) {
    World world;
    world.selection = selection;
    CHECK_THROWS_MATCHES(world.choose(), pace::InputError, Message(message));
    CHECK_THROWS_MATCHES(matching_models(world.models, selection), pace::InputError, Message(message));
  };
  // Beside one that matches, too, and whatever partition it would be in.
  refuses({.filters = {"resnet", "zebra"}, .partitions = 5}, "--filter: no model matches 'zebra" + there);
  refuses({.filters = {"zebra"}}, "--filter: no model matches 'zebra" + there);
  refuses({.excluded = {"zebra"}}, "--exclude: no model matches 'zebra" + there);
  refuses({.excluded_exactly = {"resnet5"}}, "--exclude-exact: no model matches 'resnet5" + there);
  refuses({.filters = {"bert"}, .suite = Suite::timm}, "--filter: no model matches 'bert'; there are mixer");
  // What is excluded everywhere may be in another suite.
  World world;
  world.selection = {.excluded = {"bert"}, .excluded_exactly = {"vgg16"}, .suite = Suite::timm};
  CHECK(world.names() == Strings{"mixer"});
  world.selection = {.filters = {"zebra|vgg"}};
  CHECK(world.names() == Strings{"vgg16"});
  CHECK(matching_models(world.models, world.selection).size() == 1);
}

TEST_CASE("nothing to run is an error that lists what there is") {
  World world;
  world.selection.filters = {"vgg"};
  world.selection.excluded = {"16"};
  CHECK_THROWS_MATCHES(world.choose(), pace::InputError,
                       Message("no model matches the filters; there are Bert, mixer, resnet18, resnet50, vgg16"));
  world.selection.excluded = {};
  world.config.skip.all = {"vgg16"};
  CHECK_THROWS_MATCHES(
      world.choose(), pace::InputError,
      Message("every model that matches is skipped by the YAML file (vgg16 by skip.all); --no-skip runs "
              "them"));
  world.selection.filters = {"(vgg"};
  CHECK_THROWS_MATCHES(world.choose(), pace::InputError,
                       MessageMatches(StartsWith("--filter: '(vgg' is no regular expression: ")));
}

TEST_CASE("an expression that the stack has no room for is refused; the longest one that is not works") {
  World world;
  for (const std::string& each :
       {std::string(100'000, '('), std::string(100'000, 'a'), "vgg" + std::string(998, '?')}) {
    world.selection.filters = {each};
    CHECK_THROWS_MATCHES(world.choose(), pace::InputError,
                         Message("--filter: expected a regular expression of at most 1000 characters, found " +
                                 std::to_string(each.size())));
  }
  world.selection.filters = {std::string(498, '(') + "vgg" + std::string(498, ')')};
  CHECK(world.names() == Strings{"vgg16"});
  std::string alternatives = "vgg";
  while (alternatives.size() < 999) alternatives += "|q";
  world.selection.filters = {alternatives};
  CHECK(world.names() == Strings{"vgg16"});
  world.selection = {};
  world.selection.excluded = {std::string(1001, 'a')};
  CHECK_THROWS_MATCHES(world.choose(), pace::InputError, MessageMatches(StartsWith("--exclude: expected")));
}

TEST_CASE("a model by its name") {
  const World world;
  CHECK(find_model(world.models, "mixer").suite == Suite::timm);
  CHECK_THROWS_MATCHES(find_model(world.models, "mix"), pace::InputError,
                       Message("no model is called 'mix'; there are Bert, mixer, resnet18, resnet50, vgg16"));
}

}  // namespace
