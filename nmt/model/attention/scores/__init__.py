"""Scores: how well a query and a key fit. `score.project` turns states into keys once a sentence."""
