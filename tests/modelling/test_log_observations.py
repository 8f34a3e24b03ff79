"""Observations from logs: against a plain twin, the fast reader against the slow one, and what is refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from counterplay.abstraction.cards import CardAbstraction
from counterplay.errors import CounterplayError, GameError, StrategyError
from counterplay.forms import open_game
from counterplay.modelling import Observations, load_observations, observe, pooled
from counterplay.poker import log_files as log_files_module
from counterplay.poker.acpc.definition import GameDefinition
from counterplay.poker.acpc.match_log import HandRecord
from counterplay.poker.acpc.standard import STANDARD
from counterplay.poker.buckets.bucket_game import BucketGame
from counterplay.poker.cards import cards_text, parse_cards
from counterplay.poker.phh import format_phhs, from_record
from counterplay.poker.raise_sizes import bet_abstraction
from counterplay.poker.rules import Betting
from counterplay.runtime.progress import Progress
from counterplay.strategy.tabular import TabularStrategy
from tests.modelling.logs import random_lines, random_records, slowly
from tests.poker.test_bucket_game import LEDUC, NO_LIMIT, THREE, THREE_CARDS, TWO_HOLES, remembering
from tests.reference.logged_hands import decisions

HOLDEM = STANDARD["holdem.limit.2p.reverse_blinds"]
BUCKETS = {"leduc": LEDUC, "two hole cards": TWO_HOLES, "hands of three cards": THREE_CARDS, "no limit": NO_LIMIT}


def bucket_game(rules: GameDefinition, name: str = "leduc_limit_2p", **more: Any) -> BucketGame:
    return BucketGame.build(rules, remembering(rules), name=name, **more)


def holdem_game() -> BucketGame:
    return BucketGame.build(HOLDEM, CardAbstraction.single((13, 4), (2, 3, 1, 1)).rounds, name="holdem_limit_2p")


def written(folder: Path, lines: list[str], name: str = "a.log") -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def same(one: Observations, other: Observations) -> None:
    np.testing.assert_array_equal(one.counts, other.counts)
    assert (one.hands, one.unseen, one.diverged) == (other.hands, other.unseen, other.diverged)
    assert (one.skipped, one.broken) == (other.skipped, other.broken)


def plain_counts(form: Any, lines: list[str], name: str, rules: GameDefinition) -> np.ndarray:
    """The counts that the twin finds."""
    counts = np.zeros(form.num_entries, np.int64)
    for line in lines:
        for done in decisions(line, name, rules.first_players):
            board = parse_cards("".join(done.board))
            if isinstance(form, BucketGame):
                betting = Betting.after(rules, done.before)
                node = form.tree.find(betting)
                bucket = form.bucket(node, parse_cards(done.hole), board)
                counts[form.entry(node, bucket) + form.tree.actions(node).index(done.action)] += 1
            else:
                cards = [done.hole, *(cards_text(sorted(parse_cards(part))) for part in done.board)]
                infoset = form.find_infoset(done.position, f"{'/'.join(cards)}:{done.before}")
                actions = form.actions_of(infoset)
                counts[form.infoset_offset[infoset] + actions.index(done.action)] += 1
    return counts


# ---------------------------------------------------------------------------------------------- counts


@pytest.mark.parametrize("game", ["leduc_limit_2p", "kuhn_limit_2p"])
def test_small_games_are_counted_as_by_the_twin(game: str, tmp_path: Path) -> None:
    tree, rules = open_game(game, "history"), STANDARD[game.replace("_", ".")]
    lines = random_lines(rules, 500)
    for name in ("Ann", "Bob"):
        found = observe(written(tmp_path, lines), name, tree)
        np.testing.assert_array_equal(found.counts, plain_counts(tree, lines, name, rules))
        assert (found.hands, found.opponent, found.decisions) == (500, name, int(found.counts.sum()))


@pytest.mark.parametrize("game", BUCKETS)
def test_bucket_games_are_counted_as_by_the_twin(game: str, tmp_path: Path) -> None:
    rules = BUCKETS[game]
    form, lines = bucket_game(rules), random_lines(rules, 500)
    found = observe(written(tmp_path, lines), "Bob", form)
    np.testing.assert_array_equal(found.counts, plain_counts(form, lines, "Bob", rules))
    with slowly():
        same(found, observe(tmp_path / "a.log", "Bob", form))


def leduc_letters(betting: str) -> str:
    """``kb``: a raise is a bet if it is the first one in its round, and a call without one before it is a check."""
    found = ""
    for letter in betting:
        raised = "b" in found.rpartition("/")[2]
        found += {"r": "r" if raised else "b", "c": "c" if raised else "k"}.get(letter, letter)
    return found


def test_games_with_words_for_actions(tmp_path: Path) -> None:
    """Leduc as it is written by hand has other cards, no suits, and words for actions."""
    tree, lines = open_game("leduc", "history"), random_lines(LEDUC, 400)
    counts, rank = np.zeros(tree.num_entries, np.int64), {"Q": "J", "K": "Q", "A": "K"}
    for line in lines:
        for done in decisions(line, "Ann", LEDUC.first_players):
            cards = "".join(rank[card[0]] for card in (done.hole, *done.board))
            infoset = tree.find_infoset(done.position, f"{cards}:{leduc_letters(done.before)}")
            words = {"f": ("fold",), "c": ("check", "call"), "r": ("bet", "raise")}[done.action]
            move = next(number for number, word in enumerate(tree.actions_of(infoset)) if word in words)
            counts[tree.infoset_offset[infoset] + move] += 1
    np.testing.assert_array_equal(observe(written(tmp_path, lines), "Ann", tree).counts, counts)


def test_three_players(tmp_path: Path) -> None:
    """Every action of every player is counted once, whoever sits where."""
    form = BucketGame.build(THREE, remembering(THREE), name="three")
    records = random_records(THREE, 200)
    log = written(tmp_path, [record.text() for record in records])
    each = [observe(log, name, form) for name in ("Ann", "Bob", "Cy")]
    actions = sum(len(turn) for record in records for turn in record.betting.actions)
    assert sum(one.decisions for one in each) == actions
    same(pooled(each[:2]), dataclasses.replace(observe(log, ["Ann", "Bob"], form), hands=400))
    np.testing.assert_array_equal(pooled(each).counts, observe(log, ["Ann", "Bob", "Cy"], form).counts)


def test_holdem(tmp_path: Path) -> None:
    form, lines = holdem_game(), random_lines(HOLDEM, 300)
    found = observe(written(tmp_path, lines), "Ann", form)
    np.testing.assert_array_equal(found.counts, plain_counts(form, lines, "Ann", HOLDEM))


def test_self_play_counts_both_seats(tmp_path: Path) -> None:
    form = bucket_game(LEDUC)
    lines = random_lines(LEDUC, 200)
    twice = [line.replace("Bob", "Ann") for line in lines]
    both = observe(written(tmp_path, twice), "Ann", form)
    each = [observe(written(tmp_path, lines, "b.log"), name, form) for name in ("Ann", "Bob")]
    np.testing.assert_array_equal(both.counts, each[0].counts + each[1].counts)
    assert both.hands == 200
    with slowly():
        same(both, observe(tmp_path / "a.log", "Ann", form))


def test_several_logs_and_several_names(tmp_path: Path) -> None:
    form = bucket_game(LEDUC)
    logs = [
        written(tmp_path, random_lines(LEDUC, 60, seed, names), f"{seed}.log")
        for seed, names in enumerate((("Ann", "Bob"), ("Cy", "Ann"), ("Bob", "Cy")))
    ]
    found = observe(logs, ["Ann", "Bob"], form)
    assert found.opponent == "Ann, Bob"
    assert found.hands == 180
    each = [observe(log, name, form) for log, name in ((logs[0], "Ann"), (logs[0], "Bob"), (logs[1], "Ann"),
                                                       (logs[2], "Bob"))]  # fmt: skip
    np.testing.assert_array_equal(found.counts, pooled(each).counts)


def test_cards_that_are_not_shown(tmp_path: Path) -> None:
    """As one player sees it: the other's cards at showdowns only."""
    form, records = bucket_game(LEDUC), random_records(LEDUC, 300)
    lines, shown, hidden = [], 0, 0
    for record in records:
        seat = record.names.index("Ann")
        seen = record.state().seen_by(1 - seat)
        lines.append(dataclasses.replace(record, deal=seen.deal).text())
        own = len(decisions(record.text(), "Ann", LEDUC.first_players))
        shown, hidden = (shown + own, hidden) if seen.deal.hole[seat] else (shown, hidden + own)
    found = observe(written(tmp_path, lines), "Ann", form)
    assert (found.decisions, found.unseen, found.hands) == (shown, hidden, 300)
    assert hidden > 0
    assert "cards that the logs do not show" in " ".join(found.data_report().warnings())
    with slowly():
        same(found, observe(tmp_path / "a.log", "Ann", form))
    tree = open_game("leduc_limit_2p", "history")
    assert observe(tmp_path / "a.log", "Ann", tree).unseen == hidden


