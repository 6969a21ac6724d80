"""Make the HTML work without a network: MathJax comes from the installed package, Thebe not at all."""
import shutil
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "sphinx-mathjax-offline"  # its folder in site-packages has this name
FILES = ["tex-chtml-full.js", "output/chtml/fonts/woff-v2"]  # "full": no TeX extension is fetched later


def copy(app, exc):
    if exc is not None or app.builder.format != "html":
        return
    source = Path(find_spec(PACKAGE).origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for name in FILES:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, target / name, dirs_exist_ok=True)
        else:
            shutil.copy2(source / name, target / name)


def without_thebe(app, pagename, templatename, context, doctree):
    """The theme adds Thebe's scripts although it is off, one of them twice: an error in the browser."""
    def words(script):
        return f"{getattr(script, 'filename', script)}{getattr(script, 'attributes', '')}".lower()

    context["script_files"] = [s for s in context.get("script_files", []) if "thebe" not in words(s)]


def setup(app):
    app.config.mathjax_path = "mathjax/tex-chtml-full.js"
    app.connect("build-finished", copy)
    app.connect("html-page-context", without_thebe, priority=900)  # after those who add them
    return {"parallel_read_safe": True, "parallel_write_safe": True}
