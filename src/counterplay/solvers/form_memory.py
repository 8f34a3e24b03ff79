"""Memory of the algorithms on each form of a game, from its size alone: nothing is built."""

from __future__ import annotations

from counterplay.forms import FormSize, GameForms, poker_definition
from counterplay.kernels.walks import walk_bytes
from counterplay.poker.buckets.bucket_counts import BucketGameSize
from counterplay.poker.buckets.trunk_sampler import round_indexer
from counterplay.solvers.bucket_mccfr import BUCKET_PRESETS, predicted_tables, takes_experts
from counterplay.solvers.cfr import CFR_PRESETS, CfrSolver
from counterplay.solvers.mccfr import MCCFR_PRESETS, MccfrSolver
from counterplay.solvers.public_tree_tables import table_type


def solver_memory(forms: GameForms, size: FormSize) -> dict[str, int]:
    """Bytes of the tables of each algorithm by name; empty for a form that a game does not have.

    Walks over states need a table for what they visit, whose size is not known in advance.
    """
    if size.form == "history" and size.available:
        return _history(forms)
    if size.form == "public" and size.entries is not None:
        cards = not forms.compiled and (forms.subgame is not None or forms.poker is not None)
        return _public(size.entries, cards)
    if size.form == "buckets" and size.available:
        return _buckets(forms)
    return {}


def _history(forms: GameForms) -> dict[str, int]:
    tree = forms.history()
    memory = {"walks": walk_bytes(tree)}
    memory.update({name: CfrSolver.memory_bytes(tree, name) for name in CFR_PRESETS})
    memory.update({name: MccfrSolver.memory_bytes(tree, name) for name in MCCFR_PRESETS})
    return memory


def _public(entries: int, dealt: bool) -> dict[str, int]:
    """The tables alone; the vectors of walks are small in comparison.

    If cards are ``dealt`` between rounds, tables can be on disk, where they are counted before compression.
    """
    item = table_type(entries, "auto").itemsize
    memory = {}
    for name, config in CFR_PRESETS.items():
        tables = 1 + config.keeps_average + config.predictive
        copies = 0 if config.alternating else entries // 2 * (1 + config.predictive)
        memory[name] = item * (entries * tables + copies)
        if dealt:
            memory[f"{name}, disk"] = entries * (2 * (1 + config.keeps_average) + 4 * config.predictive)
    return memory


def _buckets(forms: GameForms) -> dict[str, int]:
    memory = {}
    size = forms.bucket_counts()
    for name in (*BUCKET_PRESETS, *CFR_PRESETS):
        if name not in MCCFR_PRESETS and forms.game.players != 2:
            continue
        if size.experts and not (name in BUCKET_PRESETS and takes_experts(BUCKET_PRESETS[name])):
            continue
        for profile in ("average", "last"):
            title = name if profile == "average" else f"{name}, last"
            memory[title] = predicted_tables(size, name, {"profile": profile})
    if forms.game.players == 2 and forms.raises is None and not size.experts:
        memory |= _trunks(forms, size)
    return memory


def _trunks(forms: GameForms, size: BucketGameSize) -> dict[str, int]:
    """CFR-BR with a trunk of each number of rounds but all: tables by buckets, and those of both hybrids."""
    rules = poker_definition(forms.states() if forms.poker is None else forms.poker)
    hands = [round_indexer(rules, turn).size() for turn in range(rules.rounds)]
    memory = {}
    for trunk in range(1, rules.rounds):
        kept = tuple(hands[:trunk] + [0] * (rules.rounds - trunk))
        entries = BucketGameSize(size.betting, (kept, kept)).entries
        table = entries * table_type(entries, "auto").itemsize
        memory[f"cfr-br trunk={trunk}"] = table + predicted_tables(size, "cfr-br", {})
    return memory