def test_unknown_cards_at_a_showdown(tmp_path: Path) -> None:
    form = bucket_game(LEDUC)
    fine = "STATE:1:cc/cc:|Kh/As:1|-1:Ann|Bob"
    found = observe(written(tmp_path, [fine]), ["Ann", "Bob"], form)
    assert (found.decisions, found.unseen) == (2, 2)
    with pytest.raises(
        GameError, match=r"line 1: the players of hand 1 have won something else, and the log says 5\|-5"
    ):
        observe(written(tmp_path, [fine.replace("1|-1", "5|-5")]), "Bob", form)


def test_raises_off_the_tree_are_translated(tmp_path: Path) -> None:
    """The tree has only raises to 7, all in; a raise to 4 is taken for it, and after the call the hands diverge."""
    form = bucket_game(NO_LIMIT, bets=bet_abstraction("allin"))
    line = "STATE:0:r4c/cr6c:Qs|Kh/As:-6|6:Ann|Bob"
    found = observe(written(tmp_path, [line]), ["Ann", "Bob"], form)
    assert (found.decisions, found.diverged) == (2, 3)
    start = form.entry(0, form.bucket(0, parse_cards("Kh"), ()))
    assert found.counts[start + form.tree.actions(0).index("r7")] == 1
    node = int(form.tree.first_child[0]) + form.tree.actions(0).index("r7")
    called = form.entry(node, form.bucket(node, parse_cards("Qs"), ())) + form.tree.actions(node).index("c")
    assert found.counts[called] == 1


