# SPDX-License-Identifier: MIT
"""HTTP downloads with a checksum: files are there whole and right, or not at all."""
import hashlib
import http.client
import os
import urllib.parse

from stage import ConfigError, StageError

TIMEOUT_S = 30


class Server:
    """One kept-alive connection to the server that `fetch.url` names."""

    def __init__(self, url):
        self.url = url.rstrip("/")
        parts = urllib.parse.urlsplit(self.url)
        try:
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"fetch.url is \"{url}\": {error}") from error
        if parts.scheme != "http" or not parts.hostname:
            raise ConfigError(f"fetch.url is \"{url}\"; expected http://HOST:PORT")
        self.base = parts.path
        self.connection = http.client.HTTPConnection(parts.hostname, port, timeout=TIMEOUT_S)

    def get(self, name):
        """The bytes of one file."""
        try:
            self.connection.request("GET", f"{self.base}/{urllib.parse.quote(name)}")
            response = self.connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise StageError(f"cannot fetch {self.url}/{name}: {error or type(error).__name__}; "
                             "is the server running? (run-pipeline --serve starts it)") from error
        if response.status != 200:
            raise StageError(f"cannot fetch {self.url}/{name}: the server says {response.status} {response.reason}")
        return body

    def fetch(self, name, path, sha256):
        """Get a file, compare its checksum, put it in place; returns its size in bytes."""
        body = self.get(name)
        actual = hashlib.sha256(body).hexdigest()
        if actual != sha256:
            raise StageError(f"{self.url}/{name} is damaged: its SHA-256 is {actual}, expected {sha256}")
        partial = path + ".partial"
        with open(partial, "wb") as file:
            file.write(body)
        os.replace(partial, path)
        return len(body)


def has_checksum(path, sha256):
    """Is there a file of just this content?"""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest() == sha256
    except FileNotFoundError:
        return False
