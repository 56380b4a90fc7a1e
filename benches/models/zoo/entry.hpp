// Functions that register a network of the zoo: its names and numbers, and how its inputs are drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "benches/models/model.hpp"
#include "benches/models/zoo/settle.hpp"

namespace pace::benches::zoo {

using benches::models::ModelEntry;
using benches::models::ModelRequest;
using benches::models::ModelSize;
using benches::models::Registered;
using benches::models::Suite;

/// Whether in training mode the outputs of equal inputs are equal, or the model drops at random.
enum class Training { repeatable, draws };

struct BatchSizes {
  std::int64_t training, inference;
};

[[nodiscard]] inline ModelEntry entry(std::string name, Suite suite, std::string family, BatchSizes batch,
                                      std::optional<std::int64_t> parameters,
                                      Training training = Training::repeatable) {
  return {.name = std::move(name),
          .suite = suite,
          .family = std::move(family),
          .training_batch = batch.training,
          .inference_batch = batch.inference,
          .published_parameters = parameters,
          .draws = training == Training::draws,
          .make = {}};
}

/// Sizes of one image: channels, height, width.
struct ImageSizes {
  std::vector<std::int64_t> published = {3, 224, 224}, small = {3, 64, 64};
  /// `settle` uses it instead of the published one. The more of an image is padding, the smaller are its values: much
  /// smaller images would not do.
  std::vector<std::int64_t> settling = published;
};

/// `make(small)` gives the network, from [batch, channels, height, width].
template <class Make>
[[nodiscard]] ModelEntry of_images(ModelEntry known, Make make, ImageSizes image = {}) {
  known.make = [=](const ModelRequest& request) {
    const auto draw = [](std::int64_t batch, std::vector<std::int64_t> sizes) {
      sizes.insert(sizes.begin(), batch);
      return at::randn(sizes);
    };
    const bool small = request.size == ModelSize::small;
    auto network = make(small);
    settle(*network, [&] { return draw(4, small ? image.small : image.settling); });
    const at::Tensor images = draw(request.batch_size, small ? image.small : image.published);
    return benches::models::make_model(std::move(network), images);
  };
  return known;
}

/// How many tokens there are, and how many a text has.
struct TextSizes {
  std::int64_t vocabulary, length;
};

/// A language model's `forward(texts..., labels)` gives the loss and the scores. Each is an int64 tensor of
/// [batch, length], at random; `Texts` of them in front of the labels.
template <std::size_t Texts = 1, class Make>
[[nodiscard]] ModelEntry of_texts(ModelEntry known, Make make, TextSizes published, TextSizes small_text) {
  known.make = [=](const ModelRequest& request) {
    const bool small = request.size == ModelSize::small;
    const TextSizes& text = small ? small_text : published;
    auto network = make(small, text);
    const auto draw = [&] { return at::randint(text.vocabulary, {request.batch_size, text.length}, at::kLong); };
    auto model = [&] {
      // One after another: the compiler chooses the order of computing arguments.
      const at::Tensor first = draw(), second = draw();
      if constexpr (Texts == 1) return benches::models::make_model(std::move(network), first, second);
      if constexpr (Texts == 2) return benches::models::make_model(std::move(network), first, second, draw());
    }();
    model.loss = [](const c10::IValue& output) { return output.toTupleRef().elements().at(0).toTensor(); };
    return model;
  };
  return known;
}

}  // namespace pace::benches::zoo
