"""The bridge: which of the encoder's last states each decoder layer starts from."""

from __future__ import annotations

import pytest
import torch

from nmt.model.interface import Memory
from nmt.model.recurrent.bridge import Bridge

B, SIZE, H = 3, 5, 7


def _memory(layers: int, directions: int, components: int) -> Memory:
    final, none = torch.randn(B, layers, directions, components, SIZE), torch.zeros(B, 0)
    return Memory(none, none.bool(), torch.randn(B, directions * SIZE), final, none)


def _bridge(memory: Memory, *, layers: int, components: int, backward_only: bool = False) -> Bridge:
    shape = memory.final.shape
    return Bridge(
        final_shape=(shape[1], shape[2], shape[3], shape[4]),
        summary_size=memory.summary.shape[1],
        layers=layers,
        components=components,
        hidden_size=H,
        backward_only=backward_only,
    )


@torch.no_grad()
def test_backward_only_reads_the_backward_direction() -> None:
    """Bahdanau 2015, appendix A.2.2: s_0 = tanh(W_s h_1), h_1 of the backward direction; here with a bias."""
    memory = _memory(1, 2, 1)
    bridge = _bridge(memory, layers=1, components=1, backward_only=True)
    ((hidden,),) = bridge(memory)
    linear = bridge.maps[0]
    wanted = torch.tanh(memory.final[:, 0, 1, 0] @ linear.weight.T + linear.bias)
    torch.testing.assert_close(hidden, wanted)
    changed = memory._replace(final=memory.final.index_fill(2, torch.tensor([0]), 9.0))
    assert torch.equal(bridge(changed)[0][0], hidden)


@torch.no_grad()
def test_one_direction_is_all_there_is() -> None:
    memory = _memory(1, 1, 1)
    ((hidden,),) = _bridge(memory, layers=1, components=1, backward_only=True)(memory)
    assert hidden.shape == (B, H)


@pytest.mark.parametrize(("encoder_layers", "layers", "beside"), [(2, 2, [0, 1]), (1, 3, [0, 0, 0]), (3, 2, [0, 1])])
@torch.no_grad()
def test_layers_meet_the_layers_beside_them(encoder_layers: int, layers: int, beside: list[int]) -> None:
    memory = _memory(encoder_layers, 2, 2)
    bridge = _bridge(memory, layers=layers, components=2)
    for layer, (source, (hidden, cell)) in enumerate(zip(beside, bridge(memory), strict=True)):
        both = bridge.maps[layer](memory.final[:, source].flatten(1))
        torch.testing.assert_close(hidden, both[:, :H].tanh())
        torch.testing.assert_close(cell, both[:, H:])


@torch.no_grad()
def test_an_encoder_without_recurrence_gives_its_summary() -> None:
    memory = _memory(0, 1, 1)
    bridge = _bridge(memory, layers=2, components=1)
    _, (hidden,) = bridge(memory)
    torch.testing.assert_close(hidden, bridge.maps[1](memory.summary).tanh())