def test_hand_histories_are_counted_as_logs(tmp_path: Path) -> None:
    form, records = holdem_game(), random_records(HOLDEM, 60)
    log = written(tmp_path, [record.text() for record in records])
    many = tmp_path / "many.phhs"
    many.write_text(format_phhs(map(from_record, records)), encoding="utf-8")
    same(observe(log, "Ann", form), observe(many, "Ann", form))
    mixed = observe([log, many], "Ann", form)
    np.testing.assert_array_equal(mixed.counts, 2 * observe(log, "Ann", form).counts)


def test_hand_histories_with_unknown_cards_and_broken_ones(tmp_path: Path) -> None:
    form, records = holdem_game(), random_records(HOLDEM, 30)
    text = format_phhs(map(from_record, records))
    hidden = next(n for n, record in enumerate(records) if not record.betting.showdown)
    position = records[hidden].names.index("Ann")
    tables = text.split("\n\n")
    tables[hidden] = tables[hidden].replace(cards_text(records[hidden].deal.hole[position]), "????")
    path = tmp_path / "a.phhs"
    path.write_text("\n\n".join(tables), encoding="utf-8")
    found = observe(path, "Ann", form)
    assert found.unseen == len(decisions(records[hidden].text(), "Ann", HOLDEM.first_players))
    tables[3] = tables[3].replace("cc", "xx", 1).replace('"p1 f"', '"p1 x"')
    tables[7] = tables[7].replace("blinds_or_straddles = [5, 10]", "blinds_or_straddles = [1, 2]")
    path.write_text("\n\n".join(tables), encoding="utf-8")
    line = "\n\n".join(tables[:3]).count("\n") + 3
    with pytest.raises(GameError, match=rf"a\.phhs, line {line}: cannot read the action"):
        observe(path, "Ann", form)
    found = observe(path, "Ann", form, broken="skip")
    assert (found.hands, found.skipped) == (28, 2)
    assert "of another game" in found.broken[1]


# ---------------------------------------------------------------------------------------------- fast and slow


