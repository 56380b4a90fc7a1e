// Instances of models: their casts, their copies, and the tensors made of their outputs.
#include "benches/models/run/precision.hpp"
#include "benches/models/run/step.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>

#include "benches/files/aot/rand_strided.hpp"
#include "pace/check/same.hpp"
#include "tests/models/run_samples.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using pace::test::why;

bool equal_values(const Instance& a, const Instance& b) {
  const auto same = [](const auto& left, const auto& right) {
    for (const auto& each : left)
      if (!right.find(each.key())->equal(each.value())) return false;
    return true;
  };
  return same(a.model.module->named_parameters(), b.model.module->named_parameters()) &&
         same(a.model.module->named_buffers(), b.model.module->named_buffers()) &&
         a.model.inputs[0].toTensor().equal(b.model.inputs[0].toTensor());
}

TEST_CASE("equal options make equal instances, and a change to one does not reach another", "[models]") {
  const auto entry = pace::test::small_net();
  const InstanceOptions options{.batch_size = 3, .training = true, .train_mode = true};
  const auto first = make_instance(entry, options), second = make_instance(entry, options);
  REQUIRE(equal_values(first, second));
  REQUIRE(first.model.inputs[0].toTensor().size(0) == 3);
  REQUIRE(first.model.module->is_training());
  auto other = options;
  other.seed = 2;
  REQUIRE_FALSE(equal_values(first, make_instance(entry, other)));

  {
    const at::NoGradGuard values_alone;
    (void)first.model.module->parameters()[0].fill_(0.5);
    (void)first.model.module->buffers()[0].fill_(7);
    (void)first.model.inputs[0].toTensor().fill_(2);
  }
  REQUIRE_FALSE(equal_values(first, second));
  const auto copy = copy_instance(first);
  REQUIRE(equal_values(first, copy));
  {
    const at::NoGradGuard values_alone;
    (void)copy.model.module->parameters()[0].zero_();
  }
  REQUIRE_FALSE(equal_values(first, copy));
  REQUIRE(copy.model.module->parameters()[0].requires_grad());

  REQUIRE_THAT(why([&] { (void)make_instance(entry, {.batch_size = 0}); }),
               ContainsSubstring("batch size of at least 1"));
  REQUIRE_FALSE(make_instance(entry, {}).model.module->is_training());
}

TEST_CASE("buffers and inputs come back, whether their versions have advanced or not", "[models]") {
  const auto entry = pace::test::small_net();
  const auto instance = make_instance(entry, {.batch_size = 3, .training = true, .train_mode = true});
  const auto expected = copy_instance(instance);
  const at::NoGradGuard values_alone;
  // Elements of an expanded input share memory.
  const auto first = instance.model.inputs[0].toTensor();
  const auto expanded = first.narrow(0, 0, 1).expand_as(first);
  auto with_expanded = instance;
  with_expanded.model.inputs.emplace_back(expanded);
  {
    const StateKept kept(with_expanded);
    // As a CUDA graph does, which writes to memory alone.
    static_cast<float*>(instance.model.module->buffers()[0].mutable_data_ptr())[0] = 7;
    static_cast<float*>(first.mutable_data_ptr())[0] = 7;
    (void)instance.model.module->buffers()[1].fill_(7);
    REQUIRE_FALSE(equal_values(instance, expected));
  }
  REQUIRE(equal_values(instance, expected));
}

TEST_CASE("casts change floating-point tensors, and autocast changes none", "[models]") {
  const auto entry = pace::test::mlp();
  const auto base = make_instance(entry, {.batch_size = 4});
  const auto half = copy_instance(base, {.cast = at::kBFloat16});
  REQUIRE(half.model.module->parameters()[0].scalar_type() == at::kBFloat16);
  REQUIRE(half.model.module->parameters()[0].equal(base.model.module->parameters()[0].to(at::kBFloat16)));
  REQUIRE(half.model.module->buffers()[0].scalar_type() == at::kLong);
  REQUIRE(half.model.inputs[0].toTensor().scalar_type() == at::kBFloat16);
  REQUIRE(half.model.inputs[1].toTensor().scalar_type() == at::kLong);
  const auto wide = float64_copy(base);
  REQUIRE(wide.model.module->parameters()[0].equal(base.model.module->parameters()[0].to(at::kDouble)));
  REQUIRE(wide.model.inputs[0].toTensor().scalar_type() == at::kDouble);

  const auto amp = copy_instance(base, {.autocast = at::kBFloat16});
  REQUIRE(amp.model.module->parameters()[0].scalar_type() == at::kFloat);
  const auto output = forward_of(amp, amp.model.inputs);
  REQUIRE(output.toTupleRef().elements()[0].toTensor().scalar_type() == at::kBFloat16);
  REQUIRE_FALSE(at::autocast::is_autocast_enabled(at::kCPU));
  REQUIRE(forward_of(base, base.model.inputs).toTupleRef().elements()[0].toTensor().scalar_type() == at::kFloat);

  const auto last = make_instance(pace::test::small_net(), {.batch_size = 2, .channels_last = true});
  REQUIRE(last.model.inputs[0].toTensor().is_contiguous(at::MemoryFormat::ChannelsLast));
  REQUIRE(last.model.module->named_parameters()["conv.weight"].is_contiguous(at::MemoryFormat::ChannelsLast));
}

