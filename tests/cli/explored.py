"""explored.py: how tests start `lathe explore` and read what it has written."""
import json
import re
import subprocess


def page_data(path):
    """The data of a page that needs no server."""
    with open(path, encoding="utf-8") as f:
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', f.read(), re.S)[1])


class Server:
    """A server for a `with`; .address is what it has printed."""

    def __init__(self, *command):
        self.process = subprocess.Popen([*command], stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/", self.address)
        self.port, self.token = int(found[1]), found[2]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.status = self.process.wait()
        self.process.stdout.close()
