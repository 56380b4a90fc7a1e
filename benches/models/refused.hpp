// torchbench's options that have no meaning here, each with the reason; and those that ask for what is always so.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace pace::benches::models {

/// Why an option is refused, by its name.
[[nodiscard]] inline const std::map<std::string_view, const char*>& refused_options() {
  constexpr const char* dynamo = "there is no Dynamo here: a model is one C++ module, traced as a whole";
  constexpr const char* distributed = "each model is run by one process on one device";
  constexpr const char* quantised = "no back end here quantises";
  constexpr const char* xla = "there is no XLA back end";
  constexpr const char* onnx = "there is no ONNX back end";
  constexpr const char* shapes = "only the batch may vary: --dynamic-batch-only";
  static const std::map<std::string_view, const char*> refused{
      {"--prims-nvfuser", "this LibTorch has no nvFuser"},
      {"--nvfuser", "this LibTorch has no nvFuser; --nnc, or --fuser, chooses TorchScript's"},
      {"--multiprocess", distributed},
      {"--ddp", distributed},
      {"--fsdp", distributed},
      {"--optimize-ddp-mode", distributed},
      {"--distributed-master-port", distributed},
      {"--dynamic-shapes", shapes},
      {"--unbacked-batch-only", shapes},
      {"--compare-backed-unbacked", shapes},
      {"--specialize-int", dynamo},
      {"--propagate-real-tensors", dynamo},
      {"--generate-aot-autograd-stats", dynamo},
      {"--suppress-errors", "what goes wrong is a row of its own, and is told"},
      {"--part", "no model here has parts"},
      {"--profile-details", "traces have shapes, but no stacks of C++"},
      {"--export-perfdoctor", "that is a tool inside Meta"},
      {"--diff-branch", "run each branch with --output, and compare by --baseline"},
      {"--explain", dynamo},
      {"--stats", dynamo},
      {"--timing", dynamo},
      {"--print-graph-breaks", dynamo},
      {"--log-graph-breaks", dynamo},
      {"--trace-on-xla", xla},
      {"--xla-tolerance", xla},
      {"--xla", xla},
      {"--freezing", "parameters are inputs of packages, so that there are no constants to fold"},
      {"--enable-activation-checkpointing", "the models here keep their activations"},
      {"--no-translation-validation", dynamo},
      {"--minify", dynamo},
      {"--compiled-autograd", "the training step is compiled with its backward as one package"},
      {"--profile-dynamo-cache-lookup", dynamo},
      {"--caching-precompile", "packages are always kept; --packages names those that were compiled before"},
      {"--coverage", dynamo},
      {"--overhead", dynamo},
      {"--speedup-dynamo-ts", "there is no Dynamo here; --backend torchscript is the same module traced"},
      {"--speedup-fx2trt", "there is no TensorRT back end"},
      {"--speedup-fx2trt-fp16", "there is no TensorRT back end"},
      {"--print-fx", dynamo},
      {"--print-aten-ops", "--log-operator-inputs records them with their inputs"},
      {"--optimus", "these passes are of Inductor's FX graphs inside Python"},
      {"--quantization", quantised},
      {"--export", "exporting alone runs nothing; --export-aot-inductor compiles what was exported"},
      {"--aot-precompile", "--export-aot-inductor is the compiled form here"},
      {"--export-nativert", "LibTorch 2.11 gives C++ no NativeRT to run"},
      {"--torchscript-onnx", onnx},
      {"--dynamo-onnx", onnx},
      {"--dynamo-onnx-aot-inline", onnx},
      {"--dynamo-onnx-aot-optimize", onnx},
      {"--torch-onnx-patch", onnx},
      {"--log-conv-args", "--log-operator-inputs records convolutions, too"},
      {"--recompile-profiler", dynamo},
      {"--cpp-wrapper", "packages of AOTInductor are C++ always"},
  };
  return refused;
}

/// What is said of an option that asks for what is always so, by its name.
[[nodiscard]] inline const std::map<std::string_view, const char*>& needless_options() {
  static const std::map<std::string_view, const char*> needless{
      {"--nopython", "a model is always compiled as a whole, so that there are no graph breaks"},
      {"--disable-cudagraphs", "packages are run without CUDA graphs always; --backend cuda_graph has them"},
      {"--skip-fp64-check", "torchbench reads it and does nothing with it, either"},
      {"--inductor-settings", "torchbench reads it and does nothing with it, either"},
  };
  return needless;
}

}  // namespace pace::benches::models
