"""What scripts/play-test does in the browser: python3 play_test.py PAGE LOG SCREENSHOTS.

Both lessons are played by mouse, by touch and by keys. LOG gets what the page asked its learners and what they answered."""

import json
import pathlib
import sys
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from in_browser import browser, screen, wait

READY = 3.0  # seconds until the page can be played, the best of three loads

page, log, shots = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
driver = browser()
calls = []


def js(script, *args):
    return driver.execute_script(script, *args)


def load(fragment=""):
    driver.get("about:blank")
    driver.get(page.as_uri() + fragment)
    wait("the page to be ready", lambda: js("return document.body.dataset.ready || document.getElementById('trouble').textContent"))
    assert not js("return document.getElementById('trouble').textContent"), js("return document.getElementById('trouble').textContent")


def leave():
    """Takes the log of the page, and fails on what it wrote to the console."""
    calls.extend(js("return calls"))
    bad = [e["message"] for e in driver.get_log("browser") if e["level"] in ("SEVERE", "WARNING")]
    assert not bad, bad
    wide, inner = js("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= inner, f"the page is {wide} px wide, the screen {inner}"


def shot(name):
    driver.save_screenshot(str(shots / f"{name}.png"))


def state(lesson):
    return js(f"return {lesson}.state()")


def demo():
    """Waits until the machine has drawn its own forty pairs."""
    return wait("forty pairs", lambda: (s := state("metric"))["told"] == 40 and "drag" in js("return document.getElementById('say').textContent") and s)


def place(dot):
    """Where a dot is on the screen."""
    return js("""const box = document.getElementById("cloud").getBoundingClientRect(), [x, y] = metric.state().where[arguments[0]];
        return [box.left + box.width * (x + 2.2) / 4.4, box.top + box.height * (2.2 - y) / 4.4];""", dot)


def mouse(kind, x, y):
    driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "buttons": 0 if kind == "mouseReleased" else 1, "clickCount": 1})


def touch(kind, *at):
    driver.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y} for x, y in at]})


def answered(n):
    """Waits until a pair has been learned and both beats have been shown."""
    wait("an answer", lambda: state("metric")["told"] == n and js("return /knew|was|Now I am/.test(document.getElementById('say').textContent)"))


def drag(press, i, j):
    js("document.getElementById('cloud').scrollIntoView({block: 'center'})")
    a, b = place(i), place(j)
    if press is mouse:
        mouse("mousePressed", *a)
        for t in (.3, .6, 1):
            mouse("mouseMoved", *(p + t * (q - p) for p, q in zip(a, b)))
        mouse("mouseReleased", *b)
    else:
        touch("touchStart", a)
        for t in (.3, .6, 1):
            touch("touchMove", [p + t * (q - p) for p, q in zip(a, b)])
        touch("touchEnd")
    wait("a question", lambda: state("metric")["hand"] == 2 and js("return document.getElementById('say').textContent").startswith("I think"))


def click(id):
    driver.find_element(By.ID, id).click()


def times():
    best = [float("inf")] * 2
    for _ in range(3):
        load()
        wait("a first step", lambda: js("return document.body.dataset.first"))
        best = [min(a, float(b) / 1000) for a, b in zip(best, js("return [document.body.dataset.ready, document.body.dataset.first]"))]
    print(f"ready after {best[0]:.2f} s, first step after {best[1]:.2f} s", flush=True)
    assert best[0] <= READY, f"ready after {best[0]:.2f} s, at most {READY} s are allowed"


def metric_by_mouse():
    load()
    demo()
    shot("1-two-clouds")
    drag(mouse, 3, 40)
    shot("2-a-question")
    click("different")
    answered(41)
    click("straighten")
    wait("Lx", lambda: state("metric")["straight"] == 1)
    shot("3-straightened")
    click("straighten")
    wait("x", lambda: state("metric")["straight"] == 0)
    for name, value in (("wrong", 20), ("soft-range", 12), ("turn", 120)):
        js("const e = document.getElementById(arguments[0]); e.value = arguments[1]; e.dispatchEvent(new Event('input', {bubbles: true}))", name, value)
    for rule in ("pa", "pa1", "pa2"):
        js("const e = document.getElementById('rule'); e.value = arguments[0]; e.dispatchEvent(new Event('change', {bubbles: true}))", rule)
        assert state("metric")["told"] == 41
    click("rings")
    wait("the offer to lift", lambda: driver.find_element(By.ID, "lift").is_displayed() and state("metric")["told"] == 40)
    before = state("metric")["recent"]
    shot("4-rings")
    click("lift")
    wait("twenty pairs more", lambda: "lifted space" in js("return document.getElementById('say').textContent"))
    after = state("metric")["recent"]
    assert after < before, f"wrong on {before} of 20 pairs of the rings before the lift, on {after} after"
    shot("5-lifted")
    click("straighten")
    wait("the rings apart", lambda: state("metric")["straight"] == 1)
    shot("6-lifted-and-straightened")
    leave()


