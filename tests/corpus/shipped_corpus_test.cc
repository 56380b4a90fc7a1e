#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "pace/corpus/corpus.hpp"
#include "pace/corpus/text.hpp"
#include "pace/inputs/extent.hpp"

#include "tests/support/scratch.hpp"

using namespace pace::corpus;
using namespace pace::inputs;

namespace {

// By hand, from the root of the repository: RECORD_PROGRAM=... shipped_corpus_test
const std::filesystem::path shipped = "benches/corpus/pace_train";

std::set<std::string> files(const std::filesystem::path& directory) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) out.insert(entry.path().filename());
  return out;
}

}  // namespace

TEST_CASE("the shipped corpus is what the recorder makes of the models") {
  const pace::test::Scratch directory;
  const char* given = std::getenv("RECORD_PROGRAM");
  const std::string program = given != nullptr ? given : "benches/corpus/record";
  const std::string command = "'" + program + "' '" + directory.path.string() + "' > /dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(files(directory.path) == files(shipped));
  for (const auto& name : files(shipped)) {
    INFO(name);
    CHECK(pace::test::read_file(directory.path / name) == pace::test::read_file(shipped / name));
  }
  // Its message has to arrive.
  for (const char* const nowhere : {"> /dev/full", ">&-"}) {
    CAPTURE(nowhere);
    const int status = std::system(("'" + program + "' '" + directory.path.string() + "' " + nowhere).c_str());
    CHECK(status == 1 << 8);
  }
}

TEST_CASE("the shipped corpus is complete, in float32 and of modest size") {
  CHECK(files(shipped) == std::set<std::string>{"image_segmentation_training.txt", "lstm_training.txt",
                                                "residual_block_training.txt", "sentence_classifier_training.txt",
                                                "transformer_block_training.txt"});
  const Corpus corpus = Corpus::from_directory(shipped);
  for (const auto& reject : corpus.rejects()) FAIL_CHECK(reject.where.to_string() << ": " << reject.message);
  CHECK(corpus.operators().size() >= 100);
  for (const char* name : {"aten.convolution.default",
                           "aten.convolution_backward.default",
                           "aten.native_batch_norm.default",
                           "aten.native_batch_norm_backward.default",
                           "aten.relu.default",
                           "aten.threshold_backward.default",
                           "aten.avg_pool2d.default",
                           "aten.add.Tensor",
                           "aten.addmm.default",
                           "aten.mm.default",
                           "aten.bmm.default",
                           "aten._softmax.default",
                           "aten._softmax_backward_data.default",
                           "aten.native_layer_norm.default",
                           "aten.gelu.default",
                           "aten._log_softmax.default",
                           "aten.sigmoid_.default",
                           "aten.tanh.default",
                           "aten.mse_loss.default",
                           "aten.sum.dim_IntList",
                           "aten.add_.Tensor",
                           "aten.cat.default",
                           "aten.max_pool2d_with_indices_backward.default",
                           "aten.upsample_bilinear2d_backward.default",
                           "aten.native_group_norm_backward.default",
                           "aten.embedding.default",
                           "aten.embedding_dense_backward.default",
                           "aten._index_put_impl_.default",
                           "aten.silu_backward.default",
                           "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"}) {
    INFO(name);
    CHECK(corpus.find(name) != nullptr);
  }
  for (const auto& op : corpus.operators()) {
    INFO(op.name);
    for (const auto& sample : op.samples) {
      const Call call = parse_call(sample, op.name);
      CHECK(to_text(call) == sample.text);
      CHECK(input_bytes(call, {}) < 16 << 20);
    }
  }
}
