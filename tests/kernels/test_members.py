"""Members by topic, by their definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from overlay_spark.kernels.members import members_by_topic
from tests import naive
from tests.strategies import instances


@given(instances(max_nodes=14))
def test_members__are_the_nodes_that_want_a_topic_ascending(instance):
    starts, members = members_by_topic(instance.n_topics, instance.offsets, instance.topics)
    found = [members[starts[t] : starts[t + 1]].tolist() for t in range(instance.n_topics)]
    assert found == naive.members(instance)
    assert np.diff(starts).tolist() == instance.topic_sizes.tolist()
