from __future__ import annotations

from crawler import cli
from crawler.seeds import read_seeds


def test_the_folder_has_seeds_settings_and_a_makefile(tmp_path, capsys):
    folder = tmp_path / "maltese"
    assert cli.main(["init", str(folder), "--langs", "English,mt"]) == 0
    names = {"seeds.txt", "crawl_settings.py", "scrapy.cfg", "Makefile"}
    assert {path.name for path in folder.iterdir()} == names
    assert "'langs=$(LANGS)'" in (folder / "Makefile").read_text("utf-8")
    assert "LANGS := en,mt\n" in (folder / "Makefile").read_text("utf-8")
    compile((folder / "crawl_settings.py").read_text("utf-8"), "settings", "exec")
    assert read_seeds(str(folder / "seeds.txt"))
    assert "make check" in capsys.readouterr().out


def test_the_seeds_that_we_have_for_a_pair_are_there_in_either_order(tmp_path):
    for langs in ("en,is", "is,en"):
        cli.main(["init", str(tmp_path / langs), "--langs", langs])
        assert "https://www.althingi.is/" in read_seeds(
            str(tmp_path / langs / "seeds.txt")
        )


def test_a_pair_without_a_list_gets_an_example(tmp_path):
    cli.main(["init", str(tmp_path), "--langs", "sw,yo"])
    seeds = read_seeds(str(tmp_path / "seeds.txt"))
    assert seeds == ["https://www.example.org/sw/", "https://www.example.org/yo/"]


def test_of_several_pairs_the_lists_of_each_are_there(tmp_path):
    cli.main(["init", str(tmp_path), "--langs", "is:en,fr;fi:en"])
    seeds = read_seeds(str(tmp_path / "seeds.txt"))
    assert {"https://www.althingi.is/", "https://www.eduskunta.fi/"} <= {*seeds}
    assert "LANGS := is:en;is:fr;fi:en\n" in (tmp_path / "Makefile").read_text("utf-8")


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "Makefile").write_text("mine")
    assert cli.main(["init", str(tmp_path), "--langs", "en,is"]) == 1
    assert "choose another folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]


def test_the_best_sites_of_a_table_become_the_seeds(tmp_path):
    table = tmp_path / "sites.tsv"
    rows = [f"site{n}.is\t{90 - n}.0" for n in range(30)]
    table.write_text("\n".join(["site\tpairs", *rows]))
    words = ["init", str(tmp_path / "new"), "--langs", "en,is", "--prospects"]
    assert cli.main([*words, str(table)]) == 0
    lines = (tmp_path / "new" / "seeds.txt").read_text().splitlines()
    seeds = [line for line in lines if not line.startswith("#")]
    assert seeds == [f"https://site{n}.is/" for n in range(20)]
    assert "# 90.0 pairs expected" in lines


def test_a_table_of_something_else_is_one_clear_error(tmp_path, capsys):
    (tmp_path / "x.tsv").write_text("a\tb\n1\t2\n")
    words = ["init", str(tmp_path / "new"), "--langs", "en,is", "--prospects"]
    assert cli.main([*words, str(tmp_path / "x.tsv")]) == 2
    assert "give the --out of bifocal prospect" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_row_that_is_cut_off_still_names_its_site(tmp_path):
    (tmp_path / "x.tsv").write_text("site\tpairs\na.is\n")
    words = ["init", str(tmp_path / "new"), "--langs", "en,is", "--prospects"]
    assert cli.main([*words, str(tmp_path / "x.tsv")]) == 0
    assert "https://a.is/" in (tmp_path / "new" / "seeds.txt").read_text()
