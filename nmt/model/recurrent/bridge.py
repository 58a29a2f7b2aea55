"""The bridge: the decoder's first state, made from the encoder's last ones.

Shape letters: B sentences, L encoder layers, H decoder's hidden size.
"""

from __future__ import annotations

from torch import nn

from nmt.model.interface import Memory
from nmt.model.recurrent.cell import StackState

BACKWARD = 1


class Bridge(nn.Module):
    """Each decoder layer's state is a linear map of the encoder layer beside it (the topmost, where it has more).

    The hidden state goes through a tanh (Bahdanau 2015, appendix A.2.2: s_0 = tanh(W_s h_1), with h_1 the backward
    direction's state at the first word: `backward_only`); an LSTM's cell does not. An encoder that is not recurrent
    gives its summary instead.
    """

    def __init__(
        self,
        *,
        final_shape: tuple[int, int, int, int],
        summary_size: int,
        layers: int,
        components: int,
        hidden_size: int,
        backward_only: bool,
    ) -> None:
        super().__init__()
        encoder_layers, directions, encoder_components, size = final_shape
        self.backward_only = backward_only and directions == 2
        self.recurrent = encoder_layers > 0
        self.sources = [min(layer, encoder_layers - 1) for layer in range(layers)]
        width = (
            (1 if self.backward_only else directions) * encoder_components * size if self.recurrent else summary_size
        )
        self.components = components
        self.maps = nn.ModuleList(nn.Linear(width, components * hidden_size) for _ in range(layers))

    def forward(self, memory: Memory) -> StackState:
        """Memory -> the first state of each layer: its components [B, H]."""
        final = memory.final[:, :, BACKWARD:] if self.backward_only else memory.final
        vectors = [final[:, i].flatten(1) if self.recurrent else memory.summary for i in self.sources]
        states = [
            change(vector).chunk(self.components, dim=-1) for change, vector in zip(self.maps, vectors, strict=True)
        ]
        return tuple((hidden.tanh(), *cell) for hidden, *cell in states)