def metric_by_keys():
    load()
    demo()
    cloud = driver.find_element(By.ID, "cloud")
    js("arguments[0].focus()", cloud)
    cloud.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_UP, Keys.ENTER)
    cloud.send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER)
    wait("a question", lambda: state("metric")["hand"] == 2)
    cloud.send_keys("s")
    answered(41)
    cloud.send_keys("n")
    wait("ten pairs more", lambda: state("metric")["told"] == 51)
    tab = driver.find_element(By.ID, "tab-metric")
    js("arguments[0].focus()", tab)
    tab.send_keys(Keys.ARROW_RIGHT)
    assert driver.find_element(By.ID, "faces").is_displayed()
    leave()


def metric_by_touch():
    driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
    load()
    demo()
    drag(touch, 5, 50)
    click("alike")
    answered(41)
    shot("7-phone")
    leave()


def answers(n):
    wait("an answer", lambda: len(state("faces")["answers"]) == n)


def faces_by_all():
    load()
    click("tab-faces")
    click("b")
    answers(1)
    body = driver.find_element(By.TAG_NAME, "body")
    body.send_keys("c")
    answers(2)
    body.send_keys(Keys.ARROW_LEFT)
    answers(3)
    body.send_keys("u")
    answers(2)
    time.sleep(1)  # the faces glide
    shot("8-two-answers")
    for n in (18, 34):  # the page says so when all have glided, and nothing moves any more below the pointer
        js("document.getElementById('ask').textContent = ''")
        click("fill")
        wait("a simulated person", lambda: "gave 16 answers" in js("return document.getElementById('ask').textContent"))
        answers(n)
    wait("all faces", lambda: None not in state("faces")["map"])
    wait("what was looked at", lambda: driver.find_element(By.ID, "mood").is_displayed())
    click("mood")
    js("const e = document.getElementById('looks'); e.value = 'width'; e.dispatchEvent(new Event('change', {bubbles: true}))")
    wait("somebody else", lambda: driver.find_element(By.ID, "their-map").is_displayed())
    time.sleep(1)
    js("window.scrollTo(0, 0)")
    shot("9-faces")
    js("document.getElementById('their-map').scrollIntoView({block: 'start'})")
    shot("14-somebody-else")
    click("link")
    wait("a link", lambda: "&a=" in driver.current_url)
    mine, fragment = state("faces"), driver.current_url.split("#")[1]
    leave()
    load("#" + fragment)
    assert driver.find_element(By.ID, "faces").is_displayed()
    theirs = state("faces")
    # A map from a link is not turned to maps before.
    assert theirs["answers"] == mine["answers"] and theirs["wrong"] == mine["wrong"], f"a link has other answers: {theirs} {mine}"
    leave()


def race():
    click("race")
    begin = time.monotonic()
    wait("the race", lambda: "of 20 persons" in js("return document.getElementById('race-says').textContent"))
    print(f"the race took {time.monotonic() - begin:.1f} s: " + js("return document.getElementById('race-says').textContent"), flush=True)
    js("document.getElementById('track').scrollIntoView({block: 'center'})")
    shot("10-race")
    leave()


def faces_by_touch():
    load()
    click("tab-faces")
    box = driver.find_element(By.ID, "c").rect
    touch("touchStart", (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 - js("return scrollY")))
    touch("touchEnd")
    answers(1)
    time.sleep(1)
    shot("11-phone-faces")
    leave()


def reduced_motion():
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]})
    load()
    demo()
    assert js("return frames_asked") == 0, "with reduced motion something moves"
    leave()


driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """globalThis.calls = []; globalThis.frames_asked = 0;
    const frame = requestAnimationFrame; globalThis.requestAnimationFrame = f => { frames_asked++; return frame(f); };"""})
try:
    screen(driver, 1280, 900, False)
    times()
    metric_by_mouse()
    faces_by_all()
    race()
    reduced_motion()
    screen(driver, 1280, 900, True)
    metric_by_keys()
    shot("12-dark")
    for dark in (False, True):
        screen(driver, 390, 844, dark)
        metric_by_touch()
        faces_by_touch()
    screen(driver, 1280, 900, False, script=False)
    driver.get("about:blank")
    driver.get(page.as_uri())
    assert driver.find_element(By.CLASS_NAME, "algorithm").is_displayed(), "without script the algorithm is not there"
    shot("13-without-script")
finally:
    log.write_text(json.dumps(calls))
    driver.quit()
