"""What the tests in a browser share: Chromium without a window, servers, and waiting."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

PATIENCE = 90  # seconds until what is waited for counts as a failure; a busy machine needs some


def browser(log_requests=False):
    options = webdriver.ChromeOptions()
    for flag in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,1000"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", **({"performance": "ALL"} if log_requests else {})})
    options.binary_location = shutil.which("chromium")
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def wait(what, condition, seconds=PATIENCE):
    """Waits until the condition returns something true, and returns that."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.1)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def serve(command, url, folder, **environment):
    """Starts a server in a folder, waits until url answers, and ends the server and its children."""
    with tempfile.TemporaryFile() as log:
        server = subprocess.Popen(command, cwd=folder, env={**os.environ, **environment}, stdout=log, stderr=log, start_new_session=True)
        try:
            def answers():
                if server.poll() is not None:
                    log.seek(0)
                    raise AssertionError(f"{command[0]} ended:\n" + log.read().decode(errors="replace")[-3000:])
                with contextlib.suppress(OSError):
                    return urllib.request.urlopen(url, timeout=5).status == 200
            wait(f"an answer from {url}", answers)
            yield
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, 15)
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, 9)


def screen(driver, width, height, dark, script=True):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not script})


def luminance(driver, selector, what):
    """The brightness of a colour, 0 to 255."""
    colour = driver.execute_script("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, what)
    r, g, b = (float(x) for x in re.findall(r"[\d.]+", colour)[:3])
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def complaints(driver):
    """What the console says that is wrong."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def overflow(driver):
    """By how many pixels the page is wider than the screen."""
    wide, inner = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    return max(0, wide - inner)


def move_slider(driver, root, name):
    """Moves a slider by keyboard and by mouse: its figure and its text must follow."""
    slider = root.find_element(By.CSS_SELECTOR, "input[type=range]")
    if not slider.is_displayed():
        raise AssertionError(f"{name}: the slider is hidden")
    image, text = root.find_element(By.TAG_NAME, "img"), root.find_element(By.TAG_NAME, "output")
    driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", root)
    seen = {(image.get_attribute("src"), text.text)}
    first = len(seen)
    slider.send_keys(Keys.ARROW_RIGHT)
    seen.add((image.get_attribute("src"), text.text))
    slider.send_keys(Keys.HOME)
    seen.add((image.get_attribute("src"), text.text))
    if len(seen) < first + 2:
        raise AssertionError(f"{name}: {len(seen)} figures with 2 keys")
    ActionChains(driver).move_to_element_with_offset(slider, slider.size["width"] // 2 - 4, 0).click().perform()
    if (image.get_attribute("src"), text.text) in seen:
        raise AssertionError(f"{name}: a click moves nothing")
    wait(f"{name}: the figure", lambda: driver.execute_script("return arguments[0].naturalWidth > 0", image))


def sliders(driver):
    return [e.find_element(By.XPATH, "./ancestor::div[starts-with(@id, 'slider_')]") for e in driver.find_elements(By.CSS_SELECTOR, "div[id^=slider_] input[type=range]")]
