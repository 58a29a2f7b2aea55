"""The hidden Markov aligner beside sums over all alignments, written out."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor

from nmt.align.methods.posterior import posterior
from nmt.data.batch import Batch, make_batch
from nmt.model import masks
from nmt.model.embedding import Embedding
from nmt.model.encoder_decoder import EncoderDecoder
from nmt.model.interface import EncoderSizes, LatentDecoder
from nmt.model.markov.decoder import HiddenMarkovDecoder, MarkovPrepared
from nmt.model.markov.emission import emissions
from nmt.model.markov.encoder import LexicalEncoder
from nmt.search.beam import beam_search
from nmt.search.distribution import forced_log_probs
from nmt.search.penalty import NoPenalty
from nmt.train.loss import batch_loss

JUMPS = 2  # so that some jumps of a sentence are beyond it


@pytest.fixture
def model() -> EncoderDecoder:
    torch.manual_seed(3)
    source, target = Embedding(vocabulary_size=11, size=6), Embedding(vocabulary_size=13, size=5)
    encoder = LexicalEncoder(embedding=source)
    sizes = EncoderSizes(encoder.output_size, encoder.final_shape)
    decoder = HiddenMarkovDecoder(embedding=target, encoder=sizes, jumps=JUMPS)
    torch.nn.init.normal_(decoder.distance.weight)
    torch.nn.init.normal_(decoder.beginning)
    return EncoderDecoder(encoder=encoder, decoder=decoder).double().eval()


@pytest.fixture
def batch() -> Batch:
    return make_batch([[4, 5, 6], [7, 8, 9, 10, 4], [5]], [[5, 6, 7], [9, 10], [4, 11]])


def markov(model: EncoderDecoder) -> HiddenMarkovDecoder:
    assert isinstance(model.decoder, HiddenMarkovDecoder)
    return model.decoder


def alignments(model: EncoderDecoder, batch: Batch, row: int) -> list[tuple[tuple[int, ...], Tensor]]:
    """Every alignment of a sentence's target tokens to its source words, or to none (the number of words), and
    p(y, alignment | x) by the definition."""
    decoder = markov(model)
    prepared: MarkovPrepared = decoder.prepare(model.encode(batch))
    emitted = decoder.emitted(batch.target_out, prepared)[row].exp()
    words, steps = int(batch.source_lengths[row]) - 1, int(batch.target_lengths[row])
    unaligned = torch.sigmoid(decoder.unaligned)
    found = []
    for chosen in product(range(words + 1), repeat=steps):
        prob, last = torch.ones((), dtype=torch.float64), -1
        for step, place in enumerate(chosen):
            prob = prob * emitted[step, place]
            if place == words:
                prob = prob * unaligned
                continue
            jump = prepared.first[row, place] if last < 0 else prepared.jumps[row, last, place]
            prob, last = prob * (1 - unaligned) * jump, place
        found.append((chosen, prob.detach()))
    return found


@pytest.mark.parametrize("row", [0, 1, 2])
def test_the_likelihood_is_the_sum_over_all_alignments(model: EncoderDecoder, batch: Batch, row: int) -> None:
    decoder = markov(model)
    log_probs = decoder.likelihood(batch.target_out, decoder.prepare(model.encode(batch)))
    whole = log_probs[row, : batch.target_lengths[row]].sum()
    total = torch.stack([prob for _, prob in alignments(model, batch, row)]).sum()
    torch.testing.assert_close(whole.detach(), total.log(), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("row", [0, 1, 2])
def test_the_posterior_is_the_share_of_the_alignments_with_a_link(
    model: EncoderDecoder, batch: Batch, row: int
) -> None:
    found = posterior(model, batch, [])[row, 0, 0]
    every = alignments(model, batch, row)
    total = torch.stack([prob for _, prob in every]).sum()
    for step in range(int(batch.target_lengths[row])):
        for place in range(int(batch.source_lengths[row])):
            share = sum(prob for chosen, prob in every if chosen[step] == place) / total
            torch.testing.assert_close(found[step, place], share, rtol=1e-9, atol=1e-12)


def test_the_loss_is_what_forced_decoding_and_single_steps_say(model: EncoderDecoder, batch: Batch) -> None:
    decoder = markov(model)
    assert isinstance(decoder, LatentDecoder)
    valid = masks.valid_mask(batch.target_lengths, batch.target_out.shape[1])
    prepared = decoder.prepare(model.encode(batch))
    forced = forced_log_probs(decoder, model(batch), batch.target_out)[valid]
    state, steps = decoder.start(prepared), []
    for token, target in zip(batch.target_in.unbind(1), batch.target_out.unbind(1), strict=True):
        output, state = decoder.step(token, state, prepared)
        every = decoder.readout(output.states, output.log_prior)[:, 0]
        torch.testing.assert_close(every.logsumexp(-1), torch.zeros(3, dtype=torch.float64), rtol=0, atol=1e-10)
        steps.append(every.gather(1, target.unsqueeze(1))[:, 0])
    stepped = torch.stack(steps, 1)[valid]
    torch.testing.assert_close(stepped, forced, rtol=1e-9, atol=1e-10)
    sums = batch_loss(model, batch)
    torch.testing.assert_close(sums.nll, -forced.sum(), rtol=1e-9, atol=1e-10)
    assert sums.tokens == int(batch.target_lengths.sum())


def test_emissions_have_the_gradients_of_a_log_softmax() -> None:
    torch.manual_seed(5)
    states, weight, bias = (torch.randn(*shape, dtype=torch.float64) for shape in ((3, 4, 2), (7, 2), (7,)))
    target = torch.tensor([[1, 1, 6], [0, 3, 2], [5, 5, 5]])
    leaves = [x.requires_grad_() for x in (states, weight, bias)]
    plain = (states @ weight.t() + bias).log_softmax(-1).gather(2, target.unsqueeze(1).expand(-1, 4, -1)).mT
    asked = torch.randn_like(plain)
    expected = torch.autograd.grad((plain * asked).sum(), leaves)
    found = emissions(states, weight, bias, target)
    torch.testing.assert_close(found, plain)
    for own, other in zip(torch.autograd.grad((found * asked).sum(), leaves), expected, strict=True):
        torch.testing.assert_close(own, other)


def test_no_batch_mate_and_no_padding_matters(model: EncoderDecoder, batch: Batch) -> None:
    together = posterior(model, batch, [])
    alone = posterior(model, make_batch([[5]], [[4, 11]]), [])
    torch.testing.assert_close(together[2, :, :, :3, :2], alone[0])


def test_a_source_without_words_explains_all_by_its_end(model: EncoderDecoder) -> None:
    """What erasing the only word of a sentence leaves."""
    batch = make_batch([[]], [[4, 5]])
    decoder = markov(model)
    found = posterior(model, batch, [])
    torch.testing.assert_close(found, torch.ones(1, 1, 1, 3, 1, dtype=torch.float64))
    log_probs = decoder.likelihood(batch.target_out, decoder.prepare(model.encode(batch)))
    emitted = decoder.emitted(batch.target_out, decoder.prepare(model.encode(batch)))
    torch.testing.assert_close(log_probs, emitted[:, :, 0])


def test_beams_find_what_forced_decoding_scores(model: EncoderDecoder, batch: Batch) -> None:
    with torch.inference_mode():
        memory = model.encode(batch)
        found = beam_search(
            model.decoder,
            memory,
            beam_size=3,
            max_lengths=torch.tensor([4, 4, 4]),
            banned=(),
            penalty=NoPenalty(),
            nbest=2,
        )
        for source, hypotheses in zip([[4, 5, 6], [7, 8, 9, 10, 4], [5]], found, strict=True):
            for one in hypotheses:
                tokens = [token for token in one.tokens if token > 3]
                if not one.finished or tokens != list(one.tokens):
                    continue  # specials have no place in a batch's text
                again = make_batch([source], [tokens])
                forced = forced_log_probs(model.decoder, model(again), again.target_out).sum()
                assert one.log_prob == pytest.approx(float(forced), rel=1e-6)


@pytest.mark.parametrize(("name", "value"), [("jumps", 0), ("unaligned", 0.0), ("unaligned", 1.0)])
def test_impossible_settings_are_refused(name: str, value: float) -> None:
    sizes = EncoderSizes(5, (0, 1, 1, 5))
    with pytest.raises(ValueError, match=name):
        HiddenMarkovDecoder(embedding=Embedding(vocabulary_size=5, size=5), encoder=sizes, **{name: value})