TEST_CASE("lists turn precisions into others, with a warning", "[models]") {
  Config config;
  config.dtype.fp32_only_models = {"single"};
  config.dtype.force_amp_for_fp16_bf16_models = {"mixed"};
  config.dtype.force_fp16_for_bf16_models = {"half"};
  const auto choose = [&](const char* name, Precision asked) {
    return choose_precision(name, asked, "bfloat16", config);
  };
  REQUIRE(choose("any", Precision::as_made) == ChosenPrecision{});
  REQUIRE(choose("any", Precision::float32) == ChosenPrecision{.cast = at::kFloat});
  REQUIRE(choose("any", Precision::float16) == ChosenPrecision{.cast = at::kHalf});
  REQUIRE(choose("any", Precision::bfloat16) == ChosenPrecision{.cast = at::kBFloat16});
  REQUIRE(choose("any", Precision::amp) == ChosenPrecision{.autocast = at::kBFloat16});
  REQUIRE(choose_precision("any", Precision::amp, "float16", config).autocast == at::kHalf);
  REQUIRE_THAT(why([&] { (void)choose_precision("any", Precision::amp, "float8", config); }),
               ContainsSubstring("expected bfloat16 or float16, found 'float8'"));
  for (const auto asked : {Precision::float16, Precision::bfloat16, Precision::amp}) {
    REQUIRE(choose("single", asked).cast == at::kFloat);
    REQUIRE_FALSE(choose("single", asked).autocast.has_value());
    REQUIRE_THAT(choose("single", asked).warning, ContainsSubstring("supports float32 only"));
  }
  REQUIRE(choose("single", Precision::as_made) == ChosenPrecision{});
  REQUIRE(choose("mixed", Precision::float16).autocast == at::kHalf);
  REQUIRE_FALSE(choose("mixed", Precision::float16).cast.has_value());
  REQUIRE_THAT(choose("mixed", Precision::bfloat16).warning, ContainsSubstring("runs with amp instead"));
  REQUIRE(choose("mixed", Precision::float32).cast == at::kFloat);
  REQUIRE(choose("half", Precision::bfloat16).cast == at::kHalf);
  REQUIRE_THAT(choose("half", Precision::bfloat16).warning, ContainsSubstring("in float16 instead"));
  REQUIRE(choose("half", Precision::float16).warning == "");
}

TEST_CASE("a loss is a mean, of several outputs the mean of their means", "[models]") {
  const auto number = [](const c10::IValue& output) { return reduce_to_scalar_loss(output).item<double>(); };
  REQUIRE(number(at::tensor({1.0, 2.0, 6.0})) == 3);
  REQUIRE(number(at::arange(4)) == 1.5);  // integers
  REQUIRE(number(c10::ivalue::Tuple::create({at::tensor({1.0, 3.0}), at::tensor({4.0})})) == 3);
  REQUIRE(number(std::vector<at::Tensor>{at::tensor({1.0}), at::tensor({2.0})}) == 1.5);
  REQUIRE_THAT(why([&] { (void)number(c10::IValue()); }), ContainsSubstring("found None"));
  REQUIRE_THAT(why([&] { (void)number(c10::ivalue::Tuple::create({at::ones({2}), c10::IValue(3)})); }),
               ContainsSubstring("found Int"));

  const auto leaf = at::ones({2}).requires_grad_();
  REQUIRE(requires_bwd_pass(leaf * 2));
  REQUIRE_FALSE(requires_bwd_pass(at::ones({2})));
  REQUIRE(requires_bwd_pass(c10::ivalue::Tuple::create({at::ones({2}), leaf})));
  REQUIRE_FALSE(requires_bwd_pass(c10::ivalue::Tuple::create({c10::IValue(), c10::IValue(3)})));
  REQUIRE_THAT(why([&] { (void)requires_bwd_pass(c10::IValue("text")); }), ContainsSubstring("found String"));

  auto entry = pace::test::mlp();
  const auto make = entry.make;
  entry.make = [make](const ModelRequest& request) {
    auto model = make(request);
    model.loss = [](const c10::IValue& output) { return output.toTupleRef().elements()[0].toTensor().mean(1); };
    return model;
  };
  const auto odd = make_instance(entry, {.batch_size = 4, .training = true});
  REQUIRE_THAT(why([&] { (void)loss_of(odd, forward_of(odd, odd.model.inputs)); }),
               ContainsSubstring("expected a loss that is a scalar, found a tensor with sizes [4]"));
}

