#!/usr/bin/env python3
"""Writes reference_outputs.json: the outputs of torchvision's, transformers' and timm's models on weights made by a
formula.

    python3 -m venv V && V/bin/pip install torch==2.11.0 torchvision==0.26.0 transformers timm
    V/bin/python tests/models/reference_outputs.py > tests/models/reference_outputs.json

reference_test.cc gives the zoo's models the same weights and inputs by the same formula, and requires equal answers,
losses and gradients. Everything is computed in float64 on the CPU, in eval mode and in training mode, where dropout
draws the same numbers in both. Nothing is downloaded: no published weights are used.
"""

import json
import sys

import torch

_HASHES = 1 << 32
_PIECE = 1 << 18


def _mixed(x):
    """Bits of int64 numbers below 2**32, mixed so that neighbours have nothing in common."""
    for _ in range(2):
        x = ((x ^ (x >> 16)) * 0x45D9F3B) & (_HASHES - 1)
    return x ^ (x >> 16)


def hashes(key, count):
    """`count` whole numbers from 0 to 2**32 - 1, by the place and by the key's FNV-1a hash."""
    seed = 2166136261
    for byte in key.encode():
        seed = ((seed ^ byte) * 16777619) % _HASHES
    pieces = [
        _mixed((torch.arange(begin, min(begin + _PIECE, count)) * 2654435761 + seed) & (_HASHES - 1))
        for begin in range(0, count, _PIECE)
    ]
    return torch.cat(pieces) if pieces else torch.empty(0, dtype=torch.int64)


def uniform(key, sizes):
    """Numbers from -0.5 to 0.5 in float64."""
    count = 1
    for size in sizes:
        count *= size
    return (hashes(key, count).double() / _HASHES - 0.5).reshape(sizes)


def weights(key, sizes, is_factor):
    """The values of a parameter: a matrix keeps the variance of its operand, a factor is near 1, a term near 0."""
    values = uniform(key, sizes)
    if len(sizes) > 1:
        return values * (12 * sizes[0] / values.numel()) ** 0.5
    return 1 + 0.5 * values if is_factor else 0.2 * values


# The key that sorts parameters where the zoo's module has them in another order.
def _resnet_order(name):
    """The zoo's blocks have their way around first."""
    parts = name.split(".")
    if not parts[0].startswith("layer"):
        return [0 if parts[0] in ("conv1", "bn1") else 2]
    return [1, int(parts[0][5:]), int(parts[1]), 0 if parts[2] == "downsample" else 1]


def _bert_order(name):
    return [0 if name == "cls.predictions.bias" else 1]


def _distilbert_order(name):
    return [0 if name == "vocab_projector.bias" else 1]


def _t5_order(name):
    half = ["shared", "encoder", "decoder"].index(name.split(".")[0])
    return [half, 0 if "relative_attention_bias" in name else 1]


def _as_they_are(_):
    return [0]


class Reference:
    """One model: how it is made, its inputs, and the order of its parameters."""

    def __init__(
        self, source, make, image=None, vocabulary=0, texts=0, order=_as_they_are, small=False, tolerance=1e-7
    ):
        self.source, self.make, self.image, self.small = source, make, image, small
        self.vocabulary, self.texts, self.order, self.tolerance = vocabulary, texts, order, tolerance


def references():
    import timm
    import torchvision
    import transformers

    found = {}
    for name, order in [
        ("resnet18", _resnet_order),
        ("resnet50", _resnet_order),
        ("resnext50_32x4d", _resnet_order),
        ("densenet121", _as_they_are),
        ("shufflenet_v2_x1_0", _as_they_are),
        ("mobilenet_v2", _as_they_are),
        ("mobilenet_v3_large", _as_they_are),
        ("mnasnet1_0", _as_they_are),
        ("efficientnet_b0", _as_they_are),
        ("vgg16", _as_they_are),
        ("squeezenet1_1", _as_they_are),
    ]:
        make = getattr(torchvision.models, name)
        found[name] = Reference(f"torchvision.models.{name}", make, image=[2, 3, 64, 64], order=order)
    # The rest in the zoo's small sizes, by arguments of these libraries' classes; all else is their default.
    found["vit_base_patch16_224"] = Reference(
        "timm.models.VisionTransformer",
        lambda: timm.models.VisionTransformer(
            img_size=64, patch_size=16, num_classes=10, embed_dim=32, depth=2, num_heads=2
        ),
        image=[2, 3, 64, 64],
        small=True,
    )
    found["mixer_b16_224"] = Reference(
        "timm.models.MlpMixer",
        lambda: timm.models.MlpMixer(num_classes=10, img_size=64, patch_size=16, num_blocks=2, embed_dim=32),
        image=[2, 3, 64, 64],
        small=True,
    )
    t = transformers
    bert = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=128)
    distilbert = dict(dim=32, n_layers=2, n_heads=2, hidden_dim=128)
    gpt2 = dict(n_embd=32, n_layer=2, n_head=2, n_positions=32)
    t5 = dict(d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2)
    for name, model, config, texts, order in [
        ("BertForMaskedLM", t.BertForMaskedLM, t.BertConfig(**bert, max_position_embeddings=32), 1, _bert_order),
        (
            "DistilBertForMaskedLM",
            t.DistilBertForMaskedLM,
            t.DistilBertConfig(**distilbert, max_position_embeddings=32),
            1,
            _distilbert_order,
        ),
        ("hf_GPT2", t.GPT2LMHeadModel, t.GPT2Config(**gpt2), 1, _as_they_are),
        ("T5Small", t.T5ForConditionalGeneration, t.T5Config(**t5), 2, _t5_order),
    ]:
        config.vocab_size = 200
        config.use_cache = False
        make = lambda model=model, config=config: model(config)
        source = f"transformers.{model.__name__}"
        # T5's norm takes its mean square in float32 for every dtype, and so does GPT-2's loss with its scores.
        tolerance = {"T5Small": 1e-4, "hf_GPT2": 1e-5}.get(name, 1e-7)
        found[name] = Reference(source, make, None, 200, texts, order, True, tolerance)
    return found


