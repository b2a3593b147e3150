"""Texts about one image, ranked and compared with the rankings of people.

Source: Hayashi et al., "IRR: Image Review Ranking Framework for Evaluating Vision-Language Models".
"""
