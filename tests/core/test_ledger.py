"""The ledger against models that `transformers` builds, and what authors say of theirs."""

from __future__ import annotations

from cloze.ledger import parameter_ledger
from cloze.lessons.the_real_ones.family import FAMILY
from cloze.teaching.measurements import load_results
from measured.the_real_ones.family import counted


def test_every_relative_is_counted_to_the_last_parameter() -> None:
    found = counted()
    assert found == load_results("the_real_ones", "family")["counted"]
    assert set(FAMILY) - set(found) == {"NeoBERT"}
    for name, count in found.items():
        assert FAMILY[name].n_parameters == count, name


def test_neobert_has_what_its_authors_say() -> None:
    with_head = sum(parameter_ledger(**FAMILY["NeoBERT"].parts).values())
    assert 240e6 < with_head < 255e6