LINES = {name: random_lines(rules, 40, 3) for name, rules in BUCKETS.items()} | {"holdem": random_lines(HOLDEM, 40, 3)}
FORMS = {name: bucket_game(rules) for name, rules in BUCKETS.items()} | {"holdem": holdem_game()}
PIECES = (b":", b"|", b"/", b"f", b"c", b"r", b"C", b"K", b"b", b"0", b"1", b"9", b"-", b".", b".5", b" ", b"\r",
          b"\x00", b"\xff", b"\xc3\xa9", b"STATE", b"SCORE:", b"#", b";", b"As", b"as", b"10s", b"Kh", b"Ann", b"Bob",
          b"r4", b"r04", b"r99999999999999999999", b"0" * 20, b"\n", b"")  # fmt: skip


@st.composite
def changed_logs(draw: st.DrawFn) -> tuple[str, bytes]:
    """A log of some game with changes, most of them in one or two of its lines."""
    name = draw(st.sampled_from(sorted(LINES)))
    lines = [line.encode() for line in draw(st.lists(st.sampled_from(LINES[name]), min_size=1, max_size=8))]
    for _ in range(draw(st.integers(0, 3))):
        number = draw(st.integers(0, len(lines) - 1))
        line = lines[number]
        place = draw(st.integers(0, len(line)))
        gone = draw(st.sampled_from((0, 0, 1, 1, 2, 5)))
        lines[number] = line[:place] + draw(st.sampled_from(PIECES)) + line[place + gone :]
    end = draw(st.sampled_from((b"\n", b"\r\n", b"")))
    return name, b"\n".join(lines) + end


def outcome(path: Path, form: BucketGame, broken: str) -> Observations | str:
    try:
        return observe(path, ["Ann", "é"] if b"\xc3\xa9" in path.read_bytes() else "Ann", form, broken)
    except CounterplayError as error:
        return str(error)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changed_logs(), st.sampled_from(("skip", "skip", "refuse")))
def test_the_fast_reader_is_the_slow_one(tmp_path: Path, log: tuple[str, bytes], broken: str) -> None:
    name, text = log
    path = tmp_path / "a.log"
    path.write_bytes(text)
    fast = outcome(path, FORMS[name], broken)
    with slowly():
        slow = outcome(path, FORMS[name], broken)
    if isinstance(fast, Observations) and isinstance(slow, Observations):
        same(fast, slow)
    else:
        assert fast == slow


