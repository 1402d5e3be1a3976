"""What scripts/notebook-test does in the browser: python3 notebook_test.py COPY SCREENSHOTS [--long]."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from selenium.webdriver.common.by import By

from in_browser import PATIENCE, browser, free_port, move_slider, serve, sliders, wait

@contextlib.contextmanager
def notebooks(copy, home):
    """Jupyter Notebook behind a base URL; trust is kept below home, which is new."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/user/reader/"
    command = ["jupyter", "notebook", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}", "--NotebookApp.base_url=/user/reader/",
               "--NotebookApp.token=", "--NotebookApp.password=", "--NotebookApp.port_retries=0"]
    with serve(command, url + "tree", copy / "notebooks", HOME=str(home), JUPYTER_DATA_DIR=str(home / "jupyter")):
        yield url + "notebooks/"


@contextlib.contextmanager
def hub(copy, home):
    """JupyterHub with one made-up user, whose server is a notebook server on the copy."""
    port, api, proxy = free_port(), free_port(), free_port()
    config = home / "hub.py"
    config.write_text(f"""
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {api}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.db_url = "sqlite:///{home}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{home}/secret"
c.SimpleLocalProcessSpawner.home_dir_template = "{home}/{{username}}"
c.Spawner.notebook_dir = "{copy}/notebooks"
c.Spawner.default_url = "/tree"
c.Spawner.environment = {{"JUPYTERHUB_SINGLEUSER_APP": "notebook.notebookapp.NotebookApp"}}
c.Spawner.args = ["--allow-root"]
c.Spawner.env_keep = ["PATH", "JUPYTER_PATH", *{sorted(k for k in os.environ if k.startswith("GO"))}, "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY"]
c.Spawner.start_timeout = {PATIENCE}
""")
    with serve(["jupyterhub", "-f", str(config)], f"http://127.0.0.1:{port}/hub/login", home):
        yield f"http://127.0.0.1:{port}"


