"""What scripts/site-test does in the browser: python3 site_test.py COPY SCREENSHOTS. COPY has the folders site and html."""

import json
import pathlib
import sys

from selenium.webdriver.common.by import By

from in_browser import browser, complaints, luminance, move_slider, overflow, screen, sliders

copy, shots = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
failures = []


def check(ok, what):
    if not ok:
        failures.append(what)
        print("FAILED:", what)


def requests(driver):
    """The addresses asked for since the last call, but for what a page holds itself."""
    sent = (json.loads(e["message"])["message"] for e in driver.get_log("performance"))
    urls = {m["params"]["request"]["url"] for m in sent if m["method"] == "Network.requestWillBeSent"}
    return {u for u in urls if not u.startswith(("data:", "blob:"))}


def load(driver, path):
    """Opens a page with all of its pictures. Without a network a request would fail, and be seen."""
    requests(driver)
    driver.get(path.as_uri())
    driver.execute_script("document.querySelectorAll('details').forEach(d => d.open = true); document.querySelectorAll('img').forEach(i => i.loading = 'eager')")
    driver.execute_async_script("const done = arguments[0]; Promise.all(Array.from(document.images, i => i.decode().catch(() => 0))).then(done)")
    name = path.relative_to(copy)
    broken = driver.execute_script("return Array.from(document.images).filter(i => !i.naturalWidth).map(i => i.alt)")
    check(not broken, f"{name}: images are not drawn: {broken}")
    for said in complaints(driver):
        check(False, f"{name}: console: {said}")
    return name, requests(driver)


def notebook(driver, path):
    """One file, which asks for nothing else; its formulas are drawn, its images have words, its sliders move."""
    name, asked = load(driver, path)
    check(asked == {path.as_uri()}, f"{name} asks for {sorted(asked)}")
    flat = driver.execute_script("return Array.from(document.querySelectorAll('math')).filter(m => m.checkVisibility() && m.getBoundingClientRect().height < 4).map(m => m.outerHTML)")
    check(not flat, f"{name}: formulas are not drawn: {flat[:3]}")
    raw = driver.execute_script("""
        const code = Array.from(document.querySelectorAll('pre, code')), all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), bad = [];
        while (all.nextNode()) {
          const n = all.currentNode;
          if (/\\\\[A-Za-z]|\\$/.test(n.data) && !n.parentElement.closest('pre, code, script, style')) { bad.push(n.data.trim()); }
        }
        return bad;""")
    check(not raw, f"{name}: raw commands are shown: {raw[:3]}")
    mute = driver.execute_script("return Array.from(document.images).filter(i => !i.alt).length")
    check(mute == 0, f"{name}: {mute} images have no words")
    found = sliders(driver)
    for i, s in enumerate(found):
        move_slider(driver, s, f"{name}, slider {i + 1}")
    return driver.execute_script("return document.querySelectorAll('math').length"), len(found)


def narrow(driver, path):
    name, asked = load(driver, path)
    check(all(u.startswith(copy.as_uri()) for u in asked), f"{name} asks for {sorted(asked)}")
    check(not overflow(driver), f"{name}: {overflow(driver)} px wider than a phone")


def main():
    driver = browser(log_requests=True)
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0})
        screen(driver, 1280, 1000, False)
        formulas = moved = 0
        exported = sorted((copy / "html").glob("*.html"))
        check(len(exported) >= 7, f"{len(exported)} notebooks are exported")
        for path in exported:
            n, k = notebook(driver, path)
            formulas, moved = formulas + n, moved + k
        check(formulas > 1000 and moved >= 7, f"{formulas} formulas, {moved} sliders")

        # By links, as a reader goes.
        site = copy / "site"
        load(driver, site / "index.html")
        for text in ["Learners", "pola", "Lesson"]:
            link = driver.find_element(By.PARTIAL_LINK_TEXT, "POLA: learning") if text == "Lesson" else driver.find_element(By.LINK_TEXT, text)
            driver.get(link.get_attribute("href"))
        check("/notebooks/" in driver.current_url, f"the lesson of pola is {driver.current_url}")
        driver.get(driver.find_element(By.LINK_TEXT, "pola").get_attribute("href"))
        check(driver.current_url.endswith("docs/learners.html#pola"), f"a lesson leads back to {driver.current_url}")

        for width, height, dark in [(1280, 1000, False), (1280, 1000, True), (390, 844, False), (390, 844, True)]:
            screen(driver, width, height, dark)
            load(driver, site / "index.html")
            check((luminance(driver, "body", "backgroundColor") < 60) == dark, f"dark is {dark}, and the page is not")
            driver.save_screenshot(str(shots / f"{width}-{'dark' if dark else 'light'}.png"))
        pages = ["index.html", "notebooks/index.html", "results/index.html", "results/README.html", "examples/index.html", "examples/pairs.html", "README.html"]
        pages += [str(p.relative_to(site)) for kind in ["notebooks/*.html", "docs/*.html", "docs/guides/*.html", "results/*/README.html"] for p in site.glob(kind)]
        pages += ["results/pola2004/fig3/README.html", "results/pola2004/fig3/claims.html"]
        for p in sorted(set(pages)):
            narrow(driver, site / p)
        print(f"{len(exported)} exported notebooks: {formulas} formulas, {moved} sliders; {len(set(pages))} pages of the site on a phone")
    finally:
        driver.quit()
    if failures:
        sys.exit(f"{len(failures)} failed; screenshots are in {shots}")


main()