def _in_order(named, order):
    return [each for _, each in sorted(enumerate(named), key=lambda pair: order(pair[1][0]) + [pair[0]])]


def _transposed(model):
    """Names of weights that GPT-2 of transformers keeps the other way round than a linear layer."""
    from transformers.pytorch_utils import Conv1D

    return {name + ".weight" for name, module in model.named_modules() if isinstance(module, Conv1D)}


def _weighted_sum(key, tensor):
    """Of all elements, by weights that are the same for every 65537th."""
    flat = tensor.reshape(-1)
    repeats = uniform(key, [min(flat.numel(), 65537)])
    whole = flat.numel() // repeats.numel()
    rows = flat[: whole * repeats.numel()].reshape(whole, -1)
    rest = flat[whole * repeats.numel() :]
    return ((rows @ repeats).sum() + rest @ repeats[: rest.numel()]).item()


def projections(key, tensors):
    """The norm of all tensors together, and four weighted sums of them. Each tensor counts as much as the others, and
    one that is only rounding counts for nothing."""
    norms = [tensor.norm().item() for tensor in tensors]
    total = sum(norm * norm for norm in norms) ** 0.5
    sums = []
    for which in range(4):
        pairs = enumerate(zip(tensors, norms))
        sums.append(sum(_weighted_sum(f"{key} {which} {i}", t) / n for i, (t, n) in pairs if n > 1e-8 * total))
    return [total] + sums


def figures(reference):
    model = reference.make().double()
    parameters = _in_order(list(model.named_parameters()), reference.order)
    transposed = _transposed(model)
    with torch.no_grad():
        for i, (name, parameter) in enumerate(parameters):
            turned = name in transposed
            sizes = list(parameter.shape)[::-1] if turned else list(parameter.shape)
            values = weights(f"parameter {i}", sizes, name.endswith("weight"))
            parameter.copy_(values.t() if turned else values)
    averages = [pair for pair in model.named_buffers() if pair[0].endswith(("running_mean", "running_var"))]
    averages = _in_order(averages, reference.order)
    if reference.image:
        inputs = [uniform("input 0", reference.image) * 12**0.5]
    else:
        words = reference.vocabulary
        inputs = [hashes(f"input {i}", 2 * 16).reshape(2, 16) % words for i in range(reference.texts + 1)]

    found = {"parameters": len(parameters)}
    for mode in ["eval", "training"]:
        with torch.no_grad():
            for i, (name, average) in enumerate(averages):
                values = uniform(f"average {i}", average.shape)
                average.copy_(1 + values if name.endswith("running_var") else 0.2 * values)
        model.train(mode == "training")
        torch.manual_seed(3)
        if reference.image:
            output = model(inputs[0])
            loss = (output * uniform("loss", output.shape)).sum()
        elif reference.texts == 1:
            answer = model(input_ids=inputs[0], labels=inputs[1])
            loss, output = answer.loss, answer.logits
        else:
            answer = model(input_ids=inputs[0], decoder_input_ids=inputs[1], labels=inputs[2])
            loss, output = answer.loss, answer.logits
        model.zero_grad(set_to_none=True)
        loss.backward()
        gradients = [p.grad.t().contiguous() if n in transposed else p.grad for n, p in parameters]
        found[mode] = {
            "loss": loss.item(),
            "output": projections("output", [output.detach()]),
            "gradients": projections("gradient", gradients),
            "averages": projections("average", [average for _, average in averages]),
        }
    return found


def rounded(value):
    """Ten digits of each number, which other numbers of threads leave as they are."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return {name: rounded(each) for name, each in value.items()} if isinstance(value, dict) else value


def main():
    import timm
    import torchvision
    import transformers

    chosen = sys.argv[1:]
    result = {
        "made_with": {
            "torch": torch.__version__.split("+")[0],
            "torchvision": torchvision.__version__.split("+")[0],
            "transformers": transformers.__version__,
            "timm": timm.__version__,
        },
        "models": {},
    }
    for name, reference in references().items():
        if chosen and name not in chosen:
            continue
        print(name, file=sys.stderr)
        sizes = {"image": reference.image} if reference.image else {"vocabulary": reference.vocabulary}
        result["models"][name] = {
            "reference": reference.source,
            "small": reference.small,
            "tolerance": reference.tolerance,
            **sizes,
            **rounded(figures(reference)),
        }
    # One line a model.
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(each)}" for name, each in result["models"].items())
    print('{\n  "made_with": %s,\n  "models": {\n%s\n  }\n}' % (json.dumps(result["made_with"]), lines))


if __name__ == "__main__":
    main()
