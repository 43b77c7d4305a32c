from __future__ import annotations

from crawler import cli
from crawler.seeds import read_seeds


def test_the_folder_has_seeds_settings_and_a_makefile(tmp_path, capsys):
    folder = tmp_path / "maltese"
    assert cli.main(["init", str(folder), "--langs", "English,mt"]) == 0
    names = {"seeds.txt", "crawl_settings.py", "scrapy.cfg", "Makefile"}
    assert {path.name for path in folder.iterdir()} == names
    assert "langs=$(LANGS)" in (folder / "Makefile").read_text("utf-8")
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


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "Makefile").write_text("mine")
    assert cli.main(["init", str(tmp_path), "--langs", "en,is"]) == 1
    assert "choose another folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["Makefile"]
