"""What scripts/ask-test does in the browser: python3 ask_test.py METRICLAB FOLDER SCREENSHOTS, FOLDER a new one."""

import contextlib
import csv
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import zlib

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from in_browser import browser, complaints, luminance, overflow, screen, wait

command, folder, shots = (pathlib.Path(p).resolve() for p in sys.argv[1:4])


def check(ok, what):
    if not ok:
        raise AssertionError(what)


def png(path, colour, side=240):
    """A picture of one colour, with a border."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    edge = b"\x22\x22\x22"
    rows = b"".join(b"\0" + b"".join(edge if min(x, y, side - 1 - x, side - 1 - y) < 6 else bytes(colour) for x in range(side)) for y in range(side))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


@contextlib.contextmanager
def ask(driver, *args):
    """Runs the command, yields its addresses for people and for the asker, and ends it by an interrupt."""
    out = (folder / "log").open("w+")
    p = subprocess.Popen([command, "ask", *args, "--listen", "127.0.0.1:0"], cwd=folder, stdout=out, stderr=subprocess.STDOUT)
    try:
        def addresses():
            check(p.poll() is None, "the command ended: " + (folder / "log").read_text())
            return re.findall(r"(?:people|you): +(\S+)", (folder / "log").read_text())
        people, you = wait("the addresses", lambda: addresses() if len(addresses()) == 2 else None)
        yield people, you
        driver.get("about:blank")  # a page that is open asks for a server that is gone
    finally:
        p.send_signal(signal.SIGINT)
        status = p.wait(60)
    check(status == 0, f"exit status {status}: " + (folder / "log").read_text())


def ready(driver):
    """The number of the answers, once the buttons of the next question can be pressed."""
    return driver.execute_script("""
        var buttons = document.querySelectorAll("#choices button");
        if (document.getElementById("ask").hidden || !buttons.length || Array.from(buttons).some(b => b.disabled)) { return null; }
        return parseInt((/(\\d+) answer/.exec(document.getElementById("count").textContent) || [0, "-1"])[1]);""")


def until(driver, n):
    wait(f"{n} answers", lambda: ready(driver) == n)


def join(driver, url, name):
    driver.get(url)
    driver.delete_all_cookies()  # who was here before
    driver.get(url)
    box = wait("the form", lambda: next((e for e in driver.find_elements(By.ID, "name") if e.is_displayed()), None))
    box.send_keys(name, Keys.ENTER)
    until(driver, 0)


def shape(driver, what):
    """On each screen nothing is wider than it, pictures and buttons are seen without scrolling, and colours have contrast."""
    for width, height, name in [(390, 844, "phone"), (1280, 900, "1280"), (1920, 1080, "projector")]:
        for dark in (False, True):
            screen(driver, width, height, dark)
            where = f"{what}, {name}, {'dark' if dark else 'light'}"
            check(not overflow(driver), f"{where}: {overflow(driver)} px wider than the screen")
            ground, ink = luminance(driver, "html", "backgroundColor"), luminance(driver, "html", "color")
            check(ground > 200 > 80 > ink if not dark else ground < 60 < 180 < ink, f"{where}: ground {ground:.0f}, ink {ink:.0f}")
            low = driver.execute_script("return Math.max(0, ...Array.from(document.querySelectorAll('#choices button'), b => b.getBoundingClientRect().bottom)) - window.innerHeight")
            check(low <= 0, f"{where}: buttons end {low:.0f} px below the screen")
            small = driver.execute_script("return Array.from(document.querySelectorAll('button')).filter(b => b.checkVisibility() && Math.min(b.offsetWidth, b.offsetHeight) < 44).length")
            check(not small, f"{where}: {small} buttons are too small to touch")
            driver.save_screenshot(str(shots / f"{what}-{name}-{'dark' if dark else 'light'}.png"))
    screen(driver, 1280, 900, False)


def rows():
    with (folder / "answers" / "answers.csv").open(newline="") as f:
        return list(csv.DictReader(f))


def compare(driver):
    with ask(driver, "pictures") as (url, you):
        driver.get(url)
        wait("the form", lambda: driver.find_element(By.ID, "join").is_displayed())
        shape(driver, "join")
        join(driver, url, "Ann")
        shape(driver, "compare")
        check(all(driver.execute_script("return Array.from(document.images, i => i.naturalWidth > 0 && i.alt !== '')")), "a picture is not seen, or has no text")
        keys = driver.find_element(By.TAG_NAME, "body")
        for i in range(6):
            keys.send_keys([Keys.ARROW_LEFT, "2", Keys.ARROW_RIGHT][i % 3])
            until(driver, i + 1)
        driver.find_elements(By.CSS_SELECTOR, "#choices button")[0].click()
        until(driver, 7)
        keys.send_keys(Keys.TAB, Keys.ENTER)  # without a mouse, and without the keys of the page
        until(driver, 8)
        check(driver.execute_script("return document.activeElement.id") == "prompt", "after an answer the focus is nowhere: a reader of the screen does not hear the question")
        # Another tab is the same person, and the first one goes on.
        first = driver.current_window_handle
        driver.switch_to.new_window("tab")
        driver.get(url)
        until(driver, 0)
        driver.find_element(By.TAG_NAME, "body").send_keys("1")
        until(driver, 1)
        driver.close()
        driver.switch_to.window(first)
        driver.find_element(By.TAG_NAME, "body").send_keys("1")
        until(driver, 9)
        check(len(rows()) == 10 and {r["person"] for r in rows()} == {"Ann"} and all(int(r["ms"]) < 60000 for r in rows()), f"answers.csv has {rows()}")
        # What a crowd answers, without the browser.
        driver.execute_async_script("""
            var done = arguments[0];
            (async () => {
              let q = await (await fetch("/question")).json();
              for (let i = 0; i < 40; i++) {
                const near = (k) => Math.abs(q.items[k].item - q.items[0].item);
                q = await (await fetch("/answer", {method: "POST", body: JSON.stringify({id: q.id, said: near(1) <= near(2) ? 1 : 2, ms: 1})})).json();
                await new Promise(r => setTimeout(r, 130));
              }
              done();
            })();""")
        check(driver.execute_script("return fetch('/live/state').then(r => r.status)") == 403, "the live page's numbers are for everybody")
        said = complaints(driver)
        check(all(" 403 " in line for line in said), f"the console says {said}")
        driver.get(you)
        wait("a map", lambda: len(driver.find_elements(By.CSS_SELECTOR, "#map image")) == 12)
        wait("a prediction", lambda: "held-out" in driver.find_element(By.ID, "verdict").text)
        check("are random" in driver.find_element(By.ID, "choosing").text, "the live page does not say how questions are chosen")
        check("key=" not in driver.current_url, "the key stays in the address")
        check(driver.find_element(By.ID, "people").text.startswith("Ann 50"), "the live page has other people: " + driver.find_element(By.ID, "people").text)
        wait("the last report", lambda: "After 50 answers" in driver.find_element(By.ID, "maptext").text)
        again = driver.execute_async_script("""
            var done = arguments[0], n = 0;
            var seen = new MutationObserver(() => n++);
            document.querySelectorAll("[aria-live], [role=alert]").forEach(e => seen.observe(e, {childList: true, characterData: true, subtree: true}));
            setTimeout(() => done(n), 5000);""")
        check(again == 0, f"what has not changed is read aloud {again} times in 5 s")
        shape(driver, "live")
    log = (folder / "log").read_text()
    check(all((folder / "answers" / name).is_file() for name in ["coordinates.csv", "map.json", "map.svg"]), "at the end there is no map: " + log)
    for line in re.findall(r"^\$ metriclab (.*)$", log, re.M):  # they do it again
        subprocess.run([command, *line.split()], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def resumed(driver):
    """The same command goes on, and the same person need not join again."""
    with ask(driver, "pictures") as (url, _):
        driver.get(url)
        until(driver, 0)
        driver.find_element(By.TAG_NAME, "body").send_keys("1")
        until(driver, 1)
    check(len(rows()) == 51, f"{len(rows())} answers after a second run, want 51")


def texts(driver):
    hostile = '<img src=x onerror="document.title=1">'
    (folder / "words.txt").write_text("\n".join([hostile, "a word", "another word", "one more, with a long text that goes over more than a line of the page, as sentences do", "=1+1"]) + "\n")
    with ask(driver, "words.txt", "--question", "odd", "--out", "words") as (url, you):
        join(driver, url, "")
        shape(driver, "odd")
        keys = driver.find_element(By.TAG_NAME, "body")
        for i in range(12):
            keys.send_keys(str(i % 3 + 1))
            until(driver, i + 1)
        driver.get(you)
        wait("a map", lambda: len(driver.find_elements(By.CSS_SELECTOR, "#map circle")) == 5)
        check(driver.title == "Answers so far" and not driver.find_elements(By.CSS_SELECTOR, "img"), "a line of text became an element")
    said = complaints(driver)
    check(not said, f"the console says {said}")


def alike(driver):
    with ask(driver, "pictures", "--question", "alike", "--out", "alike") as (url, _):
        join(driver, url, "Ben")
        shape(driver, "alike")
        keys = driver.find_element(By.TAG_NAME, "body")
        for i in range(8):
            keys.send_keys([Keys.ARROW_LEFT, Keys.ARROW_RIGHT][i % 2])
            until(driver, i + 1)
    said = complaints(driver)
    check(not said, f"the console says {said}")


def main():
    (folder / "pictures").mkdir(parents=True)
    shots.mkdir(parents=True, exist_ok=True)
    for i in range(12):
        png(folder / "pictures" / f"colour {i}.png", (20 * i, 90, 255 - 20 * i))
    (folder / "pictures" / "elsewhere.png").symlink_to("/etc/passwd")
    driver = browser()
    driver.set_script_timeout(90)
    try:
        start = time.monotonic()
        for part in (compare, resumed, texts, alike):
            part(driver)
        print(f"questions by keys, touch and tabs, the live page, resuming, texts: {time.monotonic() - start:.0f} s in the browser")
    except BaseException:
        driver.save_screenshot(str(shots / "failure.png"))
        print(f"a screenshot is in {shots / 'failure.png'}", file=sys.stderr)
        raise
    finally:
        driver.quit()


if __name__ == "__main__":
    try:
        main()
    except AssertionError as e:
        sys.exit(f"ask-test: {e}")
