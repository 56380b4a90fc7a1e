// Training steps: pace::training_step as an implementation of a comparison, with forward and backward timed apart.
//
//   pace::compare("my_model", x, target)
//       .baseline("eager", pace::training_step(model->parameters(), [&](at::Tensor& x, at::Tensor& target) {
//         return torch::mse_loss(model->forward(x), target);
//       }))
//       .candidate("fused", pace::training_step(fused->parameters(), ...))
//       .expect("fused", pace::SpeedupAtLeast(1.2).in_phase("backward"))
//       .run();
#pragma once

#include "pace/compare.hpp"
#include "pace/training/optimizer.hpp"
#include "pace/training/training.hpp"
