"""Scores: how well a query and a key fit. `score.project` turns states into keys once a sentence.

What other toolkits call them; - where they do not have it. A name stands for the score alone: what surrounds it
(wiring, input feeding, more layers) is each toolkit's own.

    here             OpenNMT-py  JoeyNMT   Sockeye 1   TensorFlow nmt
    additive         mlp         bahdanau  mlp         bahdanau
    normed_additive  -           -         -           normed_bahdanau
    dot              dot         -         dot         -
    general          general     luong     bilinear    luong
    scaled_general   -           -         -           scaled_luong
    scaled_dot       -           -         dot_scaled  -
    location         -           -         location    -

OpenNMT-py's and Sockeye's "mlp" add a bias inside the tanh. Sockeye's "dot" projects query and memory where their sizes
differ. Nematus has the additive score alone (with biases) and Fairseq's LSTM the general one alone, without a name.
"""
