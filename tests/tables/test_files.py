"""Parquet and CSV files as inputs."""

from __future__ import annotations

import pytest

from overlay_spark.errors import InputError
from overlay_spark.tables import catalog, files
from overlay_spark.tables.audit import faults_of
from overlay_spark.tables.references import Reference
from tests.problems import sorted_rows

pytestmark = pytest.mark.spark


def csv(tmp_path, text):
    path = tmp_path / "costs.csv"
    path.write_text(text)
    return Reference("csv", str(path))


def test_csv__is_read_by_its_header_and_the_declared_types(spark, tmp_path):
    read = files.read(spark, catalog.LINK_COSTS, csv(tmp_path, 'cost,src,dst\n1.5,001,"b, or ""c"""\n2,b,é\n'))
    conformed = catalog.LINK_COSTS.conform(read)
    assert sorted_rows(conformed) == [("001", 'b, or "c"', 1.5), ("b", "é", 2.0)]


def test_csv__values_that_are_no_numbers_are_reported_by_the_input_check(spark, tmp_path):
    read = catalog.LINK_COSTS.conform(files.read(spark, catalog.LINK_COSTS, csv(tmp_path, "src,dst,cost\na,b,cheap\n")))
    assert [str(fault) for fault in faults_of([catalog.LINK_COSTS.audit(read)])] == [
        "Table 'link_costs': column 'cost' has 1 row that is null (first: src='a', dst='b', cost=None). "
        "Fill in or remove this row."
    ]


def test_files__that_are_not_there_are_refused(spark, tmp_path):
    for kind in ("csv", "parquet"):
        with pytest.raises(InputError, match=r"cannot be read \(PATH_NOT_FOUND"):
            files.read(spark, catalog.LINK_COSTS, Reference(kind, str(tmp_path / "nowhere")))


def test_csv__with_lines_of_other_lengths_is_refused(spark, tmp_path):
    read = catalog.LINK_COSTS.conform(files.read(spark, catalog.LINK_COSTS, csv(tmp_path, "src,dst,cost\na,b,1,9\n")))
    with pytest.raises(InputError, match=r"An input file cannot be read: \[.*costs\.csv"):
        faults_of([catalog.LINK_COSTS.audit(read)])


def test_csv__in_another_encoding_is_refused(spark, tmp_path):
    path = tmp_path / "latin.csv"
    path.write_bytes("src,dst,cost\nMünchen,b,1\n".encode("latin-1"))
    read = catalog.LINK_COSTS.conform(files.read(spark, catalog.LINK_COSTS, Reference("csv", str(path))))
    (fault,) = faults_of([catalog.LINK_COSTS.audit(read)])
    assert "column 'src' has 1 row that holds U+FFFD" in fault.text
