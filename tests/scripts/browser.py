"""A real Chromium without a screen, for tests of pages."""

import shutil
from contextlib import contextmanager

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
    from base64 import b64decode

    shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
    return b64decode(shot["data"])