def same_go(home):
    """What Go finds under a new HOME is what it finds here; else each cell would compile the world."""
    def settings(**environment):
        return subprocess.run(["go", "env", "GOCACHE", "GOMODCACHE", "GOENV", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN"], check=True, capture_output=True, text=True, env={**os.environ, **environment}).stdout
    if settings() != settings(HOME=str(home)):
        raise AssertionError(f"with a new HOME Go has other settings:\n{settings(HOME=str(home))}")


class Page:
    """A notebook that is open in Jupyter Notebook."""

    def __init__(self, driver, url):
        self.driver = driver
        driver.get(url)
        wait("the notebook to load", lambda: self.js("return !!(window.Jupyter && Jupyter.notebook && Jupyter.notebook._fully_loaded)"))
        self.js("Jupyter.notebook.set_autosave_interval(0)")

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def kernel_ready(self):
        wait("the kernel", lambda: self.js("var k = Jupyter.notebook.kernel; return !!k && k.is_connected() && !Jupyter.notebook.kernel_busy"))

    def hidden_outputs(self):
        """The outputs of which nothing can be seen: no text, no image that has been read."""
        return self.js("""
            var bad = [];
            Jupyter.notebook.get_cells().forEach(function (cell, i) {
              if (cell.cell_type !== "code" || !cell.output_area.outputs.length) { return; }
              var areas = cell.output_area.element[0].querySelectorAll(".output_area");
              if (areas.length < cell.output_area.outputs.length) { bad.push("cell " + (i + 1) + ": " + areas.length + " of " + cell.output_area.outputs.length + " outputs"); }
              areas.forEach(function (area, k) {
                var sub = area.querySelector(".output_subarea");
                var image = sub && sub.querySelector("img");
                var seen = sub && sub.getBoundingClientRect().height > 4 && (sub.innerText.trim() !== "" || (image && image.naturalWidth > 0));
                if (!seen) { bad.push("cell " + (i + 1) + ", output " + (k + 1)); }
              });
            });
            return bad;""")

    def errors(self):
        return self.js("""
            var bad = [];
            Jupyter.notebook.get_cells().forEach(function (cell, i) {
              if (cell.cell_type !== "code") { return; }
              cell.output_area.outputs.forEach(function (o) {
                if (o.output_type === "error" || (o.output_type === "stream" && o.name === "stderr")) { bad.push("cell " + (i + 1) + ": " + (o.evalue || o.text)); }
              });
            });
            return bad;""")

    def run(self, first, last):
        """Runs cells first to last-1 and waits for all of them."""
        self.kernel_ready()
        self.js("Jupyter.notebook.get_cells().slice(arguments[0], arguments[1]).forEach(function (c) { if (c.cell_type === 'code') { c.clear_output(); c.input_prompt_number = null; c.execute(); } })", first, last)

    def wait_run(self, first, last, seconds):
        wait("the cells to end", lambda: self.js("return Jupyter.notebook.get_cells().slice(arguments[0], arguments[1]).every(function (c) { return c.cell_type !== 'code' || (c.input_prompt_number !== '*' && c.input_prompt_number !== null); })", first, last), seconds)

    def cells(self):
        return self.js("return Jupyter.notebook.get_cells().map(function (c) { return c.get_text(); })")


def look(driver, url, names, trusted):
    for name in names:
        page = Page(driver, url + name)
        time.sleep(0.5)  # typesetting moves what is below
        if page.js("return Jupyter.notebook.trusted") != trusted:
            raise AssertionError(f"{name}: trusted is {not trusted}")
        bad = page.hidden_outputs()
        if bad:
            raise AssertionError(f"{name}, {'trusted' if trusted else 'not trusted'}: nothing is seen of {'; '.join(bad)}")
        if trusted:
            found, wanted = sliders(driver), sum(text.count("nb.Slider(") for text in page.cells())
            if len(found) < wanted:
                raise AssertionError(f"{name}: {len(found)} sliders, want {wanted}")
            for i, s in enumerate(found):
                move_slider(driver, s, f"{name}, slider {i + 1}")
    print(f"{len(names)} notebooks {'trusted' if trusted else 'not trusted'}: all outputs are visible" + (", sliders move" if trusted else ""), flush=True)


def run_all(driver, url, name):
    page = Page(driver, url + name)
    start, n = time.monotonic(), len(page.cells())
    page.run(0, n)
    page.wait_run(0, n, 600)
    bad = page.errors() + page.hidden_outputs()
    if bad:
        raise AssertionError(f"{name}: {'; '.join(bad)}")
    print(f"{name}: run all took {time.monotonic() - start:.0f} s", flush=True)
    return page


def answer(driver, url, copy, wanted=10):
    """Answers questions by clicks and by keys, takes one back, and stops."""
    name = "04_erkle2015.ipynb"
    page = Page(driver, url + name)
    at = next(i for i, text in enumerate(page.cells()) if "nb.Ask(" in text)
    page.run(0, at)
    page.wait_run(0, at, 300)
    page.run(at, at + 1)

    def asked(round):
        # In one script, since the page is replaced after each answer.
        script = """
            var page = document.querySelector("div[id^=ask_]"), button = page && page.querySelector("button[data-answer=b]");
            return !!button && !button.disabled && page.innerText.indexOf(arguments[0] + " of 48") >= 0;"""
        wait(f"question {round}", lambda: driver.execute_script(script, round))

    def click(letter):
        driver.find_element(By.CSS_SELECTOR, f"div[id^=ask_] button[data-answer={letter}]").click()

    asked(1)
    boxes = [driver.find_element(By.CSS_SELECTOR, f"div[id^=ask_] button[data-answer={x}]").rect for x in "bc"]
    if abs(boxes[0]["y"] - boxes[1]["y"]) > 2:
        raise AssertionError("the buttons do not lie side by side")
    for i in range(wanted):
        asked(i + 1)
        if i % 3 == 2:
            driver.find_element(By.CSS_SELECTOR, "input.raw_input").send_keys("bc"[i % 2])
        else:
            click("bc"[i % 2])
    asked(wanted + 1)
    click("u")
    asked(wanted)
    click("c")
    asked(wanted + 1)
    click("s")
    page.wait_run(at, at + 1, PATIENCE)
    if page.errors():
        raise AssertionError(f"{name}: {page.errors()}")
    kept = (copy / "out/notebooks/04/answers.jsonl").read_text().splitlines()
    if len(kept) != wanted or not all("near" in json.loads(line) for line in kept):
        raise AssertionError(f"{len(kept)} answers are kept, want {wanted}")
    text = page.js("return Jupyter.notebook.get_cell(arguments[0]).output_area.element[0].innerText", at)
    if f"You stopped after {wanted} of 48 answers." not in text:
        raise AssertionError(f"the last output says {text!r}")
    print(f"{name}: {wanted} answers by buttons and keys, one taken back", flush=True)


def main(copy, screenshots, long):
    names = sorted(p.name for p in (copy / "notebooks").glob("*.ipynb"))
    if len(names) < 7:
        raise AssertionError(f"{len(names)} notebooks in {copy / 'notebooks'}")
    driver = browser()
    try:
        with tempfile.TemporaryDirectory() as home:
            home = pathlib.Path(home)
            same_go(home)
            with notebooks(copy, home) as url:
                look(driver, url, names, False)
                subprocess.run([sys.executable, "-c", "from nbformat.sign import TrustNotebookApp as a; a.launch_instance()", *[str(copy / "notebooks" / n) for n in names]], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env={**os.environ, "HOME": str(home), "JUPYTER_DATA_DIR": str(home / "jupyter")})
                look(driver, url, names, True)
                answer(driver, url, copy)
                for name in names if long else names[:1]:
                    run_all(driver, url, name)
        if long:
            with tempfile.TemporaryDirectory() as home:
                with hub(copy, pathlib.Path(home)) as url:
                    driver.get(url + "/hub/login")
                    driver.find_element(By.NAME, "username").send_keys("reader")
                    driver.find_element(By.NAME, "password").send_keys("x")
                    driver.find_element(By.ID, "login_submit").click()
                    wait("the reader's server", lambda: "/user/reader/" in driver.current_url and driver.find_elements(By.ID, "notebook_list"))
                    base = url + "/user/reader/notebooks/"
                    print("JupyterHub:", flush=True)
                    answer(driver, base, copy)
                    run_all(driver, base, names[0])
    except BaseException:
        screenshots.mkdir(parents=True, exist_ok=True)
        driver.save_screenshot(str(screenshots / "failure.png"))
        print(f"a screenshot is in {screenshots / 'failure.png'}", file=sys.stderr)
        raise
    finally:
        driver.quit()


if __name__ == "__main__":
    try:
        main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), "--long" in sys.argv[3:])
    except AssertionError as e:
        sys.exit(f"notebook-test: {e}")
