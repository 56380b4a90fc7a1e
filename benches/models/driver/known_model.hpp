// KnownModel: all that the driver needs of a model, which is everything but how to make it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "benches/models/suite.hpp"

namespace pace::benches::models {

struct KnownModel {
  std::string name;
  Suite suite = Suite::own;
  std::string family = {};
  std::int64_t training_batch = 1, inference_batch = 1;
};

/// A model that is run, and the devices that it is run on.
struct ChosenModel : KnownModel {
  std::vector<std::string> devices;
};

template <class Model>
[[nodiscard]] std::set<std::string, std::less<>> names_of(const std::vector<Model>& models) {
  std::set<std::string, std::less<>> names;
  for (const auto& model : models) names.insert(model.name);
  return names;
}

/// `a, b, c`, for a message.
[[nodiscard]] inline std::string listed(const std::set<std::string, std::less<>>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Throws InputError with all names.
[[nodiscard]] inline const KnownModel& find_model(const std::vector<KnownModel>& models, const std::string& name) {
  for (const auto& model : models)
    if (model.name == name) return model;
  throw InputError({}, "no model is called '" + name + "'; there are " + listed(names_of(models)));
}

}  // namespace pace::benches::models
