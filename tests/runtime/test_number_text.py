"""Numbers for people."""

from __future__ import annotations

import math

import pytest

from counterplay.runtime.number_text import chips, figure


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (2373.6111, 3, "2370"),
        (2373.6111, 4, "2374"),
        (31.62, 3, "31.6"),
        (30.0, 3, "30"),
        (0.08739, 3, "0.0874"),
        (1.5234e10, 2, "15,000,000,000"),
        (123456.789, 4, "123,500"),
        (123456.789, 9, "123,456.789"),
        (9999.96, 4, "10,000"),
        (1e18, 3, "1e+18"),
        (0.00012345, 3, "0.000123"),
        (0.00001234, 3, "1.23e-05"),
        (4.65e-16, 3, "4.65e-16"),
        (-2373.6111, 3, "-2370"),
        (0.0, 3, "0"),
        (math.inf, 3, "inf"),
        (math.nan, 3, "nan"),
        (1_000_000, 12, "1,000,000"),
    ],
)
def test_figures(value: float, digits: int, text: str) -> None:
    assert figure(value, digits) == text


def test_figures_with_signs() -> None:
    assert [figure(value, 4, sign=True) for value in (2373.6, -0.5, 12345.6, 0.0)] == ["+2374", "-0.5", "+12,350", "+0"]


def test_every_size_keeps_its_digits() -> None:
    """What is written is the number rounded to its digits, for all sizes, and never with a positive exponent."""
    for exponent in range(-3, 15):
        for lead in (1.0, 1.23456, 9.99996, 5.5):
            value = lead * 10.0**exponent
            for digits in (2, 3, 4, 6, 9):
                text = figure(value, digits)
                assert "e" not in text
                assert float(text.replace(",", "")) == pytest.approx(float(f"{value:.{digits}g}"), rel=1e-12)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2.3736111, "2.373611"),
        (8.7391e-5, "8.74e-05"),
        (0.000874, "0.000874"),
        (-0.0555559, "-0.055556"),
        (0.0, "0"),
        (1234567.8, "1234567.800000"),
        (4.6502e-16, "4.65e-16"),
    ],
)
def test_chips(value: float, text: str) -> None:
    assert chips(value) == text


def test_chips_with_signs() -> None:
    assert chips(0.0555559, sign=True) == "+0.055556"