TEST_CASE("two runs are compared by loss, gradients, parameters, buffers and gradients of inputs", "[models]") {
  const auto entry = pace::test::mlp();
  const auto instance = make_instance(entry, {.batch_size = 4, .training = true});
  auto inputs = clone_inputs(instance.model.inputs);
  inputs[0].toTensor().requires_grad_();
  const auto loss = loss_of(instance, forward_of(instance, inputs));
  loss.backward();
  instance.model.module->parameters()[0].mutable_grad().reset();
  const auto results = collect_results(instance, {}, loss, inputs);
  const auto& parts = results.toTupleRef().elements();
  REQUIRE(parts.size() == 7);
  REQUIRE(parts[0].isNone());
  REQUIRE(parts[1].toTensor().equal(loss.detach()));
  const auto gradients = parts[2].toGenericDict();
  REQUIRE(gradients.size() == 4);
  REQUIRE(gradients.at("first.weight.grad").toTensor().equal(at::zeros({16, 6})));
  REQUIRE(gradients.at("second.bias.grad").toTensor().abs().sum().item<double>() > 0);
  REQUIRE(parts[3].toGenericDict().at("first.weight").toTensor().equal(instance.model.module->parameters()[0]));
  REQUIRE(parts[4].toGenericDict().contains("steps"));
  REQUIRE(parts[5].toTensor().sizes() == at::IntArrayRef({4, 6}));
  REQUIRE(parts[6].isNone());
  REQUIRE(pace::check::bitwise_same(results, collect_results(instance, {}, loss, inputs)));
}

TEST_CASE("inputs are lists, tuples and dicts of tensors: made, cast, copied, collected", "[models]") {
  const auto entry = pace::test::structured();
  const auto instance = make_instance(entry, {.batch_size = 4, .training = true});
  const auto& inputs = instance.model.inputs;
  REQUIRE(inputs.size() == 4);
  REQUIRE(inputs[1].isTensorList());
  REQUIRE(inputs[2].isTuple());
  REQUIRE(inputs[3].isGenericDict());
  const auto tensors = tensors_of_inputs(inputs);
  REQUIRE(tensors.size() == 7);

  const auto wide = float64_copy(instance);
  const auto wide_tensors = tensors_of_inputs(wide.model.inputs);
  REQUIRE(wide_tensors.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) REQUIRE(wide_tensors[i].equal(tensors[i].to(at::kDouble)));
  const auto scores = [](const Instance& each) {
    return forward_of(each, each.model.inputs).toGenericDict().at("scores").toTensor();
  };
  REQUIRE(at::allclose(scores(wide), scores(instance).to(at::kDouble), 1e-4, 1e-5));
  const auto copy = copy_instance(instance);
  (void)copy.model.inputs[3].toGenericDict().at("scale").toTensor().zero_();
  (void)copy.model.inputs[1].toTensorVector()[1].zero_();
  REQUIRE_FALSE(tensors_of_inputs(inputs)[2].equal(at::zeros({4, 6})));
  REQUIRE_FALSE(tensors_of_inputs(inputs)[5].equal(at::zeros({4, 6})));
  REQUIRE(tensors_of_inputs(copy.model.inputs)[5].equal(at::zeros({4, 6})));

  // A gradient for the first tensor, two for the list, two for the tuple, none for the dict.
  auto given = clone_inputs(inputs);
  for (const auto& tensor : tensors_of_inputs(given)) tensor.set_requires_grad(true);
  const auto loss = loss_of(instance, forward_of(instance, given));
  loss.backward();
  const auto results = collect_results(instance, {}, loss, given);
  const auto& parts = results.toTupleRef().elements();
  REQUIRE(parts.size() == 5 + 5);
  for (std::size_t i = 0; i < 5; ++i) REQUIRE(parts[5 + i].toTensor().equal(tensors_of_inputs(given)[i].grad()));
  REQUIRE(tensors_of_inputs(given)[5].grad().defined());

  auto odd = entry;
  const auto with = [&](c10::IValue input) {
    odd.make = [make = entry.make, input](const ModelRequest& request) {
      auto model = make(request);
      model.inputs.push_back(input);
      return model;
    };
    return why([&] { (void)make_instance(odd, {.batch_size = 4}); });
  };
  REQUIRE(with(c10::ivalue::Tuple::create({c10::IValue(3), c10::IValue("text"), c10::IValue()})) ==
          "nothing was thrown");
  REQUIRE(with(c10::ivalue::Tuple::create({c10::IValue(at::Tensor())})) ==
          "structured, input 4: expected inputs that are tensors, numbers, texts, None, or lists, tuples and dicts of "
          "these, "
          "found an undefined tensor");
  REQUIRE_THAT(with(c10::Device("cpu")), ContainsSubstring("found Device"));
}