@pytest.mark.parametrize("name", LINES)
def test_no_plain_line_is_left_to_the_slow_reader(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Split pots of an odd number of chips excepted, of which these games have none."""
    from counterplay.modelling.log_batches import LogBatches

    batches = LogBatches(FORMS[name], ["Ann"], np.zeros(FORMS[name].num_entries, np.int64))
    text = "".join(f"{line}\n" for line in ["# comment", *LINES[name], "", "SCORE:1|-1:Ann|Bob"]).encode()
    lines, read, hands, unseen, left = batches.count(text)
    assert (lines, read, hands, unseen, left) == (43, 40, 40, 0, [])


@pytest.mark.parametrize("size", [100, 997])
def test_logs_are_read_in_blocks(size: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    form, log = bucket_game(LEDUC), written(tmp_path, ["# a", *random_lines(LEDUC, 200)])
    whole = observe(log, "Ann", form)
    monkeypatch.setattr(log_files_module, "BLOCK", size)
    same(observe(log, "Ann", form), whole)
    log.write_bytes(b"\xef\xbb\xbf" + log.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n"))
    same(observe(log, "Ann", form), whole)
    log.write_bytes(b"x" * 3 * size)
    with pytest.raises(GameError, match="is no log: it has a line of more than"):
        observe(log, "Ann", form)


def test_logs_from_before_2012(tmp_path: Path) -> None:
    form, lines = holdem_game(), random_lines(HOLDEM, 40)
    old = []
    for line in lines:
        _, number, betting, cards, values, names = line.split(":")
        old.append(f"{names}:{number}:b5b10{betting}:{cards}:{values}")
    same(observe(written(tmp_path, lines), "Ann", form), observe(written(tmp_path, old, "b.log"), "Ann", form))


def test_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[Progress] = []
    monkeypatch.setattr(log_files_module, "BLOCK", 2000)
    log = written(tmp_path, random_lines(LEDUC, 200))
    observe(log, "Ann", bucket_game(LEDUC), progress=steps.append)
    assert [step.iterations for step in steps] == sorted(step.iterations for step in steps)
    assert steps[-1].iterations == 200
    assert steps[-1].seconds_left == 0.0


# ---------------------------------------------------------------------------------------------- broken lines


def test_broken_lines_are_named_and_skipped(tmp_path: Path) -> None:
    form, lines = bucket_game(LEDUC), random_lines(LEDUC, 50)
    wrong = {
        5: (lines[5].replace("STATE", "STAT"), "cannot read"),
        11: (lines[11].rsplit(":", 1)[0], "a hand in a log is written"),
        17: (lines[17][:-20], ""),
        23: ("STATE:23:cc/:Ks|Qs/As:1|-1:Ann|Bob", "is not over after 'cc/'"),
        29: ("STATE:29:cc/cc:Ks|Ks/As:0|0:Ann|Bob", "occurs twice"),
        31: ("STATE:31:cc/cc:Ks|2s/As:0|0:Ann|Bob", "holds other cards"),
        37: ("STATE:37:cc/cc:Ks|Qs/As:3|-3:Ann|Bob", "have won 1|-1, and the log says 3|-3"),
        41: ("STATE:41:cc/rrrrc:Ks|Qs/As:1|-1:Ann|Bob", "is not legal"),
        43: ("STATE:43:cc/cc:Ks|Qs/As:1|-1:Ann|Bob|Cy", "names of 2 players"),
    }
    rest = [line for number, line in enumerate(lines) if number not in wrong]
    for number, (text, _) in wrong.items():
        lines[number] = text
    log = written(tmp_path, lines)
    for found in (observe(log, "Ann", form, broken="skip"), _slow(log, form)):
        np.testing.assert_array_equal(found.counts, observe(written(tmp_path, rest, "rest.log"), "Ann", form).counts)
        assert (found.skipped, found.hands) == (len(wrong), len(rest))
        for told, (number, (_, why)) in zip(found.broken, wrong.items(), strict=True):
            assert told.startswith(f"{log}, line {number + 1}: ")
            assert why in told
    with pytest.raises(GameError, match="line 6: cannot read"):
        observe(log, "Ann", form)


def _slow(log: Path, form: BucketGame) -> Observations:
    with slowly():
        return observe(log, "Ann", form, broken="skip")


def test_a_log_that_is_mostly_broken_is_refused_anyhow(tmp_path: Path) -> None:
    lines = random_lines(LEDUC, 30)
    lines[10:] = [line.replace("STATE", "stat") for line in lines[10:]]
    with pytest.raises(GameError, match=r"20 of 30 hands in .*a\.log are broken; .*line 11: cannot read"):
        observe(written(tmp_path, lines), "Ann", bucket_game(LEDUC), broken="skip")


# ---------------------------------------------------------------------------------------------- refused before


def scaled(record: HandRecord) -> str:
    return dataclasses.replace(record, values=tuple(10 * value for value in record.values)).text()


def test_logs_of_other_games(tmp_path: Path) -> None:
    form = holdem_game()
    header = "# name/game/hands/seed m holdem.nolimit.2p.reverse_blinds.game 10 1"
    with pytest.raises(GameError, match=r"is a log of holdem_nolimit_2p, not of holdem_limit_2p"):
        observe(written(tmp_path, [header, *random_lines(HOLDEM, 5)]), "Ann", form)
    kuhn = random_lines(STANDARD["kuhn.limit.3p"], 20)
    with pytest.raises(GameError, match=r"no log of holdem_limit_2p; it fits kuhn_limit_3p; line 1: "):
        observe(written(tmp_path, kuhn), "Ann", form, broken="skip")
    with pytest.raises(GameError, match=r"no log of holdem_limit_2p; line 1: the players of hand 0 have won"):
        observe(written(tmp_path, list(map(scaled, random_records(HOLDEM, 30)))), "Ann", form, broken="skip")
    with pytest.raises(GameError, match=r"no log of leduc; it fits holdem_limit_2p"):
        observe(written(tmp_path, random_lines(HOLDEM, 30)), "Ann", open_game("leduc", "history"))


def test_what_is_no_log(tmp_path: Path) -> None:
    form = bucket_game(LEDUC)
    log = written(tmp_path, random_lines(LEDUC, 30))
    empty = written(tmp_path, ["# nothing", ""], "empty.log")
    profile = tmp_path / "kuhn.strategy"
    TabularStrategy.uniform("kuhn").save(profile)
    for logs, said in (
        ([], "no log is given"), (tmp_path / "no.log", "no file .*no.log"), (tmp_path, "is a folder"),
        ([7], "a log is the name of a file; got int"), ([log, log], "is given twice"),
        (empty, "empty.log holds no hands"), ([log, empty], "empty.log holds no hands"),
        (profile, "it is a counterplay file of the kind profile"),
    ):  # fmt: skip
        with pytest.raises(GameError, match=said):
            observe(logs, "Ann", form)  # type: ignore[arg-type]
    found = observe([log, empty], "Ann", form, broken="skip")
    assert (found.hands, found.skipped, found.broken) == (30, 1, (f"{empty} holds no hands",))
    with pytest.raises(GameError, match=r"there is no hand in the logs: .*empty.log holds no hands"):
        observe(empty, "Ann", form, broken="skip")


def test_names_and_words_that_are_unknown(tmp_path: Path) -> None:
    form, tree = bucket_game(LEDUC), open_game("goofspiel(3)", "history")
    lines = random_lines(LEDUC, 30)
    log = written(tmp_path, [*lines, lines[0].replace("Bob", "Zoe")])
    for name, said in (
        ("ann", "did you mean 'Ann'"), ("Orange", "nobody is called 'Orange' in the logs; there are Ann, Bob, Zoe"),
        (["Ann", "Bop"], "'Bop' in the logs; did you mean 'Bob'"), ("", "is a name in the"), ([], r"got \[\]"),
    ):  # fmt: skip
        with pytest.raises(GameError, match=said):
            observe(log, name, form)
    assert observe(log, "Zoe", form).hands == 1  # who is not in the first hands
    with pytest.raises(GameError, match="did you mean 'skip'"):
        observe(log, "Ann", form, broken="skp")
    with pytest.raises(GameError, match=r"goofspiel.* is not a poker game of the competition"):
        observe(log, "Ann", tree)
    with pytest.raises(GameError, match="which open_game gives; got str"):
        observe(log, "Ann", "leduc")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="has no argument 'agianst'; did you mean 'against'"):
        observe(log, agianst="Ann", form=form)  # type: ignore[call-arg]


# ---------------------------------------------------------------------------------------------- files


def test_observations_are_kept_in_files(tmp_path: Path) -> None:
    cards = tmp_path / "lossless.cpa"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    log = written(tmp_path, [*random_lines(LEDUC, 50), "broken"])
    for form in (open_game("leduc_limit_2p", "buckets", cards=[cards]), open_game("leduc", "history")):
        found = observe(log, "Ann", form, broken="skip")
        found.save(tmp_path / "seen")
        again = load_observations(tmp_path / "seen")
        same(found, again)
        same(found, load_observations(tmp_path / "seen", form))
        assert again.opponent == "Ann"
        with pytest.raises(StrategyError, match="was counted in another game or abstraction than kuhn"):
            load_observations(tmp_path / "seen", open_game("kuhn", "history"))
    with pytest.raises(StrategyError, match=r"lossless\.cpa is a card-abstraction file"):
        load_observations(cards)


def test_card_files_next_to_observations_are_found(tmp_path: Path) -> None:
    cards, folder = tmp_path / "lossless.cpa", tmp_path / "moved"
    CardAbstraction.lossless((3, 2), (1, 1)).save(cards)
    log = written(tmp_path, random_lines(LEDUC, 50))
    found = observe(log, "Ann", open_game("leduc_limit_2p", "buckets", cards=[cards]))
    folder.mkdir()
    found.save(folder / "seen")
    cards.rename(folder / "lossless.cpa")
    same(found, load_observations(folder / "seen"))
    (folder / "lossless.cpa").unlink()
    with pytest.raises(StrategyError, match=r"the game of .*seen cannot be opened: .*lossless.cpa"):
        load_observations(folder / "seen")
    CardAbstraction.single((3, 2), (1, 1)).save(folder / "lossless.cpa")
    with pytest.raises(StrategyError, match="another game or abstraction"):
        load_observations(folder / "seen")
