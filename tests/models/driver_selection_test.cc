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
#include "pace/base/error.hpp"

namespace {

using namespace pace::benches::models;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
using Strings = std::vector<std::string>;

struct Dependencies {
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
  CHECK(Dependencies().names() == Strings{"Bert", "mixer", "resnet18", "resnet50", "vgg16"});
}

TEST_CASE("filters are searched for, without regard to case") {
  Dependencies dependencies;
  dependencies.selection.filters = {"NET", "^bert$"};
  CHECK(dependencies.names() == Strings{"Bert", "resnet18", "resnet50"});
  dependencies.selection.excluded = {"18|x"};
  CHECK(dependencies.names() == Strings{"Bert", "resnet50"});
  dependencies.selection.excluded_exactly = {"Bert"};
  CHECK(dependencies.names() == Strings{"resnet50"});
}

TEST_CASE("a suite's models") {
  Dependencies dependencies;
  dependencies.selection.suite = Suite::huggingface;
  CHECK(dependencies.names() == Strings{"Bert"});
}

TEST_CASE("partitions are slices of all models, made before the filters") {
  Dependencies dependencies;
  dependencies.selection.partitions = 2;
  CHECK(dependencies.names() == Strings{"Bert", "mixer"});
  dependencies.selection.partition = 1;
  CHECK(dependencies.names() == Strings{"resnet18", "resnet50", "vgg16"});
  dependencies.selection.filters = {"resnet"};
  CHECK(dependencies.names() == Strings{"resnet18", "resnet50"});
  dependencies.selection.partition = 0;
  CHECK_THAT(dependencies.names(), IsEmpty());  // but not an error: another partition has them
  dependencies.selection = {.partitions = 6, .partition = 2};
  CHECK_THAT(dependencies.names(), IsEmpty());
  dependencies.selection.partition = 5;
  CHECK(dependencies.names().size() == 5);
}

TEST_CASE("a partition that is not there") {
  Dependencies dependencies;
  dependencies.selection.partitions = 2;
  for (const int id : {-1, 2, 3}) {
    dependencies.selection.partition = id;
    CHECK_THROWS_MATCHES(dependencies.choose(), pace::InputError,
                         Message("--partition-id: invalid value '" + std::to_string(id) +
                                 "'; expected 0 to 1, since there are 2 partitions (--total-partitions)"));
  }
  // Upstream's first slice with one too many has models that no other slice of equal size has.
  dependencies.settings.compat = true;
  dependencies.selection.partition = 2;
  CHECK(dependencies.names() == Strings{"vgg16"});
  dependencies.selection.partition = 3;
  CHECK_THROWS_AS(dependencies.choose(), pace::InputError);
}

TEST_CASE("a model that is skipped on one device is run on the others") {
  Dependencies dependencies;
  dependencies.devices = {"cuda:1", "cpu"};
  dependencies.config.skip.cpu = {"vgg16", "mixer"};
  dependencies.config.skip.cuda = {"vgg16"};
  const auto chosen = dependencies.choose();
  REQUIRE(chosen.models.size() == 4);
  CHECK(chosen.models[1].name == "mixer");
  CHECK(chosen.models[1].devices == Strings{"cuda:1"});
  CHECK(chosen.models[2].devices == Strings{"cuda:1", "cpu"});
  CHECK(chosen.skipped == std::vector<Skipped>{{"mixer", "cpu", "skip.device.cpu"},
                                               {"vgg16", "cuda:1", "skip.device.cuda"},
                                               {"vgg16", "cpu", "skip.device.cpu"}});
  dependencies.selection.no_skip = true;
  CHECK(dependencies.choose().models[1].devices == Strings{"cuda:1", "cpu"});
}

TEST_CASE("with freezing other lists skip models, too") {
  Dependencies dependencies;
  dependencies.devices = {"cuda:1", "cpu"};
  dependencies.config.skip.freezing_cpu = {"vgg16"};
  dependencies.config.skip.freezing_cuda = {"mixer", "vgg16"};
  CHECK(dependencies.choose().skipped.empty());
  dependencies.settings.freezing = true;
  CHECK(dependencies.choose().skipped == std::vector<Skipped>{{"mixer", "cuda:1", "skip.freezing.cuda"},
                                                              {"vgg16", "cuda:1", "skip.freezing.cuda"},
                                                              {"vgg16", "cpu", "skip.freezing.cpu"}});
  dependencies.selection.no_skip = true;
  CHECK(dependencies.choose().skipped.empty());
}

TEST_CASE("the YAML file skips models, and each of its sections only where it applies") {
  struct Case {
    const char* section;
    Names& (*list)(Config&);
    void (*apply)(Dependencies&);
  };
  const std::vector<Case> cases{
      {"skip.test.training", [](Config& c) -> Names& { return c.skip.training; },
       [](Dependencies& w) { w.settings.training = true; }},
      {"slow", [](Config& c) -> Names& { return c.slow; }, [](Dependencies& w) { w.selection.fast = true; }},
      {"skip.control_flow", [](Config& c) -> Names& { return c.skip.control_flow; },
       [](Dependencies& w) { w.settings.backends = {"torchscript", "aot_inductor"}; }},
  };
  for (const auto& each : cases) {
    CAPTURE(each.section);
    Dependencies dependencies;
    dependencies.devices = {"xpu"};
    dependencies.settings.backends = {"torchscript"};
    each.list(dependencies.config) = {"vgg16"};
    CHECK(dependencies.names().size() == 5);
    each.apply(dependencies);
    CHECK(dependencies.names().size() == 4);
    CHECK(dependencies.choose().skipped == std::vector<Skipped>{{"vgg16", "", each.section}});
    dependencies.selection.no_skip = true;
    CHECK(dependencies.names().size() == 5);
  }
  Dependencies dependencies;
  dependencies.config.skip.all = {"vgg16"};
  dependencies.config.skip.multiprocess = {"vgg16", "mixer"};
  CHECK(dependencies.names() == Strings{"Bert", "resnet18", "resnet50"});
  CHECK(dependencies.choose().skipped.back().reason == "skip.all, skip.multiprocess");
}

TEST_CASE("each filter and each exclusion is about some model") {
  const std::string there = "'; there are Bert, mixer, resnet18, resnet50, vgg16";
  const auto refuses = [](const Selection& selection, const std::string& message) {
    Dependencies dependencies;
    dependencies.selection = selection;
    CHECK_THROWS_MATCHES(dependencies.choose(), pace::InputError, Message(message));
    CHECK_THROWS_MATCHES(matching_models(dependencies.models, selection), pace::InputError, Message(message));
  };
  // Beside one that matches, too, and in any partition.
  refuses({.filters = {"resnet", "zebra"}, .partitions = 5}, "--filter: no model matches 'zebra" + there);
  refuses({.filters = {"zebra"}}, "--filter: no model matches 'zebra" + there);
  refuses({.excluded = {"zebra"}}, "--exclude: no model matches 'zebra" + there);
  refuses({.excluded_exactly = {"resnet5"}}, "--exclude-exact: no model matches 'resnet5" + there);
  refuses({.filters = {"bert"}, .suite = Suite::timm}, "--filter: no model matches 'bert'; there are mixer");
  // A model that is excluded everywhere may be in another suite.
  Dependencies dependencies;
  dependencies.selection = {.excluded = {"bert"}, .excluded_exactly = {"vgg16"}, .suite = Suite::timm};
  CHECK(dependencies.names() == Strings{"mixer"});
  dependencies.selection = {.filters = {"zebra|vgg"}};
  CHECK(dependencies.names() == Strings{"vgg16"});
  CHECK(matching_models(dependencies.models, dependencies.selection).size() == 1);
}

TEST_CASE("nothing to run is an error that lists what there is") {
  Dependencies dependencies;
  dependencies.selection.filters = {"vgg"};
  dependencies.selection.excluded = {"16"};
  CHECK_THROWS_MATCHES(dependencies.choose(), pace::InputError,
                       Message("no model matches the filters; there are Bert, mixer, resnet18, resnet50, vgg16"));
  dependencies.selection.excluded = {};
  dependencies.config.skip.all = {"vgg16"};
  CHECK_THROWS_MATCHES(
      dependencies.choose(), pace::InputError,
      Message("every model that matches is skipped by the YAML file (vgg16 by skip.all); --no-skip runs "
              "them"));
  dependencies.selection.filters = {"(vgg"};
  CHECK_THROWS_MATCHES(dependencies.choose(), pace::InputError,
                       MessageMatches(StartsWith("--filter: '(vgg' is no regular expression: ")));
}

TEST_CASE("an expression that the stack has no room for is refused; the longest one that is not works") {
  Dependencies dependencies;
  for (const std::string& each :
       {std::string(100'000, '('), std::string(100'000, 'a'), "vgg" + std::string(998, '?')}) {
    dependencies.selection.filters = {each};
    CHECK_THROWS_MATCHES(dependencies.choose(), pace::InputError,
                         Message("--filter: expected a regular expression of at most 1000 characters, found " +
                                 std::to_string(each.size())));
  }
  dependencies.selection.filters = {std::string(498, '(') + "vgg" + std::string(498, ')')};
  CHECK(dependencies.names() == Strings{"vgg16"});
  std::string alternatives = "vgg";
  while (alternatives.size() < 999) alternatives += "|q";
  dependencies.selection.filters = {alternatives};
  CHECK(dependencies.names() == Strings{"vgg16"});
  dependencies.selection = {};
  dependencies.selection.excluded = {std::string(1001, 'a')};
  CHECK_THROWS_MATCHES(dependencies.choose(), pace::InputError, MessageMatches(StartsWith("--exclude: expected")));
}

TEST_CASE("a model by its name") {
  const Dependencies dependencies;
  CHECK(find_model(dependencies.models, "mixer").suite == Suite::timm);
  CHECK_THROWS_MATCHES(find_model(dependencies.models, "mix"), pace::InputError,
                       Message("no model is called 'mix'; there are Bert, mixer, resnet18, resnet50, vgg16"));
}

}  // namespace