TEST_CASE("optimisers agree with torchbench", "[models]") {
  const auto entry = pace::test::mlp();
  Config config;
  const auto trained = make_instance(entry, {.batch_size = 4, .training = true});
  Settings settings;
  REQUIRE_FALSE(optimizer_options(trained, config, settings));  // on a CPU
  settings.optimizer_on_cpu = true;
  REQUIRE_FALSE(optimizer_options(make_instance(entry, {.batch_size = 4}), config, settings));
  settings.optimizer_code = GENERATE("single", "foreach", "fused");
  const auto step = [&](bool sgd) {
    const auto instance = make_instance(entry, {.batch_size = 4, .training = true});
    config.optimizer.sgd = sgd ? Names{"mlp"} : Names{};
    const auto options = optimizer_options(instance, config, settings);
    REQUIRE(options);
    REQUIRE(name_of_optimizer(*options, settings) == (sgd ? "sgd, " : "adam, ") + settings.optimizer_code);
    REQUIRE(is_capturable(*options) == (settings.optimizer_code != "single"));
    loss_of(instance, forward_of(instance, instance.model.inputs)).backward();
    pace::Updater(trained_parameters(instance), *options).step();
    return instance.model.module->named_parameters()["second.bias"];
  };
  const auto before = trained.model.module->named_parameters()["second.bias"];
  const auto sgd = step(true), adam = step(false);
  REQUIRE(at::allclose(sgd, before - 0.01 * sgd.grad()));
  // Adam's first step is the learning rate in the gradient's direction.
  REQUIRE(at::allclose(adam, before - 0.01 * adam.grad().sign(), 1e-4, 1e-5));
  config.optimizer.none = {"mlp"};
  REQUIRE_FALSE(optimizer_options(trained, config, settings));
}

TEST_CASE("the scaler of losses", "[models]") {
  const auto entry = pace::test::mlp();
  const auto plain = make_instance(entry, {.batch_size = 4, .training = true});
  const auto scaler = std::make_shared<GradScaler>(at::kCPU, 1024);
  const auto go = [](const Instance& instance, const std::shared_ptr<GradScaler>& with) {
    auto step = eager_step(instance, with);
    step.step.backward(step.step.backward_setup(step.step.forward(step.inputs)));
    return gradients_as_one(step.step.parameters)[0];
  };
  const auto expected = go(plain, nullptr);
  const auto scaled_instance = copy_instance(plain);
  const auto scaled = go(scaled_instance, scaler);
  REQUIRE(at::allclose(scaled, expected * 1024));
  REQUIRE(scaler->unscale(trained_parameters(scaled_instance)));
  REQUIRE(at::allclose(gradients_as_one(trained_parameters(scaled_instance))[0], expected));
  scaler->update();
  REQUIRE(scaler->scale() == 1024);
  (void)scaled_instance.model.module->parameters()[0].mutable_grad().fill_(std::numeric_limits<float>::infinity());
  REQUIRE_FALSE(scaler->unscale(trained_parameters(scaled_instance)));
  scaler->update();
  REQUIRE(scaler->scale() == 512);
}

}  // namespace
