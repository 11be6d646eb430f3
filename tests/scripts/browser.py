"""A real Chromium without a screen, for tests of pages."""

import re
import shutil
from base64 import b64decode
from contextlib import contextmanager
from io import BytesIO

import numpy as np
import pytest

CHROMIUM, DRIVER = (next(filter(None, map(shutil.which, names)), None)
                    for names in (("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)))
SWITCHES = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
            "--host-resolver-rules=MAP * ~NOTFOUND", "--force-device-scale-factor=1", "--hide-scrollbars")


def missing():
    """Return the missing requirements of the browser, empty if all are there."""
    names = [name for name, path in (("chromium", CHROMIUM), ("chromium-driver", DRIVER)) if path is None]
    try:
        import selenium  # noqa: F401
    except ImportError:
        names.append("selenium (pip)")
    return ", ".join(names)


def needs_browser(test):
    """Mark a test or a class of tests that needs a browser."""
    reason = f"no browser: {missing()} missing; apt-get install chromium chromium-driver"
    return pytest.mark.browser(pytest.mark.skipif(bool(missing()), reason=reason)(test))


@contextmanager
def browser(profile):
    """Yield a Chromium with a new profile and without network access, until the end of the block."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for switch in (*SWITCHES, f"--user-data-dir={profile}"):
        options.add_argument(switch)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def window(driver, width, height, scheme="light"):
    """Set the size of the page in CSS pixels and the reader's preference for dark colours."""
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                           {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def screenshot(driver):
    """Return the whole page as PNG, of any length."""
    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
    return b64decode(shot["data"])


def drawn(driver):
    """Wait for the next picture."""
    driver.execute_async_script("const done = arguments[0];"
                                "requestAnimationFrame(() => requestAnimationFrame(() => done()))")


def choose(driver, name, value):
    """Act as a reader: click into the field, replace its text, leave it."""
    from selenium.webdriver.common.keys import Keys

    field = driver.find_element("id", name)
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys(str(value), Keys.TAB)
    drawn(driver)


def unfold(driver):
    """Open every folded part of the page."""
    driver.execute_script("document.querySelectorAll('details').forEach((part) => { part.open = true; })")


def canvas_picture(driver, name="torus"):
    """Return the visible picture of a torus."""
    from PIL import Image

    x, y, width, height = driver.execute_script(
        "const b = document.getElementById(arguments[0]).getBoundingClientRect();"
        "return [b.x + scrollX, b.y + scrollY, b.width, b.height]", name)
    picture = Image.open(BytesIO(screenshot(driver))).convert("RGB")
    return picture.crop([round(v) for v in (x, y, x + width, y + height)])


def choose_option(driver, name, value):
    driver.execute_script("const f = document.getElementById(arguments[0]); f.value = arguments[1];"
                          "f.dispatchEvent(new Event('change'))", name, value)
    drawn(driver)


def pixels_of(driver, colour, name="torus"):
    """Count the pixels of the picture with a colour."""
    return int((np.asarray(canvas_picture(driver, name)) == colour).all(axis=-1).sum())


def contrast(driver, *selectors):
    """Return the least contrast of the text of elements to the page, by the rule of WCAG 2."""
    if len(selectors) > 1:
        return min(contrast(driver, each) for each in selectors)
    selector, = selectors
    colours = driver.execute_script("return [getComputedStyle(document.querySelector(arguments[0])).color,"
                                    "getComputedStyle(document.body).backgroundColor]", selector)
    return ratio(*([int(v) for v in re.findall(r"\d+", c)[:3]] for c in colours))


def ratio(*colours):
    light, dark = sorted(map(luminance, colours), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(rgb):
    linear = [(v / 255 / 12.92 if v / 255 <= 0.04045 else ((v / 255 + 0.055) / 1.055) ** 2.4) for v in rgb]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
