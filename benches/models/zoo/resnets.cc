// ResNet-18, ResNet-50, ResNeXt-50, and the actor of "Learning to paint with model-based deep reinforcement learning"
// (Huang et al., ICCV 2019). The actor is a ResNet-18 of canvas, image, step and coordinates.
#include "benches/models/zoo/resnet.hpp"

#include "benches/models/zoo/entry.hpp"

namespace pace::benches::zoo {
namespace {

/// One block a stage, narrow.
template <class Block>
std::shared_ptr<ResNet> small_or(bool small, ResNetOptions options) {
  if (small) {
    options.blocks = {1, 1, 1, 1};
    options.width = 16;
    options.groups = {.count = options.groups.count > 1 ? 4 : 1, .width = options.groups.count > 1 ? 32 : 64};
  }
  return ResNet::with<Block>(options);
}

const Registered resnet18_entry(of_images(entry("resnet18", Suite::torchbench, "cnn", {16, 16}, 11'689'512),
                                          [](bool small) {
                                            return small_or<BasicBlock>(small, {.blocks = {2, 2, 2, 2}});
                                          }));

const Registered resnet50_entry(of_images(entry("resnet50", Suite::torchbench, "cnn", {32, 32}, 25'557'032),
                                          [](bool small) {
                                            return small_or<Bottleneck>(small, {.blocks = {3, 4, 6, 3}});
                                          }));

const Registered resnext50_entry(of_images(entry("resnext50_32x4d", Suite::torchbench, "cnn", {8, 8}, 25'028'904),
                                           [](bool small) {
                                             return small_or<Bottleneck>(
                                                 small, {.blocks = {3, 4, 6, 3}, .groups = {.count = 32, .width = 4}});
                                           }));

const Registered actor_entry(
    of_images(entry("LearningToPaint", Suite::torchbench, "reinforcement_learning", {96, 96}, 11'209'857),
              [](bool small) {
                return small_or<BasicBlock>(
                    small, {.blocks = {2, 2, 2, 2}, .in_channels = 9, .outputs = 65, .for_imagenet = false});
              },
              {.published = {9, 128, 128}, .small = {9, 64, 64}}));

}  // namespace
}  // namespace pace::benches::zoo
