"""Names in any case, and the closest name for a wrong one."""

from __future__ import annotations

import pytest

from counterplay.runtime.suggestions import closest_names, did_you_mean, find_name

KNOWN = ("leduc", "Kuhn", "rock_paper_scissors", "cfr+")
MEANT = {"cfr-plus": "cfr+", "cards": "leduc Kuhn", "gone": "removed"}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        pytest.param("leduc", "leduc", id="as it is"),
        pytest.param("LeDuc", "leduc", id="other case"),
        pytest.param("kuhn", "Kuhn", id="known with capitals"),
        pytest.param("CFR+", "cfr+", id="sign"),
        pytest.param("ledu", None, id="only close"),
    ],
)
def test_names_are_found_in_any_case(name: str, found: str | None) -> None:
    assert find_name(name, KNOWN) == found


def test_an_exact_name_comes_before_one_in_another_case() -> None:
    assert find_name("b", ("B", "b")) == "b"


@pytest.mark.parametrize(
    ("name", "close"),
    [
        pytest.param("ledcu", ["leduc"], id="letters swapped"),
        pytest.param("LEDCU", ["leduc"], id="and in capitals"),
        pytest.param("CFRPlus", ["cfr+"], id="a word of the field"),
        pytest.param("cfr_plus", ["cfr+"], id="underscore for hyphen"),
        pytest.param("cards", ["leduc", "Kuhn"], id="two meanings"),
        pytest.param("gone", [], id="a meaning that is not known here"),
        pytest.param("zzzz", [], id="nothing like it"),
    ],
)
def test_closest_names(name: str, close: list[str]) -> None:
    assert closest_names(name, KNOWN, MEANT) == close


def test_three_letters_in_another_order_are_another_word() -> None:
    """Two of three letters are alike; what starts with another letter must be more alike than that."""
    assert closest_names("foo", ["oop", "ip"]) == []
    assert closest_names("op", ["oop", "ip"]) == ["oop"]
    assert closest_names("educ", KNOWN) == ["leduc"]


def test_the_question_names_them() -> None:
    assert did_you_mean("cards", KNOWN, meant=MEANT) == "did you mean 'leduc' or 'Kuhn'?"
    assert did_you_mean("zzzz", KNOWN) == "there are leduc, Kuhn, rock_paper_scissors, cfr+"
    assert did_you_mean("zzzz", KNOWN, "look there") == "look there"
